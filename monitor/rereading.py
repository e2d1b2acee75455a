"""After a restart or a takeover: how much is left to be read again, and about how long that takes."""

import logging

log = logging.getLogger(__name__)

SAY_SECONDS = 10.0


class Rereading:
    """Follows the number of records that are read again without being counted, and says how it goes."""

    def __init__(self) -> None:
        self._begun: tuple[float, int] | None = None
        self._said_at = 0.0

    def look(self, left: int, now: float) -> None:
        """Take note of how many records are left; `now` is of the monotonic clock."""
        if not left:
            if self._begun:
                seconds = now - self._begun[0]
                log.info("read again %s records in %.1f s: counting goes on", f"{self._begun[1]:,}", seconds)
            self._begun = None
        elif self._begun is None or left > self._begun[1]:
            self._begun, self._said_at = (now, left), now
            log.info("reading again %s records that were counted before, without counting them", f"{left:,}")
        elif now - self._said_at >= SAY_SECONDS:
            self._said_at = now
            log.info("reading again: %s records left, %s", f"{left:,}", self._estimate(left, now))

    def _estimate(self, left: int, now: float) -> str:
        assert self._begun is not None
        since, at_first = self._begun
        done = at_first - left
        return f"about {left * (now - since) / done:.0f} s" if done else "none read yet"
