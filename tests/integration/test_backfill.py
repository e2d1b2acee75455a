"""backfill: a real Prometheus finds in its blocks what a replay counts, at the times when it was decided."""

import gzip
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

from monitor.export.catalogue import DECISION_DELAY, RECORDS
from monitor.simulate.scenarios import SCENARIOS
from monitor.simulate.sinks import write_file
from monitor.simulate.stream import Simulation
from tests.support.programs import program
from tests.support.prometheus import Prometheus, prometheus

pytestmark = pytest.mark.prometheus

HOURS = 3
STEP = 60
LATENESS = 60
Key = tuple[str, frozenset[tuple[str, str]]]


class Backfilled(NamedTuple):
    """Events of the past, what a replay makes of them, and a Prometheus that has their blocks."""

    server: Prometheus
    data: Path
    events: Path
    arguments: list[str]
    said: str
    first: int
    last: int
    replayed: dict[Key, float]


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "monitor.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def backfilled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Backfilled]:
    program("promtool", "prometheus")
    folder = tmp_path_factory.mktemp("backfill")
    # The last impression is settled an hour and a minute after it was shown, and that is 3 hours ago.
    end = time.time() - 5 * 3600
    events, data = folder / "events.jsonl.gz", folder / "prometheus" / "data"
    simulation = Simulation(SCENARIOS["bad-deploy"], seed=7, queries_per_second=1.0, start=end - HOURS * 3600)
    write_file(str(events), takewhile(lambda event: event.ts < end, simulation.events()))
    data.parent.mkdir()
    until = datetime.fromtimestamp(end + 3600 + 240, UTC).isoformat()
    arguments = ["backfill", str(events), "--output", str(data), "--until", until, "--job", "search"]
    done = run(*arguments, "--labels", "region=eu")
    assert (done.returncode, done.stderr) == (0, "")
    times = [(meta["minTime"], meta["maxTime"]) for meta in _metas(data)]
    with prometheus(folder, {}) as server:
        yield Backfilled(
            server=server,
            data=data,
            events=events,
            arguments=arguments,
            said=done.stdout,
            first=min(times)[0] // 1000,
            last=max(times)[1] // 1000,
            replayed=_replayed(events, folder / "metrics.txt"),
        )


def _metas(data: Path) -> list[dict]:
    return [json.loads(path.read_text()) for path in data.glob("*/meta.json")]


def _replayed(events: Path, path: Path) -> dict[Key, float]:
    """Every counter that a replay exports and that is no matter of the process or of its clock."""
    done = run("replay", events, "--metrics-out", path)
    assert done.returncode == 0, done.stderr
    found: dict[Key, float] = {}
    for family in text_string_to_metric_families(path.read_text()):
        if family.type not in {"counter", "histogram"} or not family.name.startswith(("vector", "ranking")):
            continue
        if family.name == DECISION_DELAY.name:
            continue
        for sample in family.samples:
            if not sample.name.endswith("_created"):
                labels = sample.labels
                if sample.name == RECORDS.name:
                    labels = {"topic": "search-events"}
                found[sample.name, frozenset(labels.items())] = sample.value
    # What the process knows of itself; nothing of that is backfilled.
    own = ("ranking_monitor_skipped", "ranking_monitor_loop_stall", "ranking_monitor_log_dropped")
    return {key: value for key, value in found.items() if not key[0].startswith(own)}


def _series(server: Prometheus, expression: str, at: float, name: str = "") -> dict[Key, float]:
    found: dict[Key, float] = {}
    for series in server.query(expression, at):
        labels = dict(series["metric"])
        added = {name: labels.pop(name) for name in ("job", "instance", "region")}
        assert added == {"job": "search", "instance": "backfill", "region": "eu"}
        called = labels.pop("__name__", name)
        found[called, frozenset(labels.items())] = float(series["value"][1])
    return found


def test_every_counter_ends_where_a_replay_ends(backfilled: Backfilled) -> None:
    last = _series(backfilled.server, '{instance="backfill"}', backfilled.last)
    compared = {key: value for key, value in last.items() if not key[0].startswith(DECISION_DELAY.name)}
    assert compared == pytest.approx(backfilled.replayed, rel=1e-9)
    assert backfilled.replayed["vector_ndcg_avg_count", _labels("control", maturity="1h")] > 1000


def _labels(variant: str, **more: str) -> frozenset[tuple[str, str]]:
    return frozenset({"k": "10", "variant": variant, **more}.items())


def test_the_increase_over_all_of_it_is_what_a_replay_counts(backfilled: Backfilled) -> None:
    seconds = backfilled.last - backfilled.first
    for name in {name for name, _ in backfilled.replayed}:
        found = _series(backfilled.server, f"increase({name}[{seconds}s])", backfilled.last, name)
        wanted = {key: value for key, value in backfilled.replayed.items() if key[0] == name}
        assert found == pytest.approx(wanted, rel=1e-9)


def test_no_series_is_ever_reset_and_each_begins_at_0(backfilled: Backfilled) -> None:
    server, seconds = backfilled.server, backfilled.last - backfilled.first
    for name in {name for name, _ in backfilled.replayed}:
        assert set(_series(server, f"resets({name}[{seconds}s])", backfilled.last).values()) == {0.0}
        # No counter is below its first value, so the least is the first.
        assert set(_series(server, f"min_over_time({name}[{seconds}s])", backfilled.last).values()) == {0.0}


def test_an_impression_is_counted_at_the_first_step_after_its_delay_and_the_lateness(
    backfilled: Backfilled,
) -> None:
    server = backfilled.server
    shown = [json.loads(line) for line in _lines(backfilled.events)]
    times = [event["ts"] for event in shown if event["type"] == "impression"]
    series = [
        ("vector_results_count", 0),
        ('vector_ctr_avg_count{k="10"}', 300),
        ('ranking_monitor_judged_total{maturity="1m"}', 60),
        ('ranking_monitor_judged_total{maturity="1h"}', 3600),
        ('ranking_monitor_events_total{type="impression",fate="settled"}', 3600),
        ('ranking_monitor_decision_delay_seconds_count{delay="5m"}', 300),
    ]
    for selected, delay in series:
        (found,) = server.query_range(f"sum({selected})", backfilled.first, backfilled.last, STEP)
        decided = [ts + delay + LATENESS for ts in times]
        wanted = {at: sum(d <= at for d in decided) for at, _ in found["values"]}
        assert {at: float(value) for at, value in found["values"]} == wanted


def _lines(events: Path) -> list[bytes]:
    return gzip.decompress(events.read_bytes()).splitlines()


def test_a_series_has_a_sample_at_every_step_of_the_grid_from_its_birth_on(backfilled: Backfilled) -> None:
    seconds = backfilled.last - backfilled.first
    found = backfilled.server.get(
        "query", query=f'{{instance="backfill"}}[{seconds}s]', time=backfilled.last
    )["result"]
    assert len(found) > 1000
    for series in found:
        times = [at for at, _ in series["values"]]
        assert times == list(range(times[0], backfilled.last + 1, STEP))
        assert times[0] % STEP == 0


def test_a_second_backfill_of_the_same_time_is_refused_and_changes_nothing(backfilled: Backfilled) -> None:
    before = sorted(path.name for path in backfilled.data.iterdir())
    refused = run(*backfilled.arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.count("\n") == 1
    assert " covers " in refused.stderr
    assert "give another --output, or --since and --until that leave it out" in refused.stderr
    assert sorted(path.name for path in backfilled.data.iterdir()) == before


def test_the_summary_says_what_was_written(backfilled: Backfilled) -> None:
    first, second = backfilled.said.splitlines()
    samples = sum(meta["stats"]["numSamples"] for meta in _metas(backfilled.data))
    blocks = len(_metas(backfilled.data))
    assert f" {blocks} block{'s' if blocks > 1 else ''}, " in first
    assert f" {samples:,} samples, " in first
    assert f"{len(_lines(backfilled.events)):,} records: 0 rejected, 0 impressions late" in second
