"""How to reach the brokers: addresses, TLS and SASL, and what a refusal means."""

import logging
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiokafka import errors
from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.conn import collect_hosts, create_conn

from monitor.config import KafkaConfig, SecurityConfig
from monitor.sources.base import SourceError
from monitor.sources.kafka.waiting import Waiting

Settings = dict[str, Any]

CLIENT_ID = "ranking-monitor"
PROBE_MS = 5_000
PASSING = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)
"""TLS errors of a broker that goes down, not of one that refuses."""


def client_id(listen: tuple[str, int]) -> str:
    """A name that only the process has that listens at this address of this machine; "" where any port does.

    Whoever has it too was here before and is gone, since two processes cannot listen at one address.
    """
    host, port = listen
    name = f"{CLIENT_ID}-{socket.gethostname()}-{host}-{port}"
    return re.sub(r"[^A-Za-z0-9._-]", "_", name) if port else ""


def settings(config: KafkaConfig, own_client_id: str = "") -> Settings:
    """Keyword arguments that every aiokafka client takes."""
    return {
        "bootstrap_servers": [server.strip() for server in config.bootstrap_servers.split(",")],
        "client_id": own_client_id or CLIENT_ID,
        # Longer than the group's rebalance timeout, or a slow rebalance looks like a dead broker.
        "request_timeout_ms": 35_000,
        "retry_backoff_ms": 250,
        # New partitions are noticed within this time.
        "metadata_max_age_ms": 30_000,
        **_security(config.security),
    }


def _security(security: SecurityConfig) -> Settings:
    protocol = ("SASL_" if security.mechanism else "") + ("SSL" if security.encrypted else "PLAINTEXT")
    chosen: Settings = {"security_protocol": protocol}
    if security.encrypted:
        chosen["ssl_context"] = _tls(security)
    if security.mechanism and security.password_file:
        chosen["sasl_mechanism"] = security.mechanism
        chosen["sasl_plain_username"] = security.username
        chosen["sasl_plain_password"] = _secret(security.password_file)
    return chosen


def _tls(security: SecurityConfig) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=security.ca_file)
    except (OSError, ValueError) as error:
        raise SourceError(f"{security.ca_file}: not a PEM certificate: {_reason(error)}") from None
    if security.certificate_file and security.key_file:
        # Given even when empty: without a password OpenSSL would ask for one on the terminal.
        password = _secret(security.key_password_file) if security.key_password_file else ""
        try:
            context.load_cert_chain(security.certificate_file, security.key_file, password)
        except (OSError, ValueError) as error:
            raise SourceError(
                f"{security.certificate_file} and {security.key_file}: not a PEM certificate and its key:"
                f" {_reason(error)}"
            ) from None
    return context


def _secret(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path}: cannot be read: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)


async def probe(chosen: Settings) -> None:
    """Connect to one bootstrap server and hang up, for aiokafka's own bootstrap hides why it failed."""
    servers = chosen["bootstrap_servers"]
    options = connecting(chosen)
    try:
        hosts = collect_hosts(servers, randomize=False)
    except ValueError:
        raise SourceError(f"kafka.bootstrap_servers: not host:port: {', '.join(servers)}") from None
    causes = []
    for host, port, _ in hosts:
        try:
            connection = await create_conn(host, port, request_timeout_ms=PROBE_MS, **options)
        except (OSError, TimeoutError, errors.KafkaError) as error:
            if why := refusal(error):
                raise SourceError(f"{host}:{port}: {why}") from None
            causes.append((str(error) or type(error).__name__) + _hint(error, options))
        else:
            await connection.close()
            return
    raise no_broker(", ".join(servers), causes[-1])


def connecting(chosen: Settings) -> Settings:
    """What a single connection takes of the settings."""
    passed_on = ("client_id", "security_protocol", "ssl_context")
    return {key: chosen[key] for key in chosen if key in passed_on or key.startswith("sasl_")}


def _hint(error: BaseException, options: Settings) -> str:
    """A broker without TLS hangs up, or waits for more, as one does that is on its way down."""
    if "ssl_context" not in options or any(isinstance(e, ConnectionRefusedError) for e in _causes(error)):
        return ""
    return "; kafka.security asks for TLS, which this port may not speak"


def no_broker(servers: str, cause: str) -> Waiting:
    """What to wait for when no broker answers."""
    return Waiting(
        f"waiting for broker {servers}",
        f"{cause}; is it running, and are kafka.bootstrap_servers and kafka.security right?",
    )


def refusal(error: BaseException) -> str | None:
    """Say why waiting will not help, in words for the user; None where it may."""
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError():
                return (
                    f"TLS verification failed: {cause.verify_message}; check kafka.security.ca_file"
                    " and that the certificate names this host"
                )
            case ssl.SSLError() if not isinstance(cause, PASSING):
                return f"TLS refused: {_reason(cause)}; check kafka.security and the port"
            case errors.UnsupportedSaslMechanismError() | errors.IllegalSaslStateError():
                return "the broker does not offer this SASL mechanism; check kafka.security.mechanism"
            case errors.SaslAuthenticationFailed() | errors.AuthenticationFailedError():
                return "authentication refused; check kafka.security.username and password_file"
            case errors.TopicAuthorizationFailedError():
                return (
                    f"not authorised for topic {_subject(cause)}: allow Describe and Read (docs/producing.md)"
                )
            case errors.GroupAuthorizationFailedError():
                return f"not authorised for group {_subject(cause)}: allow Read (docs/producing.md)"
            case errors.InconsistentGroupProtocolError():
                return (
                    "the group's other members use another assignor; give this monitor a group_id of its own"
                )
    return None


def _subject(error: BaseException) -> str:
    named = error.args[0] if error.args else ""
    return ", ".join(sorted(named)) if isinstance(named, set) else str(named)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


@asynccontextmanager
async def admin_client(chosen: Settings) -> AsyncIterator[AIOKafkaAdminClient]:
    """Give an admin client for a few questions; one kept open would only be one more thing to go stale."""
    client = AIOKafkaAdminClient(**chosen)
    try:
        await client.start()
        yield client
    finally:
        await client.close()


def quiet_aiokafka() -> None:
    """Silence aiokafka: in an outage it logs errors many times a second; this package says it once."""
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
