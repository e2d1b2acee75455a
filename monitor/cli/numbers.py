"""Numbers on the command line that are checked alike."""

import math

from monitor.cli.errors import UserError


def at_least_zero(**options: float | None) -> None:
    """Refuse negative, infinite and undefined values; each has the name of its option."""
    for name, value in options.items():
        if value is not None and not 0 <= value < math.inf:
            raise UserError(f"--{name.replace('_', '-')}: {value:g} is not allowed; give 0 or more")
