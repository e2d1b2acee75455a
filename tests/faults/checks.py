"""What Prometheus saw, compared with what was sent: every series, exactly."""

import asyncio
import math
import time
from collections.abc import Mapping

from tests.faults.increases import Key, Samples, raw_samples
from tests.support.prometheus import Prometheus

STABLE_SECONDS = 3.0
"""Three more scrapes: nothing may be added once all is there."""


def differences(expected: Mapping[Key, float], found: Mapping[Key, float]) -> dict[Key, tuple[float, float]]:
    """What was found beside what was expected, wherever they are not the same."""
    wrong = {}
    for key, value in expected.items():
        if not math.isclose(found.get(key, 0.0), value, rel_tol=1e-9, abs_tol=1e-6):
            wrong[key] = (found.get(key, 0.0), value)
    for key, value in found.items():
        if key not in expected and value and not _of_judgments(key, expected):
            wrong[key] = (value, 0.0)
    return wrong


def _of_judgments(key: Key, expected: Mapping[Key, float]) -> bool:
    """Every replica reads all judgments, and again after each restart: their books are not compared."""
    return ("type", "judgment") in key[1] or key[0] == "ranking_monitor_records_total"


async def exact(server: Prometheus, expected: Mapping[Key, float], seconds: float = 60.0) -> str:
    """Wait until the increases are those expected, for good; what was compared, in words."""
    samples = await settled(server, expected, seconds)
    wrong = differences(expected, samples.increases())
    assert not wrong, describe(wrong, samples)
    unborn = [key for key in samples.not_born_at_zero() if key in expected]
    assert not unborn, f"{len(unborn)} series did not begin at 0, such as {unborn[:3]}"
    settled_fate = ("ranking_monitor_events_total", (("fate", "settled"), ("type", "impression")))
    return f"{expected[settled_fate]:.0f} impressions, {len(expected)} series equal"


async def settled(
    server: Prometheus,
    expected: Mapping[Key, float],
    seconds: float,
    *,
    with_first: bool = False,
) -> Samples:
    """Wait until nothing is missing any more, or the time is over; then for some scrapes more."""
    deadline = time.monotonic() + seconds
    while True:
        samples = await asyncio.to_thread(raw_samples, server)
        found = samples.increases(with_first=with_first)
        missing = [key for key, value in expected.items() if found.get(key, 0.0) < value - 1e-6]
        if not missing or time.monotonic() > deadline:
            break
        await asyncio.sleep(1.0)
    await asyncio.sleep(STABLE_SECONDS)
    return await asyncio.to_thread(raw_samples, server)


def describe(wrong: Mapping[Key, tuple[float, float]], samples: Samples) -> str:
    """The books first, then the series with the largest error, and the raw samples of one."""
    order = sorted(wrong.items(), key=lambda item: (item[0][0].startswith("vector_"), item[0]))
    lines = [f"{len(wrong)} series are not exact:"]
    for (name, labels), (found, value) in order[:25]:
        text = ",".join(f"{k}={v}" for k, v in labels)
        lines.append(f"  {name}{{{text}}}: {found:g} instead of {value:g} ({found - value:+g})")
    for key, _ in order[:2]:
        for instance, raw in samples.by_instance.get(key, {}).items():
            began = raw[0][0]
            lines.append(f"  raw {key} of {instance}: {[(round(at - began, 1), v) for at, v in raw]}")
    return "\n".join(lines)
