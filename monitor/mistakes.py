"""What a user can get wrong: told in one line that says what to do, never with a traceback."""


class Mistake(Exception):  # noqa: N818 - it is not the program's error
    """A file, a setting or an argument that cannot be used; the message is one line for the user."""
