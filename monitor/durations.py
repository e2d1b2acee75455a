"""Durations in words, the same in labels, config errors and on the page."""


def in_words(seconds: float) -> str:
    """Shortest exact form: the value of the labels `maturity` and `window`.

    >>> [in_words(s) for s in (0, 60, 90, 3600, 86400, 0.5)]
    ['0s', '1m', '90s', '1h', '1d', '0.5s']
    """
    for size, unit in ((86400, "d"), (3600, "h"), (60, "m")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g}{unit}"
    return f"{seconds:g}s"
