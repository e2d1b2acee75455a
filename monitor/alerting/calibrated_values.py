"""The values that a calibration found, as a file: what differs from the defaults, and what was measured."""

import math
from collections.abc import Iterator
from typing import Any

import yaml

from monitor.alerting.calibration_report import CHANGES, CalibratedMetric, Calibration, suggested_budget
from monitor.alerting.detection_power import Found
from monitor.alerting.values import Drop, Values
from monitor.durations import in_words
from monitor.visible import visible

WIDTH = 110


def calibrated_values(calibration: Calibration) -> str:
    """The file; `ranking-monitor rules --values` renders rules from it."""
    changed = _changed(_dumped(calibration.values), _dumped(Values()))
    body = yaml.safe_dump(changed, sort_keys=False, width=WIDTH, allow_unicode=True) if changed else ""
    return "".join(f"# {visible(line)}".rstrip() + "\n" for line in _comments(calibration)) + body


def _dumped(values: Values) -> dict[str, Any]:
    given = values.model_dump(by_alias=True, mode="json")
    return given | dict.fromkeys(values.left_out)


def _changed(given: dict[str, Any], default: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _changed(value, default[key])
        if isinstance(value, dict) and isinstance(default[key], dict)
        else value
        for key, value in given.items()
        if value != default[key]
    }


def _comments(calibration: Calibration) -> Iterator[str]:
    yield "Values of the alert rules, made by `ranking-monitor rules --calibrate`. The others are defaults."
    yield f"Measured from {calibration.span}, for job {calibration.given.job}:"
    yield "  level: the mean"
    yield "  sd: the standard deviation of one impression"
    yield "  inflation: variance of the hourly means, divided by what independent impressions would give"
    yield "  found: the shortest window that is sure of a drop; abandonment and empty results rise, in points"
    yield ""
    yield from map(_line, calibration.lines)
    yield ""
    yield from calibration.notes()
    objective = calibration.objective()
    budget = calibration.given.VectorNDCGBudgetBurn
    if objective is not None and budget.objective is None:
        suggested = _changed(_budget(objective), budget.model_dump(by_alias=True, mode="json"))
        yield "To be told when less than that is good, take the # off this line:"
        flow = yaml.safe_dump(suggested, default_flow_style=True, width=1000, sort_keys=False)
        yield f"VectorNDCGBudgetBurn: {flow.strip()}"


def _budget(objective: float) -> dict[str, Any]:
    return suggested_budget(objective).model_dump(by_alias=True, mode="json")


def _line(line: CalibratedMetric) -> str:
    measured = line.measured
    whose = "the whole job" if line.value is None else line.value
    soon = ", ".join(
        f"{100 * change:g}% {soonest(found, line)}" for change, found in zip(CHANGES, line.found, strict=True)
    )
    return (
        f"{line.metric.name} of {whose}: level {measured.level:.4f}, sd {math.sqrt(measured.variance):.3f}, "
        f"inflation {measured.inflation:.2f}, {measured.traffic.mean:.0f} impressions an hour; "
        f"found: {soon}"
    )


def soonest(found: Found, line: CalibratedMetric) -> str:
    """How soon, in words."""
    if found.window is not None:
        return f"within {in_words(found.window)}"
    if found.too_small:
        return "never, under " + ("min_drop" if isinstance(line.metric.size, Drop) else "min_rise")
    if math.isinf(found.missing):
        return "never, the level is 0"
    return f"not within {in_words(line.power.settings.windows[-1])}"
