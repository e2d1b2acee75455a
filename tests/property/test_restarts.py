"""Restarts: however late clicks are, and in whatever order topics are read again, each has one fate."""

import json
from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import Any, NamedTuple

import pytest

from monitor.stream.records import CREATE_TIME, Chunk, Start
from tests.unit.stream.timeline import HOUR, NOW, SPLIT, Record, Timeline, click, impression

A, LATENESS = 10, 5
"""Attribution and lateness, in seconds."""
RUNS = 60
LAST_DEADLINES = {"before the last click could come": [3], "after it": [20, 40]}


class Written(NamedTuple):
    """A record of the log."""

    topic: str
    record: Record


def written(chosen: Random) -> list[Written]:
    """Impressions in order, and clicks on them that may be late by more than the lateness."""
    events: list[tuple[float, str, dict[str, Any]]] = []
    for number in range(12):
        at = number * 4.0
        events.append((at, "shown", impression(f"i{number}", at)))
        clicked = at + chosen.uniform(0, A)
        events.append((clicked + chosen.uniform(0, 15), "done", click(f"i{number}", clicked)))
        events.append((at, "done", click(f"nobody{number}", at)))
    offsets: Counter[str] = Counter()
    found = []
    for at, topic, event in sorted(events, key=lambda one: one[0]):
        value, stamp = json.dumps(event).encode(), int((HOUR + at) * 1000)
        found.append(Written(topic, Record(value, offsets[topic], None, stamp, CREATE_TIME)))
        offsets[topic] += 1
    return found


def interleaved(chosen: Random, log: Sequence[Written]) -> list[Written]:
    """The same with the topics read in another order, each in its own."""
    left = {topic: [one for one in log if one.topic == topic] for topic in SPLIT}
    found: list[Written] = []
    while any(left.values()):
        topic = chosen.choice([topic for topic, records in left.items() if records])
        count = chosen.randint(1, 6)
        found += left[topic][:count]
        left[topic] = left[topic][count:]
    return found


def feed(line: Timeline, log: Sequence[Written]) -> None:
    for topic, record in log:
        line.engine.ingest(Chunk(topic, 0, [record]), NOW)
        line.engine.advance(NOW)


def ended(*lines: Timeline) -> Counter[str]:
    """How many events of each type have a fate."""
    found: Counter[str] = Counter()
    for line in lines:
        for (kind, _), count in line.snapshot.fates.items():
            found[kind] += count
    return +found


@pytest.mark.parametrize("maturities", LAST_DEADLINES.values(), ids=LAST_DEADLINES)
def test_each_record_has_one_fate_over_a_restart(maturities: list[int]) -> None:
    config = {"attribution_seconds": A, "lateness_seconds": LATENESS, "judgments": {"maturities": maturities}}
    for seed in range(RUNS):
        chosen = Random(seed)
        log = interleaved(chosen, written(chosen))
        read = log[: chosen.randrange(len(log) // 2, len(log))]
        first, second = Timeline(SPLIT, **config), Timeline(SPLIT, begin=False, **config)
        feed(first, read)
        commits = first.engine.checkpoints()
        starts = {tp: Start(*at, fresh=False, from_beginning=False) for tp, at in commits.items()}
        second.engine.assign(starts, NOW)
        again = [*interleaved(chosen, read), *log[len(read) :]]
        feed(second, [one for one in again if one.record.offset >= starts[one.topic, 0].offset])
        second.finish()
        came = Counter("impression" if topic == "shown" else "click" for topic, _ in log)
        assert ended(first, second) == came, f"seed {seed}"
