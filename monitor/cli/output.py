"""Where results are written: checked before the work, not after it."""

from pathlib import Path

from monitor.cli.errors import UserError


def writable(path: Path | None) -> None:
    """Refuse a path that cannot be written to."""
    if path is None:
        return
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise UserError(f'cannot write "{path}": {error.strerror}') from None
