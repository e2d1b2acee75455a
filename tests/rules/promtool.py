"""Runs rules over series with promtool, and reads which alerts fired when."""

import json
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from monitor.alerting.detector import PREFIX
from monitor.alerting.render import groups
from monitor.alerting.values import Values
from tests.rules.world import STEP, Samples
from tests.support.programs import program

PAIR = re.compile(r'(\w+)=("(?:[^"\\]|\\.)*")')
ALERTS = sorted(name for name in Values.model_fields if name.startswith(("Vector", "RankingMonitor")))


SHORT = {
    "comparison": {"yesterday": "45m", "last_week": "90m"},
    "VectorNDCGBudgetBurn": {"objective": 0.9, "fast": {"short": "15m"}, "slow": {"long": "2h"}},
}
"""Values for which yesterday is 45 minutes ago and last week 90: to the rules it is all the same."""


class Fired(NamedTuple):
    """One alert that fires at one time."""

    name: str
    hours: float
    labels: dict[str, str]
    annotations: dict[str, str]

    @property
    def summary(self) -> str:
        return self.annotations["summary"]


def fired(
    folder: Path,
    series: Samples,
    values: Values | None = None,
    *,
    step: int = STEP,
    every: int = STEP,
    since: float = 0.0,
    group: str = "",
    detector: bool = False,
) -> list[Fired]:
    """Every alert that fires at any evaluation from the hour `since` on; they come `every` so many seconds.

    A `group` of rules can be chosen, which is quicker. The rules of the detector need an evaluation each
    minute, so they are left out unless they are asked for. Told to expect no alert at all, promtool lists
    those that fire.
    """
    promtool = program("promtool", "prometheus")
    end = max(map(len, series.values())) * step
    values = values or Values.model_validate(SHORT)
    chosen = {"groups": [one for one in groups(values) if group in one["name"]]}
    if not detector:
        for one in chosen["groups"]:
            one["rules"] = [
                rule for rule in one["rules"] if PREFIX not in rule["expr"] + rule.get("record", "")
            ]
    (folder / "rules.yaml").write_text(json.dumps(chosen), encoding="utf-8")
    test = {
        "interval": f"{step}s",
        "input_series": [
            {"series": name, "values": " ".join(map(_number, samples))} for name, samples in series.items()
        ],
        "alert_rule_test": [
            {"eval_time": f"{seconds}s", "alertname": name, "exp_alerts": []}
            for seconds in range(int(since * 3600), end, every)
            for name in ALERTS
        ],
    }
    whole = {"rule_files": ["rules.yaml"], "evaluation_interval": f"{every}s", "tests": [test]}
    (folder / "test.yaml").write_text(json.dumps(whole), encoding="utf-8")
    done = subprocess.run(
        [promtool, "test", "rules", folder / "test.yaml"], capture_output=True, text=True, check=False
    )
    found = list(_parse((done.stdout + done.stderr).splitlines()))
    assert found or done.returncode == 0, done.stdout + done.stderr
    return found


def _number(sample: float | str) -> str:
    return sample if isinstance(sample, str) else f"{sample:.10g}"


def _parse(lines: Iterable[str]) -> Iterable[Fired]:
    hours, labels, got = 0.0, dict[str, str](), False
    for line in lines:
        if when := re.search(r"time: (\S+),", line):
            hours, got = _hours(when[1]), False
        elif "got:[" in line:
            got = True
        elif got and "Labels:{" in line:
            labels = _pairs(line)
        elif got and "Annotations:{" in line:
            name = labels.pop("alertname")
            yield Fired(name, hours, labels, _pairs(line))
        else:
            assert "error" not in line.lower(), line


def _pairs(line: str) -> dict[str, str]:
    return {name: yaml.safe_load(value) for name, value in PAIR.findall(line)}


def _hours(text: str) -> float:
    """From a duration as Prometheus prints it."""
    units = {"d": 24.0, "h": 1.0, "m": 1 / 60, "s": 1 / 3600}
    return sum(int(number) * units[unit] for number, unit in re.findall(r"(\d+)([dhms])", text))


def last(found: list[Fired], name: str, **labels: str) -> Fired:
    """The newest alert of that name and with those labels."""
    return [a for a in found if a.name == name and labels.items() <= a.labels.items()][-1]


def says(text: str, pattern: str, *expected: float, within: float = 0.07) -> None:
    """The text is as the pattern, with a number near the expected one for each #."""
    found = re.fullmatch(re.escape(pattern).replace(r"\#", r"([\d.]+)"), text)
    assert found, text
    assert [float(number) for number in found.groups()] == pytest.approx(expected, rel=within), text
