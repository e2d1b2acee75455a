"""What is not there yet but may come, and saying so without flooding the log."""

import logging
import time
from collections.abc import Callable

log = logging.getLogger(__name__)


class Waiting(Exception):  # noqa: N818 - a state, not an error
    """Something is missing that can still come; the message says what, in one line for the user."""

    def __init__(self, what: str, cause: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.cause = cause
        """What came instead; for the log."""


class Notices:
    """Logs each kind of trouble when it begins, then at most every 30 seconds."""

    def __init__(self, every_seconds: float = 30.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._every = every_seconds
        self._clock = clock
        self._last: dict[str, tuple[float, str]] = {}

    def say(self, kind: str, message: str) -> None:
        """Log a message unless one of its kind was logged shortly before."""
        now = self._clock()
        if kind not in self._last or now - self._last[kind][0] >= self._every:
            self._last[kind] = (now, message)
            log.warning("%s", message)

    def over(self, kind: str, message: str) -> None:
        """Log that a trouble has passed, if it was ever logged."""
        if self._last.pop(kind, None):
            log.info("%s", message)
