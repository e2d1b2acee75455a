"""`ranking-monitor rules --calibrate` against a real Prometheus that has two weeks of known series."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray

from monitor.alerting.promql import quoted
from monitor.alerting.values import Values, load_values
from tests.support.backfill import backfill
from tests.support.daemon import command
from tests.support.prometheus import Prometheus, prometheus

pytestmark = [pytest.mark.prometheus, pytest.mark.timeout(300)]
Floats = NDArray[np.float64]
STEP, DAYS = 600, 14
SLOTS = DAYS * 86400 // STEP
TENANTS = ['a|b "c" [d] (\\e).*', *(f"tenant-{number:02}" for number in range(59))]
SEARCH = {"job": "search", "k": "10", "maturity": "1m"}


def increases(
    rng: np.random.Generator, per_hour: float, level: float, sd: float, noise: float = 1.0
) -> Floats:
    """Impressions, value and squares of each slot; `noise` times the error that independent ones have."""
    count = rng.poisson(per_hour * STEP / 3600, SLOTS).astype(float)
    value = count * level + noise * np.sqrt(count) * sd * rng.standard_normal(SLOTS)
    return np.array([count, np.maximum(value, 0), count * (level**2 + sd**2)])


def shares(rng: np.random.Generator, per_hour: float, level: float) -> Floats:
    """The same of a share: values are 0 or 1."""
    count = rng.poisson(per_hour * STEP / 3600, SLOTS)
    value = rng.binomial(count, level)
    return np.array([count, value, value], dtype=float)


class Series:
    """Counters by name, for backfilling."""

    def __init__(self, end: int) -> None:
        self.times = end - SLOTS * STEP + STEP * np.arange(SLOTS + 1)
        self.counters: dict[str, Floats] = {}

    def add(self, name: str, slots: Floats, **labels: str) -> None:
        inside = ",".join(f"{label}={quoted(value)}" for label, value in labels.items())
        self.counters[f"{name}{{{inside}}}"] = np.concatenate([[0.0], np.cumsum(slots)])

    def add_metric(self, metric: str, slots: Floats, **labels: str) -> None:
        for suffix, part in zip(("_avg_count", "_avg_sum", "_squares_total"), slots, strict=True):
            self.add(f"vector_{metric}{suffix}", part, **labels)

    def samples(self) -> dict[str, list[tuple[int, float]]]:
        return {
            name: list(zip(self.times.tolist(), counter.tolist(), strict=True))
            for name, counter in self.counters.items()
        }


def search(series: Series) -> None:
    """A steady control on two replicas, a noisy candidate with less traffic, and searches without variant."""
    rng = np.random.default_rng(11)
    for variant, instance, per_hour, noise in (
        ("control", "a", 1800, 1.0),
        ("control", "b", 1800, 1.0),
        ("candidate", "a", 360, 1.8),
        ("unknown", "a", 36, 1.0),
    ):
        own = {"instance": instance, "variant": variant}
        ndcg = increases(rng, per_hour, 0.6, 0.3, noise)
        series.add_metric("ndcg", ndcg, **SEARCH, **own)
        low = 0.3 * ndcg[0]
        low[3 * 144 : 4 * 144] = 0.379 * ndcg[0][3 * 144 : 4 * 144]
        series.add("vector_ndcg_avg_bucket", low, **SEARCH, **own, le="0.5")
        series.add_metric("ctr", shares(rng, per_hour, 0.4), job="search", k="10", **own)
        for metric, level in (("abandonment", 0.4), ("empty", 0.02)):
            series.add_metric(metric, shares(rng, per_hour, level), job="search", **own)


def crowded(series: Series) -> None:
    """A label with sixty values, one of them with characters that mean something in queries."""
    rng = np.random.default_rng(12)
    for tenant in range(60):
        slots = shares(rng, 3600 - 50 * tenant, 0.05)
        series.add_metric("empty", slots, job="crowded", instance="a", tenant=TENANTS[tenant])


def wandering(series: Series) -> None:
    """The level of a day differs by 6% from that of the next."""
    rng = np.random.default_rng(13)
    slots = increases(rng, 3600, 0.6, 0.35)
    slots[1] *= np.repeat(1 + 0.06 * np.tile([1.0, -1.0], DAYS // 2), SLOTS // DAYS)
    series.add_metric("ndcg", slots, job="wandering", k="10", maturity="1m", instance="a")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    folder = tmp_path_factory.mktemp("calibrate")
    series = Series(int(time.time()) // 3600 * 3600)
    for story in (search, crowded, wandering):
        story(series)
    backfill(folder, series.samples())
    with prometheus(folder, {}) as started:
        yield started


async def calibrate(server: Prometheus, folder: Path, *more: str, **values: object) -> tuple[int, str, str]:
    given = folder / "given.yaml"
    given.write_text(yaml.safe_dump(values))
    return await command("rules", "--calibrate", server.url, "--values", str(given), *more)


def row(printed: str, *names: str) -> list[str]:
    """The cells of the first row that begins with these."""
    for line in printed.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if cells[: len(names)] == list(names):
            return cells[len(names) :]
    raise AssertionError(f"no row {names}:\n{printed}")


async def test_the_level_the_noise_and_how_soon_are_printed_for_the_job_and_each_variant(
    server: Prometheus, tmp_path: Path
) -> None:
    code, printed, errors = await calibrate(server, tmp_path, job="search")
    assert code == 0, errors
    level, sd, inflation, per_hour, least, most, *soon = row(printed, "ndcg", "control")
    assert float(level) == pytest.approx(0.6, abs=0.002)
    assert float(sd) == pytest.approx(0.3, abs=0.005)
    assert float(inflation) == pytest.approx(1, abs=0.35)
    assert float(per_hour.replace(",", "")) == pytest.approx(3600, rel=0.01)
    assert 3400 < float(least.replace(",", "")) < 3600 < float(most.replace(",", "")) < 3800
    # 12 label sets, 24 comparisons: 5.6 standard errors of 0.3 * sqrt(8 / 7 / n) / 0.6.
    assert "compare 12 label sets, so a change needs 5.60 standard errors" in printed
    assert soon == ["within 6h", "within 90m", "within 20m"]
    _, _, inflation, per_hour, _, _, *soon = row(printed, "ndcg", "candidate")
    assert float(inflation) == pytest.approx(1.8**2, rel=0.3)
    assert float(per_hour) == pytest.approx(360, rel=0.05)
    assert soon[0].startswith("not within 2d, ")
    assert soon[0].endswith(" impressions too few")
    assert soon[1:] == ["within 2d", "within 12h"]
    # Of 0.02: 10 points are beyond doubt at once.
    assert row(printed, "empty", "control")[-1] == "within 5m"
    assert float(row(printed, "ndcg", "(all)")[3].replace(",", "")) == pytest.approx(3996, rel=0.01)
    assert "unknown" not in printed
    assert "MRR@10 is not configured" in printed
    # 0.7 of the impressions are above 0.5, on one day 0.621.
    assert "On the worst day 62% of the impressions had an NDCG above 0.5" in printed


async def test_the_file_that_is_written_renders_rules(server: Prometheus, tmp_path: Path) -> None:
    output, rendered = tmp_path / "values.yaml", tmp_path / "rules.yaml"
    wanted = {"job": "search", "maturity": "1m", "VectorTrafficDrop": None, "detection": {"min_zscore": 5.1}}
    code, _, errors = await calibrate(server, tmp_path, "--output", str(output), **wanted)
    assert code == 0, errors
    text = output.read_text()
    assert yaml.safe_load(text) == {
        "job": "search",
        "detection": {"min_zscore": 5.1},
        "VectorTrafficDrop": None,
    }
    assert load_values(output) == Values.model_validate(wanted)
    assert load_values(output).left_out == {"VectorTrafficDrop"}
    assert re.search(r"# Measured from 20..-..-.. ..:00 to 20..-..-.. ..:00 UTC, for job search", text)
    assert re.search(
        r"# ndcg of control: level 0\.(60|59).*found: 2\.5% within 6h, 5% within 90m, 10% within 20m$",
        text,
        re.MULTILINE,
    )
    code, _, errors = await command("rules", "--values", str(output), "--output", str(rendered))
    assert code == 0, errors
    assert "search" in rendered.read_text()
    # The suggested objective is a comment; without the # it is valid too.
    assert load_values(output).VectorNDCGBudgetBurn.objective is None
    output.write_text(text.replace("# VectorNDCGBudgetBurn:", "VectorNDCGBudgetBurn:"))
    assert load_values(output).VectorNDCGBudgetBurn.objective == 0.62


async def test_a_label_with_too_many_values_is_told_and_the_busiest_are_listed(
    server: Prometheus, tmp_path: Path
) -> None:
    code, printed, errors = await calibrate(server, tmp_path, job="crowded", label="tenant")
    assert code == 0, errors
    listed = re.findall(r"^ *empty +(.+?)  ", printed, re.MULTILINE)
    assert listed[:21] == ["(all)", *TENANTS[:20]]
    assert set(listed[21:]) == set(listed[:21])
    assert "The 20 busiest values of tenant are listed; 40 are left out." in printed
    assert "tenant has 60 values" in printed
    assert "compare 61 label sets" in printed
    assert "NDCG@10 is not configured" in printed


async def test_a_drop_that_days_differ_by_anyway_raises_the_smallest_one(
    server: Prometheus, tmp_path: Path
) -> None:
    output = tmp_path / "values.yaml"
    code, printed, errors = await calibrate(
        server, tmp_path, "--output", str(output), job="wandering", label=None
    )
    assert code == 0, errors
    assert "NDCG@10 varies more from day to day than VectorNDCGRegression allows (0.025)" in printed
    raised = load_values(output).VectorNDCGRegression
    assert 0.06 <= raised.min_drop <= 0.13
    assert raised.critical_drop == pytest.approx(2 * raised.min_drop)
    assert row(printed, "ndcg", "(all)")[6] == "never, under min_drop"


WRONG = {
    "job": (
        {"job": "serach"},
        'job "serach" in the last 14d; set `job` in --values to one of: crowded, search, wandering',
    ),
    "k": ({"job": "search", "k": 20}, 'no k="20"; set `k` in --values to one of: 10'),
    "maturity": (
        {"job": "search", "maturity": "1h"},
        'no maturity="1h"; set `maturity` in --values to one of: 1m',
    ),
    "label": (
        {"job": "search", "label": "tenant"},
        'no label "tenant"; set `label` in --values to one of: variant, or null',
    ),
    "no label at all": (
        {"job": "wandering"},
        'no label "variant"; set `label` in --values to null: the series have none of their own',
    ),
}


@pytest.mark.parametrize(("values", "message"), WRONG.values(), ids=WRONG)
async def test_values_that_no_series_has_are_refused_with_those_that_there_are(
    server: Prometheus, tmp_path: Path, values: dict[str, object], message: str
) -> None:
    code, printed, errors = await calibrate(server, tmp_path, **values)
    assert code == 2
    assert not printed
    (line,) = errors.splitlines()
    assert line.endswith(message)


async def test_too_few_days_are_refused(server: Prometheus, tmp_path: Path) -> None:
    start = int(time.time()) - 2 * 86400
    accepted = {"accepted": [{"since": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(start))}]}
    code, _, errors = await calibrate(server, tmp_path, job="search", detection=accepted)
    assert code == 2
    assert 'job "search" has impressions on 2 days of the last 14d, and noise needs at least 3' in errors
