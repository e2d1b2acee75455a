"""What is exported is what Prometheus's own tools take."""

import subprocess
from pathlib import Path

import pytest

from monitor.config import Config
from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.export.windows import to_openmetrics
from monitor.metrics import METRICS
from monitor.stream.plan import make_plan
from tests.support.programs import program
from tests.unit.export.snapshots import SMALL, busy_snapshot, make_snapshot, make_window, stage_of

pytestmark = pytest.mark.prometheus


@pytest.fixture(scope="module")
def promtool() -> str:
    return program("promtool", "prometheus")


def every_metric() -> Config:
    """All of the registry at once: their names are what the checks look at."""
    required = {"err": "err(max_grade=4)"}
    return Config.model_validate(
        {
            "metrics": [
                {"metric": required.get(name, name) + ("@10" if metric.takes_k else ""), "name": name}
                for name, metric in METRICS.items()
                if metric.family.endswith("_avg") and name not in ("empty", "outcome_success")
            ]
        }
    )


def check(promtool: str, body: bytes) -> None:
    done = subprocess.run([promtool, "check", "metrics"], input=body, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_promtool_has_nothing_to_say_about_a_scrape(promtool: str) -> None:
    status = ProcessStatus("1.2.3", "c0ffee", lag={("search-events", 0): 12})
    body, _ = Exposition().render(busy_snapshot(), status)
    check(promtool, body)


def test_promtool_has_nothing_to_say_about_the_family_of_any_metric(promtool: str) -> None:
    body, _ = Exposition().render(make_snapshot(every_metric(), [("control",)]), ProcessStatus("1", "c"))
    check(promtool, body)


def test_blocks_can_be_created_from_windows(promtool: str, tmp_path: Path) -> None:
    judged = stage_of(make_plan(SMALL), 60.0)
    windows = [
        make_window(judged, 1_700_000_040.0 + 60 * i, {i % 2: {"ndcg@10": [0.5, 1.0]}}) for i in range(10)
    ]
    text = to_openmetrics(reversed(windows), ("variant",), [("control",), ('say "hi"\\\n',)])
    (tmp_path / "windows.txt").write_text(text, newline="")
    run = [promtool, "tsdb", "create-blocks-from", "openmetrics", "windows.txt", "data"]
    subprocess.run(run, cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "data" / "wal").mkdir()  # dump wants one
    dump = subprocess.run(
        [promtool, "tsdb", "dump", "data"], cwd=tmp_path, check=True, capture_output=True, text=True
    )
    lines = dump.stdout.splitlines()
    means = [line for line in lines if "vector_window_ndcg_avg" in line]
    assert len(means) == 10
    assert any("control" in line and line.endswith(" 0.75 1700000100000") for line in means)
