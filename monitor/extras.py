"""Libraries of the `eval` extra: imported when they are used, and named when they are missing."""

import importlib
from typing import Any

from monitor.mistakes import Mistake


class MissingExtra(Mistake):
    """A library that the core install does not bring; the message is one line that says how to get it."""


def need(module: str, user: str) -> Any:
    """Import a module of the `eval` extra for what needs it, a command or a function.

    >>> need("math", "compare").pi
    3.141592653589793
    >>> need("no_such_library.stats", "compare")
    Traceback (most recent call last):
    monitor.extras.MissingExtra: compare needs no_such_library: pip install "ranking-monitor[eval]"
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        library = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] != library:
            raise
        raise MissingExtra(f'{user} needs {library}: pip install "ranking-monitor[eval]"') from None
