"""Words that came from a file, made fit to be shown in one line of a terminal."""


def visible(words: str) -> str:
    r"""Put a mark in place of each character that is not printed: it could command a terminal.

    >>> visible("red \x1b[31m")
    'red �[31m'
    """
    if words.isprintable():
        return words
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in words)
