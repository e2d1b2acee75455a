"""The numpy form of the detector beside Prometheus's own engine: every recorded series, at many times."""

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor.alerting.change_alerts import verdict_records
from monitor.alerting.detector import PREFIX, Detector
from monitor.alerting.evaluator import CRITICAL, Row, evaluate, firing
from monitor.alerting.expressions import Range, Series
from monitor.alerting.means import Record
from monitor.alerting.quality_inputs import input_records, quality_metrics
from monitor.alerting.values import Values
from tests.rules.quality import SHORT_DAYS, Searches, counters, from_minute, inputs, means, scraped
from tests.rules.world import JOB, Samples
from tests.support.programs import program

pytestmark = [pytest.mark.prometheus, pytest.mark.timeout(600)]

VALUES = Values.model_validate({"detection": SHORT_DAYS})
VARIANTS = ("control", "candidate")
MINUTES, TROUBLE = 200, 170
TIMES = (3, 30, 65, 80, 100, 140, 169, 171, 173, 176, 180, 185, 190, 199)
SAMPLE = re.compile(r'\{__name__="([^"]+)", ([^}]*)\} ([^\s,]+)')
LABEL = re.compile(r'(\w+)="([^"]*)"')
ONLY_THERE = frozenset(
    PREFIX + name
    for name in (
        *("event_time_delay", "judgment_changes", "judgments_changed_ratio", "judged_documents"),
        *("max_zscore", "difference", "since", "level", "firing", "firing_critical"),
    )
)
"""What is recorded by rules that are not in the numpy form."""
CONSTANTS = frozenset(PREFIX + name for name in quality_metrics(VALUES)[0].constants)


Found = dict[tuple[str, Row], float]


def one_group() -> dict[str, Any]:
    """Fast and slow rules together in their order: the question is not which group comes first."""
    detected = [
        Record(rule.record, rule.expression.promql(), rule.labels) for rule in Detector(VALUES).rules()
    ]
    records = [*input_records(VALUES), *detected, *verdict_records(VALUES)]
    return {
        "name": "all",
        "rules": [{"record": r.name, "expr": r.expr, "labels": dict(r.labels)} for r in records],
    }


def recorded(folder: Path, series: Samples, minutes: Sequence[int]) -> dict[int, Found]:
    """Every series of the detector at some minutes, as Prometheus's engine has it."""
    (folder / "rules.yaml").write_text(json.dumps({"groups": [one_group()]}), encoding="utf-8")
    asked = f'{{__name__=~"{PREFIX}.+"}}'
    test = {
        "interval": "1m",
        "input_series": [
            {"series": name, "values": " ".join(f"{value:.12g}" for value in samples)}
            for name, samples in series.items()
        ],
        "promql_expr_test": [
            {"expr": asked, "eval_time": f"{minute}m", "exp_samples": []} for minute in minutes
        ],
    }
    whole = {"rule_files": ["rules.yaml"], "evaluation_interval": "1m", "tests": [test]}
    (folder / "test.yaml").write_text(json.dumps(whole), encoding="utf-8")
    done = subprocess.run(
        [program("promtool", "prometheus"), "test", "rules", folder / "test.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[int, Found] = {}
    minute = -1
    for line in (done.stdout + done.stderr).splitlines():
        if when := re.search(r"time: (?:(\d+)h)?(?:(\d+)m)?", line):
            minute = 60 * int(when[1] or 0) + int(when[2] or 0)
        elif "got:" in line:
            found[minute] = dict(_parse(line))
    return found


def _parse(line: str) -> Iterator[tuple[tuple[str, Row], float]]:
    for name, text, value in SAMPLE.findall(line):
        labels = dict(LABEL.findall(text))
        given = [labels[label] for label in ("against", "window") if label in labels]
        row = Row(labels.get("metric", ""), labels.get("variant"))
        yield (":".join([name, *given]), row), float(value)


def test_numpy_and_prometheus_record_the_same(tmp_path: Path) -> None:
    story = from_minute(TROUBLE, Searches(means=means(ndcg=0.5, ctr=0.3, empty=0.1)), "candidate")
    found = counters(story, MINUTES, VARIANTS)
    theirs = recorded(tmp_path, scraped(found, MINUTES), TIMES)
    detector = Detector(VALUES)
    rows, given = inputs(found, VARIANTS)
    grid = evaluate(detector, rows, given, start=0)
    index = {row: number for number, row in enumerate(rows)}
    compared = 0
    for minute in TIMES:
        ours = {
            (key, row): values[number, minute]
            for key, values in grid.recorded.items()
            if values.shape[1] > 1 and not key.endswith("compared")
            for row, number in index.items()
            if not np.isnan(values[number, minute])
        }
        there = {key for key in theirs[minute] if not key[0].startswith(tuple(ONLY_THERE))}
        there = {(name, row) for name, row in there if row.metric and name not in CONSTANTS}
        assert there == ours.keys(), minute
        for key, value in ours.items():
            assert theirs[minute][key] == pytest.approx(value, rel=1e-6, abs=1e-9), (minute, key)
        compared += len(ours)
    assert compared > 14_000
    # It is a story in which something happens: the candidate's drop is found, by both.
    candidate = index[Row("ndcg", "candidate")]
    severity = firing(detector, grid, rows, "history")[candidate]
    assert not severity[:TROUBLE].any()
    assert severity[190] == CRITICAL
    fires = theirs[190][PREFIX + "firing_critical:history", Row("ndcg", "candidate")]
    assert fires == pytest.approx(theirs[190][PREFIX + "difference:history", Row("ndcg", "candidate")])


def test_what_the_slow_group_recorded_off_the_step_is_read(tmp_path: Path) -> None:
    """A group is evaluated at an offset of its own: here 3 minutes after each multiple of ten."""
    series = Series("x", JOB)
    average = Range("avg", series, 3600, 60, 600, lookback=900).promql()
    expected = [{"labels": f'{{job="{JOB}"}}', "value": 2}]
    test = {
        "interval": "1m",
        "input_series": [{"series": series.promql(), "values": "_x3 " + " ".join(["2 _x9"] * 12)}],
        "promql_expr_test": [{"expr": average, "eval_time": "110m", "exp_samples": expected}],
    }
    (tmp_path / "test.yaml").write_text(json.dumps({"tests": [test]}), encoding="utf-8")
    done = subprocess.run(
        [program("promtool", "prometheus"), "test", "rules", tmp_path / "test.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
