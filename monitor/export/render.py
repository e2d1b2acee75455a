"""The text that a scrape gets, in the format that it asks for."""

import re

from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector
from prometheus_client.exposition import choose_encoder

from monitor.export.beginnings import Beginnings
from monitor.export.collector import ProcessStatus, SnapshotCollector
from monitor.export.text import Format, format_of, write
from monitor.stream.snapshot import Snapshot

VERSION = re.compile(r";\s*version=(?!\d{1,9}(\.\d{1,9}){0,3}\s*(;|$))")


class Exposition:
    """Renders the snapshots of one engine, with what prometheus_client knows of the process itself."""

    def __init__(self) -> None:
        self._process = CollectorRegistry()
        ProcessCollector(registry=self._process)
        PlatformCollector(registry=self._process)
        GCCollector(registry=self._process)
        self._beginnings: dict[str, Beginnings] = {}
        """By how names are escaped."""

    def render(
        self, snapshot: Snapshot, status: ProcessStatus, accept: str = "", counted: bytes | None = None
    ) -> tuple[bytes, str]:
        """The body and its content type: text 0.0.4 unless the Accept header prefers another format.

        What was counted may have been rendered before, in the same format.
        """
        encode, content_type = choose_encoder(_sane(accept))
        if counted is None:
            counted = self.counted(snapshot, accept)
        form = format_of(content_type)
        momentary = write(self._collector(snapshot, form).momentary(status), form)
        return b"".join((counted, momentary.encode(), encode(self._process))), content_type

    def content_type(self, accept: str) -> str:
        """The content type that an Accept header gets: one of a few."""
        return choose_encoder(_sane(accept))[1]

    def format(self, accept: str) -> Format:
        """The format that an Accept header gets."""
        return format_of(self.content_type(accept))

    def counted(self, snapshot: Snapshot, accept: str) -> bytes:
        """The part of the body that is published by cuts."""
        form = self.format(accept)
        return write(self._collector(snapshot, form).counted(), form).encode()

    def _collector(self, snapshot: Snapshot, form: Format) -> SnapshotCollector:
        new = Beginnings(snapshot.label_names, form.escaping)
        return SnapshotCollector(snapshot, self._beginnings.setdefault(form.escaping, new))


def _sane(accept: str) -> str:
    """Take out what prometheus_client would stumble over: a version that is not numbers.

    >>> _sane("application/openmetrics-text; version=x, text/plain;version=0.0.4;q=0.5")
    ' text/plain;version=0.0.4;q=0.5'
    """
    return ",".join(part for part in accept.split(",") if not VERSION.search(part))
