"""Health and timeliness: is the monitor up, and how far behind is it."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.layout import Row
from grafana.panels import (
    GREEN,
    RED,
    About,
    Query,
    Unit,
    higher_is_better,
    lines,
    lower_is_better,
    number,
    states,
)
from grafana.queries import TARGET, rate, ratio, select
from grafana.runbooks import Runbook
from monitor.export.catalogue import (
    COMMITTED,
    DECISION_DELAY,
    LAG,
    NEWEST,
    READY,
    RECORDS,
    REJECTED,
    REPLAY,
    WATERMARK,
)

BEHIND = f"time() - {select(WATERMARK.name)}"


def health() -> Row:
    """One number for each question."""
    return Row("Health", [_ready(), _lag_now(), _behind_now(), _rejected_now(), _up()])


def _ready() -> Builder[Panel]:
    return number(
        About(
            title="Ready",
            says="Share of the monitors in scope that are ready, as `/-/ready` says.",
            good="100%.",
            unit=Unit.SHARE,
            runbook=Runbook.DOWN,
        ),
        Query(f"avg({select(READY.name)})", "ready"),
        thresholds=higher_is_better(0.5, 1.0),
        width=6,
    )


def _lag_now() -> Builder[Panel]:
    return number(
        About(
            title="Lag",
            says="Records between the processed position and the end of the log, all partitions together.",
            good="a few seconds' worth of records. What counts is whether it grows.",
            unit=Unit.NUMBER,
            runbook=Runbook.LAG,
        ),
        Query(f"sum({select(LAG.name)})", "records"),
        thresholds=lower_is_better(10_000, 100_000),
        width=6,
    )


def _behind_now() -> Builder[Panel]:
    return number(
        About(
            title="Watermark delay",
            says="How far the slowest task's watermark is behind the clock. Nothing younger is decided.",
            good="`lateness_seconds` (60 by default) and a little more.",
            unit=Unit.SECONDS,
            runbook=Runbook.WATERMARK,
        ),
        Query(f"max({BEHIND})", "slowest task"),
        thresholds=lower_is_better(300, 900),
        width=6,
    )


def _rejected_now() -> Builder[Panel]:
    return number(
        About(
            title="Rejected",
            says="Share of records that are not events.",
            good="0. A producer's new version is the usual cause of anything else.",
            unit=Unit.SHARE,
            runbook=Runbook.REJECTIONS,
        ),
        Query(ratio(rate(REJECTED.name), rate(RECORDS.name)), "of all records"),
        thresholds=lower_is_better(0.001, 0.01),
        width=6,
    )


def _up() -> Builder[Panel]:
    return states(
        About(
            title="Scraped",
            says="Whether Prometheus reaches the monitor. Counters are published by scrapes: while this is "
            "red, nothing is lost, but nothing is shown either.",
            good="green throughout.",
            unit=Unit.NUMBER,
            runbook=Runbook.DOWN,
        ),
        Query(f"up{{{TARGET}}}", "{{instance}}"),
        {"0": ("down", RED), "1": ("up", GREEN)},
        width=24,
        height=5,
    )


def timeliness() -> Row:
    """How far behind, and where."""
    return Row("Timeliness", [_lag(), _watermark(), _newest(), _decision_delay(), _committed(), _replay()])


def _lag() -> Builder[Panel]:
    return lines(
        About(
            title="Lag by partition",
            says="Records between the processed position and the end of the partition. The committed offset "
            "is further behind on purpose: it is where a restart has to read from again.",
            good="low, level and alike. One partition that grows has a hot key or a stuck broker; all "
            "growing together means that the monitor is too slow or has just started.",
            unit=Unit.NUMBER,
            runbook=Runbook.LAG,
        ),
        Query(f"sum by (topic, partition) ({select(LAG.name)})", "{{topic}}-{{partition}}"),
        width=12,
    )


def _watermark() -> Builder[Panel]:
    return lines(
        About(
            title="Watermark delay by task",
            says="Clock minus watermark: how old the youngest event is up to which all is decided.",
            good="level at `lateness_seconds` and a little more. A line that climbs by a second a second is "
            "a partition that brings nothing and cannot be read to its end.",
            unit=Unit.SECONDS,
            runbook=Runbook.WATERMARK,
        ),
        Query(f"max by (task) ({BEHIND})", "task {{task}}"),
        width=12,
    )


def _newest() -> Builder[Panel]:
    return lines(
        About(
            title="Age of the newest event by partition",
            says="Clock minus the largest event time that the partition has brought.",
            good="seconds. Much more on one topic: its producer is silent or its clock is wrong. Below 0: a "
            "clock is ahead.",
            unit=Unit.SECONDS,
            runbook=Runbook.NO_EVENTS,
        ),
        Query(f"max by (topic, partition) (time() - {select(NEWEST.name)})", "{{topic}}-{{partition}}"),
        width=12,
    )


def _decision_delay() -> Builder[Panel]:
    buckets = rate(DECISION_DELAY.name, "le", "delay", part="_bucket")
    return lines(
        About(
            title="Decision delay, 95% within",
            says="How long after its deadline an impression was decided, by the delay of the deadline.",
            good="about `lateness_seconds`. More is lag, or a slow partition that others wait for.",
            unit=Unit.SECONDS,
            runbook=Runbook.WATERMARK,
        ),
        Query(f"histogram_quantile(0.95, {buckets})", "due after {{delay}}"),
        width=12,
    )


def _committed() -> Builder[Panel]:
    return lines(
        About(
            title="Age of the last commit",
            says="How long ago counts were last committed to Kafka: by default that is when a scrape had "
            "shown them. A restart reads again from there.",
            good="one scrape interval, and level. A line that climbs: no scrape acknowledges, or Kafka takes "
            "no commits.",
            unit=Unit.SECONDS,
            runbook=Runbook.COMMITS,
        ),
        Query(f"time() - {select(COMMITTED.name)}", "{{instance}}"),
        width=12,
    )


def _replay() -> Builder[Panel]:
    return lines(
        About(
            title="Left to read again",
            says="Records still to be read again after a restart or a takeover. They rebuild what is held "
            "and are not counted twice; the monitor is not ready meanwhile.",
            good="0, and after a restart a quick fall to 0.",
            unit=Unit.NUMBER,
            runbook=Runbook.DOWN,
        ),
        Query(select(REPLAY.name), "{{instance}}"),
        width=12,
    )
