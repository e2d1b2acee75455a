"""The exact bytes of a scrape; after an intended change write them anew with UPDATE_GOLDEN=1."""

import os
import platform
from pathlib import Path

import pytest
from prometheus_client.exposition import choose_encoder

from monitor.export.collector import ProcessStatus, SnapshotCollector
from tests.unit.export.snapshots import busy_snapshot

FOLDER = Path(__file__).parent
STATUS = ProcessStatus(
    "1.2.3",
    "c0ffee",
    ready=True,
    lag={("search-events", 0): 12},
    skipped={("search-events", 0): 3},
    stalls=2,
    stall_seconds=0.75,
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
    encode, _ = choose_encoder(accept)
    body = encode(SnapshotCollector(busy_snapshot(), STATUS))
    if os.environ.get("UPDATE_GOLDEN"):
        (FOLDER / file).write_bytes(body)
    assert body.decode() == (FOLDER / file).read_bytes().decode()
