"""Turns: a bound on how often something happens, no matter who asks for it."""

import math


class Turns:
    """At most `per_second` turns a second, after a burst of `burst` at once.

    Nobody waits for longer than `longest_seconds`: clients that took turns and hung up must not keep the next
    one out. How many can wait at once is bounded by the connections.

    >>> turns = Turns(per_second=10, burst=2)
    >>> [round(turns.take(now=100.0), 3) for _ in range(4)]
    [0.0, 0.0, 0.1, 0.2]
    >>> turns.take(now=200.0)
    0.0
    >>> [turns.take(now=300.0) for _ in range(1000)][-1]
    2.0
    """

    def __init__(self, *, per_second: float, burst: int, longest_seconds: float = 2.0) -> None:
        self._gap_seconds = 1 / per_second
        self._burst_seconds = (burst - 1) / per_second
        self._longest_seconds = longest_seconds
        self._next = -math.inf
        """When the next turn would come if there were no bursts."""

    def wait(self, now: float) -> float:
        """The seconds until the next turn."""
        return max(0.0, self._next - self._burst_seconds - now)

    def take(self, now: float) -> float:
        """Take the next turn; the seconds until it comes. Turns come in the order in which they are taken."""
        seconds = self.wait(now)
        after = max(self._next, now) + self._gap_seconds
        self._next = min(after, now + self._burst_seconds + self._longest_seconds)
        return seconds
