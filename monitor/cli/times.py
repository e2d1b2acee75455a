"""Times on the command line."""

from datetime import datetime

from monitor.cli.errors import UserError


def instant(option: str, text: str, allowed: str = "a time such as 2026-01-31T12:00:00Z") -> float:
    """Seconds since the epoch from an RFC 3339 time; refuse what has no offset."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        found = datetime.min  # noqa: DTZ901 (stands for: not a time)
    if found.tzinfo is None:
        raise UserError(f'{option}: "{text}" is not a time with an offset; give {allowed}')
    return found.timestamp()
