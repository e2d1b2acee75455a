"""What is the user's mistake, and how it is told: one line each, exit code 2, no traceback."""

from typing import Any

import typer

from monitor.mistakes import Mistake


class UserError(Mistake):
    """An argument that cannot be; the message is one line that says what to do."""


UsageError: Any = typer.BadParameter.__base__
"""An option or command that is not there, or an argument of the wrong type. typer does not export it."""


def in_one_line(error: Any) -> str:
    """What a usage error says, and where the help is."""
    message = " ".join(error.format_message().split()).rstrip(".")
    command = error.ctx.command_path if error.ctx else "ranking-monitor"
    return f"{message}; see '{command} --help'"
