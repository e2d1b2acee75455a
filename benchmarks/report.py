"""The page with the results, benchmarks/RESULTS.md, from what lies in .cache/bench.

    python -m benchmarks.report

It measures nothing: each figure leaves a JSON file, some a text file, and what is missing is said to be.
"""

import os
import platform
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.figures.plot import draw
from benchmarks.figures.result import FOLDER, Goal
from benchmarks.figures.sweep import Point
from tests.support.kafka.jars import kafka_version

PAGE = Path(__file__).with_name("RESULTS.md")
PICTURE = PAGE.with_name("results.svg")
FIGURES = {
    "sweep": "benchmarks.figures.sweep",
    "memory": "benchmarks.figures.memory",
    "catch_up": "benchmarks.figures.catch_up",
    "idle": "benchmarks.figures.idle",
    "replicas": "benchmarks.figures.replicas",
    "render": "benchmarks.render",
    "start": "benchmarks.start",
}
"""Name of the result -> what makes it."""
PRINTED = {"render": "What a scrape costs", "start": "How long a start takes"}
"""Programs that print their figures -> the heading."""
SPEEDS = {
    "aiokafka, looks at nothing": 0.5,
    "afternoon version": 10.0,
    "Quix Streams, its windows": 5.0,
    "Quix Streams, join in dicts": 5.0,
    "Bytewax, join in dicts": 5.0,
    "Faust, join in dicts": 5.0,
}
"""Program -> how many times as many events a second the daemon is to take."""
PACKAGES = ("aiokafka", "numpy", "msgspec", "pydantic", "prometheus-client")
REQUIREMENTS = Path(__file__).parent / "throughput" / "rivals" / "requirements"
DAEMON = "ranking-monitor"


def main() -> None:
    """Write the page, and the picture where there is a sweep."""
    if swept := read("sweep"):
        draw([msgspec.convert(point, Point) for point in swept["points"]], PICTURE)
    PAGE.write_text("\n".join(page()) + "\n")
    print(f"{PAGE} written")


def page() -> Iterator[str]:
    """The lines of the page."""
    yield from ("# Measured", "", "Written by `python -m benchmarks.report`; do not edit.", "")
    yield from machine()
    yield from ("", "## Goals", "")
    yield from goals()
    yield from ("", "## Throughput", "")
    yield from throughput()
    yield from ("", "## What an event costs", "")
    yield from sweep()
    for name, title in PRINTED.items():
        yield from ("", f"## {title}", "")
        yield from printed(name)


def machine() -> Iterator[str]:
    """What it was measured on."""
    model = re.search(r"model name\s*: (.+)", Path("/proc/cpuinfo").read_text())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    yield f"- Written {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load average {os.getloadavg()[0]:.1f}"
    yield f"- {os.cpu_count()} cores, {model[1] if model else platform.machine()}, {memory:.0f} GB of memory"
    yield f"- Python {platform.python_version()}, {packages}, Kafka {kafka_version()} on the same machine"
    yield f"- The others: {', '.join(rivals())}"


def rivals() -> Iterator[str]:
    """The packages that the other programs ask for, each in an environment of its own."""
    for file in sorted(REQUIREMENTS.glob("*.txt")):
        for line in file.read_text().splitlines():
            if line and not line.startswith("#"):
                yield line.replace("==", " ")


def goals() -> Iterator[str]:
    """One table of all goals, then what was run for each."""
    ran: list[str] = []
    yield from table_head("goal", "limit", "measured", "")
    yield from speeds()
    for name, module in FIGURES.items():
        found = read(name)
        if found is None:
            yield row(f"{name}: missing, run `python -m {module}`", "", "", "missing")
            continue
        yield from map(goal_row, msgspec.convert(found["goals"], list[Goal]))
        ran.append(f"- {name}, {made(name):%Y-%m-%d %H:%M}: {found['ran']}")
    yield from ("", "What was run:", "", *ran)


def goal_row(goal: Goal) -> str:
    limit = f"at {'least' if goal.at_least else 'most'} {number(goal.limit)} {goal.unit}".strip()
    measured = f"{number(goal.measured)} {goal.unit}".strip()
    return row(goal.what, limit, measured, "met" if goal.met else "**short**")


def speeds() -> Iterator[str]:
    """Events a second of the daemon, by those of each other program, whether it ran or not."""
    programs = (read("throughput") or {"programs": []})["programs"]
    found = {p["name"]: p["events_per_second"]["median"] for p in programs if p["rounds"]}
    for name, times in SPEEDS.items():
        what = f"events a second, daemon / {name}"
        if DAEMON in found and name in found:
            yield goal_row(Goal(what, times, found[DAEMON] / found[name], at_least=True))
        else:
            yield row(what, f"at least {number(times)}", "", "**not measured**")


def throughput() -> Iterator[str]:
    """The daemon beside other programs that read the same topics."""
    found = read("throughput")
    if found is None:
        yield "Missing: run `python -m benchmarks.throughput`."
        return
    programs = found["programs"]
    rounds = max(len(program["rounds"]) for program in programs)
    load = found["load_average"][0]
    yield (
        f"{found['workload']['events']:,} events of depth {found['workload']['depth']}, {rounds} rounds,"
        f" {made('throughput'):%Y-%m-%d %H:%M}, load average {load:.1f}. Medians; the ratios are the"
        " daemon's figure by that of the row."
    )
    yield ""
    heads = ("program", "events/s", "rounds", "CPU µs/event", "rounds", "peak MB", "speed x", "CPU x")
    yield from table_head(*heads)
    daemon = next((p for p in programs if p["name"] == DAEMON and p["rounds"]), None)
    for program in programs:
        if not program["rounds"]:
            yield row(program["name"], "failed", *[""] * 6)
            continue
        speed, cpu = program["events_per_second"], program["cpu_micros"]
        yield row(
            program["name"],
            f"{speed['median']:,.0f}",
            f"{speed['low']:,.0f} to {speed['high']:,.0f}",
            f"{cpu['median']:.2f}",
            f"{cpu['low']:.2f} to {cpu['high']:.2f}",
            f"{program['peak_bytes']['median'] / 1e6:.0f}",
            f"{daemon['events_per_second']['median'] / speed['median']:.2f}" if daemon else "",
            f"{daemon['cpu_micros']['median'] / cpu['median']:.2f}" if daemon else "",
        )
    for program in programs:
        if program["failure"]:
            yield from ("", f"{program['name']} failed: {program['failure'].splitlines()[0]}")
    yield ""
    yield found["compared"]
    yield from (f"- {line}" for line in found["disagreements"])


def sweep() -> Iterator[str]:
    """The picture, and its numbers."""
    found = read("sweep")
    if found is None:
        yield "Missing: run `python -m benchmarks.figures.sweep`."
        return
    yield "![Events a second against k, label sets, depth and open impressions](results.svg)"
    yield ""
    yield "The engine alone, without Kafka, on one core: decoding, joining, scoring, windows."
    yield ""
    yield from table_head("of", "value", "CPU µs/event", "rounds", "events/s")
    for point in msgspec.convert(found["points"], list[Point]):
        micros = point.micros
        yield row(
            point.dimension.replace("_", " "),
            f"{point.value:,}",
            f"{micros.median:.2f}",
            f"{micros.low:.2f} to {micros.high:.2f}",
            f"{point.events_per_second:,.0f}",
        )


def printed(name: str) -> Iterator[str]:
    """What a program said, as it said it."""
    path = FOLDER / f"{name}.txt"
    if not path.exists():
        yield f"Missing: run `python -m benchmarks`, or `python -m benchmarks.{name}` to see it."
        return
    yield from ("```text", *path.read_text().rstrip().splitlines(), "```")


def read(name: str) -> dict[str, Any] | None:
    """A result, if it is there."""
    path = FOLDER / f"{name}.json"
    return msgspec.json.decode(path.read_bytes(), type=dict[str, Any]) if path.exists() else None


def made(name: str) -> datetime:
    """When a result was written."""
    return datetime.fromtimestamp((FOLDER / f"{name}.json").stat().st_mtime, UTC)


def number(value: float) -> str:
    """As many digits as say something.

    >>> number(0), number(1.4567), number(412.34), number(1234567.0)
    ('0', '1.46', '412', '1,234,567')
    """
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


def table_head(*titles: str) -> Iterator[str]:
    yield row(*titles)
    yield row(*["---"] + ["---:"] * (len(titles) - 1))


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
