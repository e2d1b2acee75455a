"""Cuts: what scrapes have shown, what the next one shows, and what waits behind it.

A count that Prometheus has seen must not be counted again after a restart, and one that it has not seen must
be. So what a scrape shows is fixed, and committed to Kafka once the scrape is known to have arrived:

    staged, in each task  --freeze-->  next  --confirm-->  cut  --show-->  shown  --confirm-->  committed

When a scrape begins it freezes what was counted. The series of that are shown at 0 with it, and with their
values one scrape later, so that no increase is missed. A lost task takes along what no scrape has shown.
"""

from collections.abc import Callable, Iterator
from itertools import chain

from monitor.stream.checkpoint import Checkpoint
from monitor.stream.progress import Part
from monitor.stream.records import TopicPartition
from monitor.stream.tally import Tally

Parts = dict[int | None, Part]
"""What each task brought; None for what belongs to no task: judgments of a topic of their own."""


class Cuts:
    """The counting of all tasks on its way to Prometheus."""

    def __init__(self, new_tally: Callable[[], Tally]) -> None:
        self.version = 0
        """Changes with what a scrape has to show."""
        self.label_sets = 0
        """How many of them the next scrape shows."""
        self.shown_of: dict[int | None, Checkpoint] = {}
        """How far each task was shown by this process, also of those that it has lost since."""
        self._shown = new_tally()
        self._cut: Parts = {}
        self._next: Parts | None = None
        self._unconfirmed: Parts | None = None
        """The cut that a scrape has shown; None while that is still to come."""

    @property
    def frozen(self) -> bool:
        return self._next is not None

    @property
    def is_shown(self) -> bool:
        """Whether a scrape has shown the cut; it shows the same until that is confirmed."""
        return self._unconfirmed is not None

    def freeze(self, staged: Parts, label_sets: int) -> None:
        """A scrape begins: what comes from now on waits for the next but one."""
        assert self._next is None
        self._next = staged
        self.label_sets = label_sets

    def to_show(self, *, shown_only: bool) -> list[Tally]:
        """What a scrape has to show, or what earlier ones have shown, to be added up."""
        return [self._shown, *(part.tally for part in self._cut.values() if not shown_only)]

    def tallies(self) -> Iterator[Tally]:
        """Everything that was handed over, shown or not."""
        yield self._shown
        for part in chain(self._cut.values(), (self._next or {}).values()):
            yield part.tally

    def show(self) -> None:
        """The first byte of the cut is about to leave: from now on it cannot be taken back."""
        assert self._unconfirmed is None
        self.publish(self._cut)
        self._unconfirmed, self._cut = self._cut, {}

    def publish(self, parts: Parts) -> None:
        """Add to what is shown."""
        for task, part in parts.items():
            self._shown.merge(part.tally)
            if part.checkpoint is not None:
                self.shown_of[task] = part.checkpoint

    def commits(self) -> dict[TopicPartition, tuple[int, str]]:
        """What is to be committed before the next cut can be shown."""
        return {tp: at for part in (self._unconfirmed or {}).values() for tp, at in part.commits.items()}

    def confirm(self) -> None:
        """The cut was shown and committed: on to the next."""
        self._cut, self._next, self._unconfirmed = self._next or {}, None, None
        self.version += 1

    def drop(self, task: int) -> None:
        """A task is lost: whoever has it now counts again what no scrape has shown."""
        for parts in (self._next, self._unconfirmed):
            if parts is not None:
                parts.pop(task, None)
        if self._cut.pop(task, None) is not None:
            self.version += 1
