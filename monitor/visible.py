"""Words that came from a file, made fit to be shown in one line of a terminal."""

LONGEST_SHOWN = 60
LONGEST_LINE = 500


def visible(words: str) -> str:
    r"""Put a mark in place of each character that is not printed: it could command a terminal.

    >>> visible("red \x1b[31m")
    'red �[31m'
    """
    if words.isprintable():
        return words
    return "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in words)


def short(words: str) -> str:
    """Cut what is too long for a message.

    >>> short("9" * 5000)
    '99999999999999999999999999999999999999999999999999999999999…'
    """
    return words if len(words) <= LONGEST_SHOWN else words[: LONGEST_SHOWN - 1] + "…"


def one_line(message: str) -> str:
    r"""Make one line of a message, whatever a user's value has brought into it.

    >>> one_line("listen: not a\nb")
    'listen: not a\ufffdb'
    """
    return visible(message if len(message) <= LONGEST_LINE else message[: LONGEST_LINE - 1] + "…")


def is_text(words: str) -> bool:
    """Whether it has characters only: half of a surrogate pair stands for a byte that is no UTF-8."""
    try:
        words.encode()
    except UnicodeEncodeError:
        return False
    return True
