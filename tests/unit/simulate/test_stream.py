"""The stream: repeatable, ordered, at its rate, and every event as the schema wants it."""

import base64
import math
from collections import Counter
from itertools import islice, pairwise

import msgspec
import pytest

from monitor.events import MAX_ID_LENGTH, Rejected, decode, judgment_key
from monitor.simulate.scenarios import SCENARIOS
from monitor.simulate.stream import Simulation
from monitor.simulate.world import DIMENSION
from tests.unit.simulate.runs import START, decoded, events

REQUIRED = {
    "impression": {"impression_id": str, "query_id": str, "ts": float, "ranked": list},
    "click": {"impression_id": str, "ts": float},
    "dwell": {"impression_id": str, "ts": float, "dwell_seconds": float},
    "outcome": {"impression_id": str, "ts": float},
    "judgment": {"query_id": str, "key": str, "ts": float, "grade": int | None},
}
OPTIONAL = {
    "impression": {"labels": dict, "session_id": str, "latency_seconds": float, "embeddings": list},
    "click": {"key": str, "position": int, "dwell_seconds": float},
    "dwell": {"key": str, "position": int},
    "outcome": {"outcome": str, "max_scroll_position": int},
    "judgment": {"assessor": str, "target": str},
}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_event_has_the_fields_of_the_schema_and_no_others(scenario):
    for event in decoded(*REQUIRED, scenario=scenario, seconds=900.0):
        kind = event.pop("type")
        allowed = REQUIRED[kind] | OPTIONAL[kind]
        assert REQUIRED[kind].keys() <= event.keys() <= allowed.keys()
        assert all(isinstance(value, allowed[name]) for name, value in event.items())
        numbers = [value for value in event.values() if isinstance(value, float | int)]
        assert all(math.isfinite(value) and value >= 0 for value in numbers)
        texts = [value for value in event.values() if isinstance(value, str)]
        assert all(0 < len(value) <= MAX_ID_LENGTH for value in texts)
        assert kind not in ("click", "dwell") or "key" in event or "position" in event
        assert event.get("outcome", "successful") in ("successful", "unsuccessful")
        assert event.get("position", 1) >= 1
        ranked = event.get("ranked", [])
        assert len(set(ranked)) == len(ranked) <= 1000


@pytest.mark.parametrize("embeddings", [False, True])
def test_the_decoder_takes_every_event(embeddings):
    for event in events("bad-deploy", seconds=60.0, embeddings=embeddings):
        assert not isinstance(decode(event.value, event.ts), Rejected)


def test_two_runs_give_the_same_bytes():
    simulation = Simulation(SCENARIOS["bad-deploy"], seed=4, queries_per_second=10, start=START)
    again = Simulation(SCENARIOS["bad-deploy"], seed=4, queries_per_second=10, start=START)
    first = list(islice(simulation.events(), 20_000))
    assert first == list(islice(simulation.events(), 20_000))
    assert first == list(islice(again.events(), 20_000))


def test_other_seeds_and_starts_have_other_impressions():
    def ids(seed, start):
        run = Simulation(SCENARIOS["steady"], seed=seed, queries_per_second=10, start=start).events()
        return {event.key for event in islice(run, 5000) if event.role == "impression"}

    one = ids(1, START)
    assert one.isdisjoint(ids(2, START))
    assert one.isdisjoint(ids(1, START + 1))


def test_another_seed_has_other_queries_so_that_judgments_do_not_mix():
    one = {event["query_id"] for event in decoded("judgment")}
    assert one.isdisjoint(event["query_id"] for event in decoded("judgment", seed=2))


def test_events_come_in_order_of_time_in_milliseconds():
    run = events()
    assert run[0].ts == START
    assert all(one.ts <= other.ts for one, other in pairwise(run))
    assert all(msgspec.json.decode(event.value)["ts"] == event.ts == round(event.ts, 3) for event in run)


@pytest.mark.parametrize("rate", [0.5, 10.0, 30.0])
def test_impressions_come_at_the_rate(rate):
    expected = rate * 600
    assert abs(len(decoded("impression", rate=rate)) - expected) < 5 * math.sqrt(expected)


def test_record_keys_keep_together_what_belongs_together():
    for event in events():
        fields = msgspec.json.decode(event.value)
        if event.role == "judgment":
            assert event.key == judgment_key(decode(event.value, event.ts))
        else:
            assert event.key == fields["impression_id"].encode()


def test_interactions_follow_their_impression_and_name_what_it_showed():
    shown = {event["impression_id"]: event for event in decoded("impression")}
    interactions = decoded("click", "dwell", "outcome")
    assert len(interactions) > len(shown)
    for event in interactions:
        impression = shown[event["impression_id"]]
        assert event["ts"] > impression["ts"]
        if "key" in event:
            rank = impression["ranked"].index(event["key"]) + 1
            assert event.get("position", rank) == rank


def test_traffic_is_split_by_session_and_queries_come_back():
    impressions = decoded("impression", rate=30.0)
    variants, sessions = Counter(), {}
    for event in impressions:
        variants[event["labels"]["variant"]] += 1
        assert sessions.setdefault(event["session_id"], event["labels"]) == event["labels"]
    assert variants.keys() == {"control", "candidate"}
    assert 0.45 < variants["control"] / len(impressions) < 0.55
    assert len(sessions) < len(impressions)
    by_query = Counter(event["query_id"] for event in impressions).most_common()
    assert by_query[0][1] > 3 * by_query[20][1]


def test_a_small_share_of_lists_is_empty():
    impressions = decoded("impression", rate=30.0)
    assert 0.003 < sum(not event["ranked"] for event in impressions) / len(impressions) < 0.03


def test_embeddings_are_sent_only_on_request():
    assert not any("embeddings" in event for event in decoded("impression"))
    for event in decoded("impression", seconds=60.0, embeddings=True):
        assert len(event["embeddings"]) == len(event["ranked"])
        assert all(len(base64.b64decode(vector)) == 4 * DIMENSION for vector in event["embeddings"])
