"""The exact bytes of a scrape; after an intended change write them anew with UPDATE_GOLDEN=1."""

import os
import platform
from pathlib import Path

import pytest

from monitor.export.beginnings import Beginnings
from monitor.export.collector import ProcessStatus, SnapshotCollector
from monitor.export.render import Exposition
from monitor.export.text import END_OF_OPENMETRICS, write
from tests.unit.export.snapshots import SMALL, busy_snapshot

FOLDER = Path(__file__).parent
STATUS = ProcessStatus(
    "1.2.3",
    "c0ffee",
    ready=True,
    lag={("search-events", 0): 12},
    skipped={("search-events", 0): 3},
    stalls=2,
    stall_seconds=0.75,
    log_dropped=5,
)


@pytest.mark.parametrize(
    ("accept", "file"),
    [("text/plain", "exposition.txt"), ("application/openmetrics-text", "exposition.openmetrics.txt")],
    ids=["text", "openmetrics"],
)
def test_a_snapshot_becomes_exactly_these_bytes(
    accept: str, file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(platform, "python_version", lambda: "3.11.0")
    form = Exposition().format(accept)
    collector = SnapshotCollector(busy_snapshot(), Beginnings(SMALL.labels))
    text = write([*collector.counted(), *collector.momentary(STATUS)], form)
    body = (text + (END_OF_OPENMETRICS if form.openmetrics else "")).encode()
    if os.environ.get("UPDATE_GOLDEN"):
        (FOLDER / file).write_bytes(body)
    assert body.decode() == (FOLDER / file).read_bytes().decode()
