"""Health and numbers as a person would say them."""

from monitor.web.view import Health, Status


def headline(health: Health, status: Status) -> str:
    """The one sentence that stands first."""
    if health.healthy and health.ready:
        return f"Healthy: {progress(status)}"
    return trouble(health)


def trouble(health: Health) -> str:
    """What is the matter, with the first of the reasons.

    >>> trouble(Health(healthy=True, ready=False, lines=["the judgments are still being read"]))
    'Not ready: the judgments are still being read'
    """
    return ": ".join(["Unhealthy" if not health.healthy else "Not ready", *health.lines[:1]])


def progress(status: Status) -> str:
    """How far the reading has come.

    >>> seen = dict(records=9, rejected=0, open_impressions=0, pending_interactions=0, judgments=0)
    >>> progress(Status(version="1", partitions=3, lag=12, event_time_age=64.2, **seen))
    'reading 3 partitions, 12 records behind, event time 64 s ago'
    >>> progress(Status(version="1", partitions=1, lag=0, event_time_age=None, **seen))
    'reading 1 partition, no record behind, no event time yet'
    """
    lag = f"{count(status.lag, 'record')} behind"
    return f"reading {count(status.partitions, 'partition')}, {lag}, {_event_time(status.event_time_age)}"


def count(number: int, noun: str) -> str:
    """A number of things.

    >>> [count(n, "record") for n in (0, 1, 12345)]
    ['no record', '1 record', '12,345 records']
    """
    if number == 0:
        return f"no {noun}"
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def duration(seconds: float) -> str:
    """About how long, in the unit that reads best.

    >>> [duration(s) for s in (0.4, 64.2, 600, 7200, 200_000)]
    ['0 s', '64 s', '10 min', '2 h', '2 d']
    """
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def _event_time(age: float | None) -> str:
    return "no event time yet" if age is None else f"event time {duration(age)} ago"
