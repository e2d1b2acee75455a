"""Judgments: at once and late, with second opinions and withdrawals, and never drifting from the truth."""

from collections import defaultdict
from functools import cache
from statistics import mean

from monitor.simulate.world import World
from tests.unit.simulate.runs import START, decoded

DAY = {"seconds": 8 * 3600.0, "rate": 0.05}


def first_judged(options):
    first = {}
    for event in decoded("judgment", **options):
        first.setdefault(event["query_id"], event["ts"])
    return first


def test_most_known_queries_are_judged_from_the_start_and_all_within_the_first_hour():
    known = {f"q1-{number:03}" for number in range(120)}
    first = {query: ts for query, ts in first_judged(DAY).items() if query in known}
    assert first.keys() == known
    assert 0.75 < mean(ts == START for ts in first.values()) < 0.95
    assert max(first.values()) <= START + 3600


def test_there_are_always_queries_that_are_judged_minutes_after_they_came_up():
    shown, judged = {}, first_judged({"seconds": 4 * 3600.0, "rate": 2.0})
    for event in decoded("impression", seconds=4 * 3600.0, rate=2.0):
        shown.setdefault(event["query_id"], event["ts"])
    for hour in range(3):
        begin = START + 3600 * hour
        delays = [judged[q] - ts for q, ts in shown.items() if begin <= ts < begin + 3600 and q in judged]
        assert sum(60 < delay < 3600 for delay in delays) > 20
    assert any(0 < judged[q] - ts < 60 for q, ts in shown.items() if q in judged)


def test_some_judgments_are_regraded_withdrawn_or_given_by_two_assessors():
    grades, assessors = defaultdict(list), defaultdict(set)
    for event in decoded("judgment", **DAY):
        pair = event["query_id"], event["key"]
        grades[*pair, event.get("assessor")].append(event["grade"])
        assessors[pair].add(event.get("assessor"))
    assert any(len(set(given) - {None}) > 1 for given in grades.values())
    assert any(None in given for given in grades.values())
    assert {"first", "second"} in assessors.values()
    assert {None} in assessors.values()
    assert mean(len(given) == 1 for given in grades.values()) > 0.8


def test_after_hours_the_judgments_are_still_the_truth():
    latest = {}
    for event in decoded("judgment", **DAY):
        latest[event["query_id"], event["key"], event.get("assessor")] = event["grade"]
    world = World(1)
    query = cache(lambda query_id: world.query(int(query_id.rpartition("-")[2])))
    wrong = [
        grade != query(q).grade(key) for (q, key, assessor), grade in latest.items() if assessor != "second"
    ]
    assert mean(wrong) < 0.02


def test_grades_are_0_to_3_and_copies_share_their_target():
    events = decoded("judgment", **DAY)
    assert {event["grade"] for event in events} == {0, 1, 2, 3, None}
    targets = {event["key"]: event["target"] for event in events}
    assert targets["d007"] == targets["d006"] == "d006"
    assert targets["d005"] == "d005"
