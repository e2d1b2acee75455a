"""The text that a scrape gets, in the format that it asks for."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from prometheus_client import CollectorRegistry, GCCollector, Metric, PlatformCollector, ProcessCollector
from prometheus_client.exposition import choose_encoder

from monitor.export.collector import ProcessStatus, SnapshotCollector
from monitor.stream.snapshot import Snapshot

VERSION = re.compile(r";\s*version=(?!\d+(\.\d+)*\s*(;|$))")


END_OF_OPENMETRICS = b"# EOF\n"


class Exposition:
    """Renders snapshots, together with what prometheus_client knows of the process itself."""

    def __init__(self) -> None:
        self._process = CollectorRegistry()
        ProcessCollector(registry=self._process)
        PlatformCollector(registry=self._process)
        GCCollector(registry=self._process)

    def render(
        self, snapshot: Snapshot, status: ProcessStatus, accept: str = "", counted: bytes | None = None
    ) -> tuple[bytes, str]:
        """The body and its content type: text 0.0.4 unless the Accept header prefers another format.

        What was counted may have been rendered before, in the same format.
        """
        encode, content_type = choose_encoder(_sane(accept))
        collector = SnapshotCollector(snapshot, status)
        if counted is None:
            counted = self.counted(snapshot, accept)
        return counted + encode(Collected(collector.momentary(), self._process.collect())), content_type

    def format(self, accept: str) -> str:
        """The content type that an Accept header gets."""
        return choose_encoder(_sane(accept))[1]

    def counted(self, snapshot: Snapshot, accept: str) -> bytes:
        """The part of the body that is published by cuts."""
        encode, _ = choose_encoder(_sane(accept))
        collector = SnapshotCollector(snapshot, ProcessStatus("", ""))
        body: bytes = encode(Collected(collector.counted()))
        return body.removesuffix(END_OF_OPENMETRICS)


class Collected:
    """Families that are already there, as the encoders of prometheus_client want them.

    A registry keeps its collectors, and there is a new snapshot at every scrape.
    """

    def __init__(self, *parts: Iterable[Metric]) -> None:
        self._parts = parts

    def collect(self) -> Iterator[Metric]:
        return chain.from_iterable(self._parts)


def _sane(accept: str) -> str:
    """Take out what prometheus_client would stumble over: a version that is not numbers.

    >>> _sane("application/openmetrics-text; version=x, text/plain;version=0.0.4;q=0.5")
    ' text/plain;version=0.0.4;q=0.5'
    """
    return ",".join(part for part in accept.split(",") if not VERSION.search(part))
