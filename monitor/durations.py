"""Durations in words, the same in labels, config errors and on the page."""

import re

UNITS = {"w": 604800, "d": 86400, "h": 3600, "m": 60, "s": 1}


def in_seconds(text: str) -> int | None:
    """Seconds from a duration as Prometheus writes it; None if it is not one.

    >>> [in_seconds(text) for text in ("90s", "1h30m", "7d", "soon")]
    [90, 5400, 604800, None]
    """
    if not re.fullmatch(r"([0-9]{1,12}[wdhms])+", text):
        return None
    return sum(int(count) * UNITS[unit] for count, unit in re.findall(r"(\d+)([wdhms])", text))


def in_words(seconds: float) -> str:
    """Shortest exact form: the value of the labels `maturity` and `window`.

    >>> [in_words(s) for s in (0, 60, 90, 3600, 86400, 0.5)]
    ['0s', '1m', '90s', '1h', '1d', '0.5s']
    """
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"
