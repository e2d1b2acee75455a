"""The process: what it holds, what a scrape costs, and whether it stays up."""

from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import Panel

from grafana.layout import Row
from grafana.panels import About, Query, Unit, grid, lines
from grafana.queries import TARGET, rate, select
from grafana.runbooks import Runbook
from monitor.export.catalogue import BUILD_INFO, CONFIG_INFO, JUDGMENTS, OPEN, PENDING, STALL_SECONDS

INSTANCE = "{{instance}}"


def process() -> Row:
    """What the monitor costs."""
    panels = [
        _held(),
        _memory(),
        _cpu(),
        _scrape_time(),
        _scrape_samples(),
        _stalls(),
        _restarts(),
        _versions(),
    ]
    return Row("Cost and restarts", panels)


def _held() -> Builder[Panel]:
    held = {"open impressions": OPEN, "pending interactions": PENDING, "judgments": JUDGMENTS}
    return lines(
        About(
            title="Held",
            says="Impressions until their last deadline, interactions without a fate, judgments in the "
            "table.",
            good="following the traffic of the longest maturity. It is most of the memory.",
            unit=Unit.NUMBER,
            runbook=Runbook.EVICTING,
        ),
        *(Query(f"sum({select(family.name)})", name) for name, family in held.items()),
        width=8,
    )


def _memory() -> Builder[Panel]:
    return lines(
        About(
            title="Memory",
            says="Resident memory of each process.",
            good="level once the longest maturity has passed since the start, and well below the limit.",
            unit=Unit.BYTES,
            runbook=Runbook.CRASH_LOOP,
        ),
        Query(f"process_resident_memory_bytes{{{TARGET}}}", INSTANCE),
        width=8,
    )


def _cpu() -> Builder[Panel]:
    return lines(
        About(
            title="CPU",
            says="Cores that each process uses.",
            good="below 0.7: it runs on one core, and needs the rest to catch up after a restart.",
            unit=Unit.NUMBER,
            runbook=Runbook.LAG,
        ),
        Query(f"rate(process_cpu_seconds_total{{{TARGET}}}[$__rate_interval])", INSTANCE),
        width=8,
    )


def _scrape_time() -> Builder[Panel]:
    return lines(
        About(
            title="Scrape time",
            says="How long a scrape takes, as Prometheus sees it.",
            good="well below the scrape timeout (10 s by default): a scrape that fails is repeated with the "
            "same numbers.",
            unit=Unit.SECONDS,
            runbook=Runbook.DOWN,
        ),
        Query(f"scrape_duration_seconds{{{TARGET}}}", INSTANCE),
        width=8,
    )


def _scrape_samples() -> Builder[Panel]:
    return lines(
        About(
            title="Series in a scrape",
            says="Samples that a scrape brings: metrics times cut-offs times maturities times values of the "
            "labels.",
            good="level. Steps up are new values of a label; each costs Prometheus memory.",
            unit=Unit.NUMBER,
            runbook=Runbook.DOWN,
        ),
        Query(f"scrape_samples_scraped{{{TARGET}}}", INSTANCE),
        width=8,
    )


def _stalls() -> Builder[Panel]:
    return lines(
        About(
            title="Stalls",
            says="Share of time in which the event loop did not get on.",
            good="0. More: too little CPU (throttling), swapping, or a disk that hangs.",
            unit=Unit.SHARE,
            runbook=Runbook.LAG,
        ),
        Query(rate(STALL_SECONDS.name, "instance"), INSTANCE),
        width=8,
    )


def _restarts() -> Builder[Panel]:
    return lines(
        About(
            title="Restarts in an hour",
            says="How often the process at this address has started anew in the last hour.",
            good="0, and 1 after a deployment.",
            unit=Unit.NUMBER,
            runbook=Runbook.CRASH_LOOP,
        ),
        Query(f"changes(process_start_time_seconds{{{TARGET}}}[1h])", INSTANCE),
        width=12,
    )


def _versions() -> Builder[Panel]:
    return grid(
        About(
            title="Versions and start",
            says="What runs where: version, Python, hash of the configuration, time since the start.",
            good="one version and one hash on all instances, but during a rollout.",
            unit=Unit.SECONDS,
            runbook=Runbook.CRASH_LOOP,
        ),
        [Query(_since_start(), "running for")],
        width=12,
    )


def _since_start() -> str:
    uptime = f"(time() - process_start_time_seconds{{{TARGET}}})"
    build = f"* on (job, instance) group_left (version, python) {select(BUILD_INFO.name)}"
    return f"{uptime} {build} * on (job, instance) group_left (hash) {select(CONFIG_INFO.name)}"
