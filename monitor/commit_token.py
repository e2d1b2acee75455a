"""The token that names the Prometheus whose scrapes count, and who can reach the daemon without one."""

import ipaddress
import re
from pathlib import Path

from pydantic import SecretStr

MOST_BYTES = 4096


def commit_token(given: SecretStr, file: Path | None) -> SecretStr:
    """The token from the key or from the file; messages never have it."""
    if file is None:
        if re.fullmatch(r"\*+", given.get_secret_value()):
            raise ValueError(
                "commit_token: asterisks are what is printed instead of it; give the token itself"
            )
        return given
    if given.get_secret_value():
        raise ValueError("give commit_token or commit_token_file, not both")
    return SecretStr(_read(file))


def _read(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(MOST_BYTES + 1)
    except OSError as error:
        raise ValueError(f'commit_token_file: "{file}" cannot be read: {error.strerror}') from None
    token = content.strip()
    if not token:
        raise ValueError(f'commit_token_file: "{file}" is empty; write a token into it: openssl rand -hex 32')
    if len(content) > MOST_BYTES or not re.fullmatch(rb"[\x21-\x7e]+", token):
        raise ValueError(
            f'commit_token_file: "{file}" must hold one word of at most {MOST_BYTES} ASCII characters:'
            " openssl rand -hex 32"
        )
    return token.decode("ascii")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> [is_loopback(h) for h in ("127.0.0.1", "localhost", "::1", "::ffff:127.0.0.1", "0.0.0.0", "monitor")]
    [True, True, True, True, False, False]
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host.lower() == "localhost"
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback
