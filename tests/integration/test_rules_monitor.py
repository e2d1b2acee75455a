"""What fires the alerts on the monitor itself, and what does not."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.rules.own_series import (
    BEGIN,
    CLOCK_SKEW,
    COMMITTED,
    DECIDED,
    END,
    EVICTED,
    FORGOTTEN,
    LAG,
    LATE,
    LEAD,
    OWN,
    RECORDS,
    REJECTED,
    SKIPPED,
    STARTED,
    STEPS,
    TROUBLE,
    UP,
    UP_NAME,
    WATERMARK,
    counter,
    names,
    noisy,
    seen,
    since_trouble,
)
from tests.rules.promtool import Fired, fired, last, says
from tests.rules.world import JOB, Samples, label

pytestmark = pytest.mark.prometheus


def test_a_replica_that_cannot_be_scraped_is_down(tmp_path: Path) -> None:
    found = seen(tmp_path, {label("up", **OWN): since_trouble(lambda _: 1.0, lambda _: 0.0)})
    assert {(a.name, a.labels["reason"], a.labels["instance"]) for a in found} == {
        ("RankingMonitorDown", "unreachable", "a")
    }
    assert found[0].summary == "a could not be scraped for 5m"
    assert found[0].hours == pytest.approx(TROUBLE + 1 / 12)


def test_a_monitor_without_a_target_is_down(tmp_path: Path) -> None:
    found = seen(tmp_path, {label("up", job="another"): [1.0] * 6})
    assert {(a.name, a.labels["reason"], a.labels["job"]) for a in found} == {
        ("RankingMonitorDown", "absent", JOB)
    }
    assert found[0].summary == "There has been no target of job ranking-monitor for 5m"


def test_a_replica_that_does_not_get_ready_is_down(tmp_path: Path) -> None:
    found = seen(tmp_path, {**UP, label("ranking_monitor_ready", **OWN): [0.0] * STEPS})
    assert found[0].labels["reason"] == "not_ready"
    assert found[0].summary == "a has not been ready for 15m"


def test_a_short_restart_is_not_down(tmp_path: Path) -> None:
    up = [0.0 if i == BEGIN else 1.0 for i in range(STEPS)]
    ready = [0.0 if i == BEGIN + 1 else 1.0 for i in range(STEPS)]
    assert names(tmp_path, {label("up", **OWN): up, label("ranking_monitor_ready", **OWN): ready}) == set()


def test_silence_where_there_were_records_fires(tmp_path: Path) -> None:
    growth = noisy(500)[:BEGIN] + [0.0] * (STEPS - BEGIN)
    found = seen(tmp_path, {**UP, RECORDS: counter(growth)})
    assert {alert.name for alert in found} == {"RankingMonitorNoEvents"}
    assert found[-1].summary == "0 records came in during 15m"
    # It fires to the end: a whole yesterday after the last record there is still last week.
    assert found[-1].hours == pytest.approx(END - 1 / 12)


def test_silence_after_a_restart_fires_too(tmp_path: Path) -> None:
    samples = [*counter(noisy(500)[:BEGIN]), *[0.0] * (STEPS - BEGIN)]
    assert names(tmp_path, {RECORDS: samples}) == {"RankingMonitorNoEvents"}


@pytest.mark.parametrize("mean", [500, 2, 0])
def test_records_or_little_traffic_are_no_silence(mean: float, tmp_path: Path) -> None:
    growth = noisy(mean)
    quiet = [0.0 if mean == 2 and i >= BEGIN else value for i, value in enumerate(growth)]
    assert names(tmp_path, {RECORDS: counter(quiet)}) == set()


def test_lag_that_grows_fires(tmp_path: Path) -> None:
    noise = noisy(300)
    lag = [noise[i] + (max(0, i - BEGIN) * 6000.0) for i in range(STEPS)]
    found = seen(tmp_path, {**UP, LAG: lag})
    assert {alert.name for alert in found} == {"RankingMonitorLagGrowing"}
    says(found[-1].summary, "#k records of search-events are unread, and it is getting more", 84)


LAGS = {
    "noise": lambda _, noise: noise,
    "noise above what matters": lambda i, _: float(np.random.default_rng(i).uniform(10_000, 40_000)),
    "much but getting less": lambda i, noise: 200_000.0 - 2000 * i + noise,
    "a batch that is being read": lambda i, noise: (
        max(0.0, 90_000.0 - 5000 * (i - BEGIN)) * (i >= BEGIN) + noise
    ),
    "a spike that is read at once": lambda i, noise: 50_000.0 if i == BEGIN else noise,
}


@pytest.mark.parametrize("lag", LAGS.values(), ids=LAGS)
def test_lag_that_does_not_grow_is_silent(lag: Callable[[int, float], float], tmp_path: Path) -> None:
    """Scraped and evaluated every minute, as by default."""
    samples = [lag(i, noise) for i, noise in enumerate(noisy(300) * 5)]
    found = fired(
        tmp_path, {UP_NAME: [1.0] * len(samples), LAG: samples}, step=60, every=60, group="ranking-monitor"
    )
    assert {alert.name for alert in found} == set()


def test_event_time_that_stands_still_fires(tmp_path: Path) -> None:
    """Of two tasks, one: that is enough to hold its part of the traffic back."""
    stuck = since_trouble(lambda i: i * 300.0 - 60, lambda _: BEGIN * 300.0 - 60)
    other = {WATERMARK.replace('task="0"', 'task="1"'): [i * 300.0 - 60 for i in range(STEPS)]}
    found = seen(tmp_path, {**UP, **other, WATERMARK: stuck})
    assert {alert.name for alert in found} == {"RankingMonitorWatermarkStuck"}
    assert found[-1].summary == "Event time stands still, 1h 11m 0s behind the clock"


@pytest.mark.parametrize(("start", "speed"), [(-3600.0, 1), (-7200.0, 1.5)])
def test_event_time_that_is_behind_but_moves_is_silent(start: float, speed: float, tmp_path: Path) -> None:
    assert names(tmp_path, {WATERMARK: [start + i * 300 * speed for i in range(STEPS)]}) == set()


def test_many_rejections_fire_and_name_the_reason(tmp_path: Path) -> None:
    rejected = since_trouble(lambda _: 0.0, lambda i: noisy(50)[i])
    found = seen(tmp_path, {**UP, RECORDS: counter(noisy(1000)), REJECTED: counter(rejected)})
    assert {alert.name for alert in found} == {"RankingMonitorRejectionsHigh"}
    says(found[-2].summary, "#% of the records in 15m were rejected, most as not_json", 5, within=0.2)


@pytest.mark.parametrize(("records", "rejected"), [(1000, 2), (5, 2)])
def test_few_rejections_or_few_records_are_silent(records: float, rejected: float, tmp_path: Path) -> None:
    samples = {RECORDS: counter(noisy(records)), REJECTED: counter(noisy(rejected, seed=5))}
    assert names(tmp_path, samples) == set()


@pytest.mark.parametrize("name", [EVICTED, FORGOTTEN])
def test_evictions_fire(name: str, tmp_path: Path) -> None:
    growth = since_trouble(lambda _: 0.0, lambda _: 400.0)
    found = seen(tmp_path, {**UP, EVICTED: [0.0] * STEPS, name: counter(growth)})
    assert {alert.name for alert in found} == {"RankingMonitorEvicting"}
    says(found[-1].summary, "#k events or judgments were evicted in 15m", 1.2)


def test_old_evictions_and_a_restart_are_silent(tmp_path: Path) -> None:
    """What was evicted long ago is no news, and a counter that begins again at 0 is no eviction."""
    evicted = since_trouble(lambda _: 5000.0, lambda _: 0.0)
    assert names(tmp_path, {EVICTED: evicted, FORGOTTEN: [70.0] * STEPS}) == set()


def test_commits_that_stopped_fire_and_say_since_when(tmp_path: Path) -> None:
    """Of two replicas, one; and of two tasks of it, once."""
    stopped = since_trouble(lambda i: i * 300.0 - 15, lambda _: BEGIN * 300.0 - 15)
    other = {name.replace('instance="a"', 'instance="b"'): some for name, some in _moving(STEPS, 300).items()}
    tasks = {WATERMARK.replace('task="0"', 'task="1"'): _moving(STEPS, 300)[WATERMARK]}
    found = seen(tmp_path, {**UP, **other, **_moving(STEPS, 300), **tasks, COMMITTED: stopped})
    assert {(alert.name, alert.labels["instance"]) for alert in found} == {
        ("RankingMonitorCommitsStopped", "a")
    }
    assert len({alert.hours for alert in found}) == len(found)
    # 15 minutes and the 5 of `for`, by evaluations that come every 5.
    assert found[0].hours == pytest.approx(TROUBLE + 20 / 60)
    assert found[-1].summary == "a has committed nothing for 1h 10m 15s"


def _moving(count: int, step: int) -> dict[str, list[float]]:
    """Event time and commits of a replica that is well."""
    times = [i * float(step) for i in range(count)]
    return {WATERMARK: [at - 60 for at in times], COMMITTED: [at - 15 for at in times]}


def test_a_replica_without_partitions_has_nothing_to_commit(tmp_path: Path) -> None:
    assert names(tmp_path, {COMMITTED: [0.0] * STEPS}) == set()


@pytest.mark.parametrize("interval", [15, 60, 180])
def test_a_commit_with_every_scrape_is_silent(interval: int, tmp_path: Path) -> None:
    """However often Prometheus scrapes: what it sees is the commit of the scrape before."""
    steps = 3600 // interval
    committed = [max(0.0, (i - 1) * float(interval)) for i in range(steps)]
    samples = {UP_NAME: [1.0] * steps, **_moving(steps, interval), COMMITTED: committed}
    assert fired(tmp_path, samples, step=interval, every=60, group="ranking-monitor") == []


def test_the_first_scrape_after_an_hour_without_is_no_stop_of_commits(tmp_path: Path) -> None:
    """It still shows the commit of an hour ago, and is the first to be acknowledged again."""
    away, back = 20, 80
    samples = _moving(MINUTES, 60)
    samples[COMMITTED][back] = away * 60.0
    none = ["stale", *["_"] * (back - away - 1)]
    up = [float(not away <= i < back) for i in range(MINUTES)]
    found = by_the_minute(
        tmp_path, {name: [*some[:away], *none, *some[back:]] for name, some in samples.items()}, up
    )
    assert {alert.name for alert in found} == {"RankingMonitorDown"}


def test_commits_that_go_on_end_it(tmp_path: Path) -> None:
    committed = [min(i, 10) * 60.0 if i < 50 else (i - 1) * 60.0 for i in range(MINUTES)]
    found = by_the_minute(tmp_path, {**_moving(MINUTES, 60), COMMITTED: committed})
    assert {alert.name for alert in found} == {"RankingMonitorCommitsStopped"}
    minutes = [round(alert.hours * 60) for alert in found]
    # From 15 minutes and `for` after the last commit to keep_firing_for after the next.
    assert minutes == list(range(10 + 15 + 1 + 5, 50 + 25))


def test_skipped_records_fire(tmp_path: Path) -> None:
    found = seen(tmp_path, {**UP, SKIPPED: since_trouble(lambda _: 2.0, lambda _: 1502.0)})
    assert {(alert.name, alert.labels["topic"]) for alert in found} == {
        ("RankingMonitorSkipping", "search-events")
    }
    assert found[0].hours == pytest.approx(TROUBLE)
    says(found[-1].summary, "#k records of search-events were skipped in 1h", 1.5, within=0.2)


@pytest.mark.parametrize("first", ["a", "b"])
def test_records_that_were_gone_at_the_start_fire(first: str, tmp_path: Path) -> None:
    """They are counted before the first scrape. Two replicas read all judgments, and miss the same."""
    lost: dict[str, list[float | str]] = {}
    for instance in ("a", "b"):
        before: list[float | str] = ["_"] * (BEGIN + (instance != first))
        for name, value in ((SKIPPED, 40.0), (STARTED, BEGIN * 300.0)):
            samples = [*before, *[value] * (STEPS - len(before))]
            lost[name.replace('instance="a"', f'instance="{instance}"')] = samples
    found = seen(tmp_path, {**UP, **lost})
    assert {alert.name for alert in found} == {"RankingMonitorSkipping"}
    assert {alert.summary for alert in found} == {"40 records of search-events were skipped in 1h"}
    # An hour after it, and for keep_firing_for.
    assert found[-1].hours == pytest.approx(TROUBLE + 1 + 10 / 60)


@pytest.mark.parametrize("restarted", [False, True])
def test_records_that_were_skipped_long_ago_are_silent_after_a_gap(restarted: bool, tmp_path: Path) -> None:
    gone: list[float | str] = ["stale", *["_"] * 4]
    later = STEPS - BEGIN - len(gone)
    skipped = [*[70.0] * BEGIN, *gone, *[0.0 if restarted else 70.0] * later]
    since = [BEGIN * 300.0 if restarted else -86400.0] * later
    assert names(tmp_path, {SKIPPED: skipped, STARTED: [*[-86400.0] * BEGIN, *gone, *since]}) == set()


def test_restarts_again_and_again_fire(tmp_path: Path) -> None:
    started = since_trouble(lambda _: 0.0, lambda i: i * 300.0)
    found = seen(tmp_path, {**UP, STARTED: started})
    assert {alert.name for alert in found} == {"RankingMonitorCrashLooping"}
    assert last(found, "RankingMonitorCrashLooping").summary == "a restarted 6 times in 30m"


def test_two_restarts_are_silent(tmp_path: Path) -> None:
    started = [0.0] * BEGIN + [BEGIN * 300.0] * 2 + [(BEGIN + 2) * 300.0] * (STEPS - BEGIN - 2)
    assert names(tmp_path, {STARTED: started}) == set()


MINUTES, ONSET, BREAK = 105, 30, 80
"""Scraped by the minute: when the trouble begins, and when a replica is gone for a while."""
CALM: Samples = {
    RECORDS: counter([100.0] * MINUTES),
    LAG: [300.0] * MINUTES,
    WATERMARK: [i * 60.0 - 60 for i in range(MINUTES)],
    REJECTED: counter([0.1] * MINUTES),
    EVICTED: [70.0] * MINUTES,
    STARTED: [0.0] * MINUTES,
    COMMITTED: [i * 60.0 - 15 for i in range(MINUTES)],
    SKIPPED: [0.0] * MINUTES,
    LEAD: [2.0] * MINUTES,
    DECIDED: counter([100.0] * MINUTES),
    LATE: counter([0.1] * MINUTES),
    CLOCK_SKEW: [0.1] * MINUTES,
}


def grown(before: float, after: float) -> list[float | str]:
    return counter([before] * ONSET + [after] * (MINUTES - ONSET))


TROUBLES: dict[str, Samples] = {
    "RankingMonitorNoEvents": {RECORDS: grown(100, 0)},
    "RankingMonitorLagGrowing": {LAG: grown(1, 3000)},
    "RankingMonitorWatermarkStuck": {WATERMARK: grown(60, 0)},
    "RankingMonitorRejectionsHigh": {REJECTED: grown(0.1, 5)},
    "RankingMonitorEvicting": {EVICTED: grown(0, 40)},
    "RankingMonitorCommitsStopped": {COMMITTED: grown(60, 0)},
    "RankingMonitorSkipping": {SKIPPED: grown(0, 10)},
    "RankingMonitorCrashLooping": {STARTED: [max(0, i - ONSET) // 5 * 300.0 for i in range(MINUTES)]},
    "RankingMonitorSenderAhead": {LEAD: [2.0] * ONSET + [90.0] * (MINUTES - ONSET)},
    "RankingMonitorLateImpressions": {LATE: grown(0.1, 5)},
    "RankingMonitorClockSkew": {CLOCK_SKEW: [0.1] * ONSET + [-9.0] * (MINUTES - ONSET)},
}


def by_the_minute(folder: Path, samples: Samples, up: list[float] | None = None) -> list[Fired]:
    samples = {UP_NAME: up or [1.0] * MINUTES, **samples}
    return fired(folder, samples, step=60, every=60, group="ranking-monitor")


def gap(samples: Samples, minutes: int) -> dict[str, list[float | str]]:
    """Nothing is scraped for so long."""
    none = ["stale", *["_"] * (minutes - 1)]
    return {name: [*some[:BREAK], *none, *some[BREAK + minutes :]] for name, some in samples.items()}


def restart(samples: Samples) -> dict[str, list[float | str]]:
    """One scrape is missing, then counters begin at 0 again, and the start counts as the last commit."""

    def after(name: str, some: Sequence[float | str]) -> list[float | str]:
        if any(part in name for part in ("_total{", "_count{")):
            return [float(one) - float(some[BREAK]) for one in some[BREAK:]]
        if name == COMMITTED:
            return [max(float(one), BREAK * 60.0) for one in some[BREAK:]]
        return list(some[BREAK:])

    return gap({name: [*some[:BREAK], *after(name, some)] for name, some in samples.items()}, 1)


def fires_on(found: list[Fired], name: str) -> bool:
    """From before the break to the end, without a pause."""
    minutes = [round(alert.hours * 60) for alert in found if alert.name == name]
    return minutes[0] < BREAK and minutes == list(range(minutes[0], MINUTES))


@pytest.mark.parametrize("name", TROUBLES)
def test_a_gap_does_not_resolve_what_fires(name: str, tmp_path: Path) -> None:
    """It is shorter than keep_firing_for, and the trouble is still there after it."""
    up = [float(not BREAK <= i < BREAK + 14) for i in range(MINUTES)]
    found = by_the_minute(tmp_path, gap({**CALM, **TROUBLES[name]}, 14), up)
    assert fires_on(found, name)
    assert {alert.name for alert in found} == {name, "RankingMonitorDown"}


@pytest.mark.parametrize("name", TROUBLES)
def test_a_restart_does_not_resolve_what_fires(name: str, tmp_path: Path) -> None:
    found = by_the_minute(tmp_path, restart({**CALM, **TROUBLES[name]}))
    assert fires_on(found, name)
    assert {alert.name for alert in found} == {name}


@pytest.mark.parametrize("minutes", [2, 12, MINUTES - BREAK])
def test_a_gap_is_no_trouble(minutes: int, tmp_path: Path) -> None:
    """Of every series at once, though the replica is up; the longest one lasts to the end."""
    assert by_the_minute(tmp_path, gap(CALM, minutes)) == []


@pytest.mark.parametrize("name", TROUBLES)
def test_a_series_that_is_missing_is_no_trouble(name: str, tmp_path: Path) -> None:
    """It alone, from the beginning: a replica that has not counted any yet."""
    assert by_the_minute(tmp_path, {one: CALM[one] for one in CALM.keys() - TROUBLES[name].keys()}) == []


@pytest.mark.parametrize("speed", [2, 6])
def test_a_restart_is_no_trouble(speed: int, tmp_path: Path) -> None:
    """The held impressions and what came in meanwhile are read, event time going back and catching up."""
    since = [i - BREAK for i in range(MINUTES)]
    behind: Samples = {
        RECORDS: counter([100.0] * BREAK + [2000.0] * 5 + [100.0] * (MINUTES - BREAK - 5)),
        REJECTED: counter([0.5] * MINUTES),
        LAG: [300.0 + (max(0, 60_000 - 12_000 * i) if i >= 0 else 0) for i in since],
        WATERMARK: [60.0 * (i + BREAK - 1 - (max(0, 30 - speed * i) if i >= 0 else 0)) for i in since],
        STARTED: [BREAK * 60.0 if i >= 0 else 0.0 for i in since],
    }
    assert by_the_minute(tmp_path, restart({**CALM, **behind})) == []
