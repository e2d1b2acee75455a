"""What a commit remembers: read back exactly, or not at all."""

import contextlib
import json
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.stream.checkpoint import (
    Checkpoint,
    Delays,
    Unreadable,
    decode,
    encode,
    higher,
    latest,
    lower,
    not_after,
    of_task,
)

NOW = 1_767_225_600.0
offsets = st.integers(0, 2**63 - 1)
topics = st.text(st.characters(codec="utf-8"), max_size=20)
delays = st.floats(0, 1e9)
checkpoints = st.builds(
    Checkpoint,
    positions=st.dictionaries(topics, offsets, max_size=4),
    watermark=st.floats(allow_nan=False, allow_infinity=False) | st.just(-math.inf),
    sequence=st.integers(0, 2**53),
    delays=st.none() | st.builds(Delays, delays, st.tuples(delays, delays)),
    apart=st.dictionaries(st.sampled_from(["clicks", "settled", "60"]), st.none() | delays),
    late=st.dictionaries(topics, st.lists(offsets, max_size=5), max_size=2),
)


def at(positions, watermark, **more):
    return Checkpoint(positions=positions, watermark=watermark, **more)


drawn = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@drawn
@given(checkpoints)
def test_what_was_stored_is_read_back(checkpoint):
    assert decode(encode(checkpoint)) == checkpoint


def test_the_text_is_small_plain_json():
    counted = Checkpoint(
        positions={"shown": 12_345_678_901, "done": 98_765_432_109},
        watermark=1_767_225_600.123,
        sequence=77,
        delays=Delays(300, (60, 3600)),
        late={"shown": [12_345_678_890]},
    )
    text = encode(counted)
    assert json.loads(text) == {
        "v": 2,
        "n": 77,
        "p": {"shown": 12_345_678_901, "done": 98_765_432_109},
        "s": 1_767_225_600.123,
        "d": {"attribution": 300, "maturities": [60, 3600]},
        "late": {"shown": [12_345_678_890]},
    }
    assert len(text) < 250


def test_a_watermark_at_the_end_of_time_is_stored_as_none_was_reached():
    stored = encode(Checkpoint(positions={"a": 1}, watermark=math.inf))
    assert decode(stored) == Checkpoint(positions={"a": 1}, watermark=-math.inf)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "offset of someone else",
        '{"v":2,"n":1,"p":{"a":5},"s":1.0',
        '{"v":"2","n":1,"p":{"a":5},"s":1.0}',
        '{"n":1,"p":{"a":5},"s":1.0}',
        '{"v":2,"n":1,"s":1.0}',
        '{"v":2,"p":{"a":5},"s":1.0}',
        '{"v":2,"n":1,"p":{"a":5}}',
        '{"v":2,"n":1,"p":{"a":-1},"s":1.0}',
        '{"v":2,"n":1,"p":{"a":1.5},"s":1.0}',
        '{"v":2,"n":1,"p":["a"],"s":1.0}',
        '{"v":2,"n":1,"p":{"a":5},"s":"now"}',
        '{"v":2,"n":1,"p":{"a":5},"s":NaN}',
        '{"v":2,"n":1,"p":{"a":5},"s":1e999}',
        '{"v":2,"n":1,"p":{"a":5},"s":1.0,"d":{"attribution":-1,"maturities":[]}}',
        '{"v":2,"n":1,"p":{"a":5},"s":1.0,"late":{"a":[-1]}}',
        "[]",
        "null",
        '{"v":2,"n":1,"p":{"a":5},"s":1.0,"more":' + "[" * 5000 + "]" * 5000 + "}",
    ],
    ids=lambda text: text[:40] or "absent",
)
def test_what_is_damaged_is_refused(text):
    with pytest.raises(Unreadable, match="damaged"):
        decode(text)


@pytest.mark.parametrize("version", [1, 3, 1000])
def test_what_another_version_wrote_is_refused_whatever_it_holds(version):
    with pytest.raises(Unreadable, match=f"of version {version}, and this program knows version 2"):
        decode(f'{{"v":{version},"anything":[1]}}')


@drawn
@given(st.text())
@example("\ud800")
def test_whatever_text_stands_there_it_is_read_or_refused(text):
    with contextlib.suppress(Unreadable):
        decode(text)


@drawn
@given(checkpoints, st.data())
def test_a_checkpoint_that_was_cut_off_is_refused(checkpoint, data):
    text = encode(checkpoint)
    with pytest.raises(Unreadable):
        decode(text[: data.draw(st.integers(0, len(text) - 1))])


def test_of_what_the_partitions_of_a_task_say_the_lower_counts():
    found = lower([at({"shown": 5, "done": 9}, 100.0), at({"shown": 7, "done": 8}, 90.0)])
    assert found == at({"shown": 5, "done": 8}, 90.0)


def test_a_topic_that_one_partition_does_not_know_was_not_counted():
    found = lower([at({"shown": 5}, 100.0), at({"shown": 7, "done": 8}, 100.0)])
    assert found.positions == {"shown": 5, "done": 0}


def test_of_what_the_log_and_this_process_know_all_is_counted_that_either_has_counted():
    found = higher(at({"shown": 5, "done": 9}, 100.0), at({"shown": 7}, 90.0))
    assert found == at({"shown": 7, "done": 9}, 100.0)


def test_where_only_one_knows_anything_that_counts():
    known = at({"shown": 5}, 100.0)
    assert higher(known, None) == higher(None, known) == known
    assert higher(None, None) is None


def test_the_checkpoint_of_a_task_is_the_lower_of_its_partitions():
    stored = {
        "shown": encode(at({"shown": 5, "done": 9}, 100.0)),
        "done": encode(at({"shown": 4, "done": 9}, 99.0)),
    }
    assert of_task(stored) == at({"shown": 4, "done": 9}, 99.0)


def test_a_topic_that_was_added_later_has_no_part_in_the_checkpoint():
    known = at({"shown": 5}, 1.0)
    assert of_task({"shown": encode(known), "done": ""}) == known


def test_a_task_of_which_one_partition_is_damaged_is_refused():
    with pytest.raises(Unreadable):
        of_task({"shown": encode(at({"shown": 5}, 1.0)), "done": "damaged"})


def test_a_task_of_which_nothing_was_stored_has_no_checkpoint():
    assert of_task({"shown": "", "done": ""}) is None


def test_late_impressions_of_all_that_is_known_stay_late():
    one, other = at({"a": 5}, 1.0, late={"a": [1, 3]}), at({"a": 5}, 1.0, late={"a": [2, 3], "b": [7]})
    assert lower([one, other]).late == {"a": [1, 2, 3], "b": [7]}
    found = higher(one, other)
    assert found is not None
    assert found.late == {"a": [1, 2, 3], "b": [7]}


def test_a_task_without_partitions_has_no_checkpoint():
    assert of_task({}) is None


def test_a_checkpoint_can_be_taken_back_to_a_time():
    ahead = at({"shown": 5}, 900.0, apart={"clicks": 800.0, "settled": 90.0, "60": None})
    assert not_after(ahead, 100.0) == at(
        {"shown": 5}, 100.0, apart={"clicks": 100.0, "settled": 90.0, "60": None}
    )


def test_offsets_of_records_too_far_ahead_are_kept_as_those_of_late_impressions_are():
    one, other = at({"a": 5}, 1.0, ahead={"a": [1, 3]}), at({"a": 5}, 1.0, ahead={"a": [2]})
    assert decode(encode(one)) == one
    assert lower([one, other]).ahead == {"a": [1, 2, 3]}
    found = higher(one, other)
    assert found is not None
    assert found.ahead == {"a": [1, 2, 3]}


def test_what_this_version_stores_is_read_by_0_1_and_the_other_way_round():
    """A rolling upgrade has both in one group; 0.1 passes over the field that it does not know."""
    stored = encode(at({"a": 5}, 1.0, late={"a": [1]}, ahead={"a": [3]}))
    assert json.loads(stored) == {
        "v": 2,
        "n": 0,
        "p": {"a": 5},
        "s": 1.0,
        "late": {"a": [1]},
        "ahead": {"a": [3]},
    }
    by_0_1 = (
        '{"v":2,"n":7,"p":{"a":5},"s":1.0,"d":{"attribution":300.0,"maturities":[60.0]},"late":{"a":[1]}}'
    )
    assert decode(by_0_1) == at({"a": 5}, 1.0, sequence=7, delays=Delays(300.0, (60.0,)), late={"a": [1]})


def test_a_topic_that_was_made_anew_is_counted_from_its_beginning_whatever_the_others_say():
    stored = encode(at({"shown": 50, "done": 70}, 1.0))
    assert of_task({"shown": "", "done": stored}) == at({"done": 70}, 1.0)


def test_the_text_never_grows_beyond_what_brokers_take():
    late = {f"topic-{n}-{'x' * 40}": [10**10 + 7 * i for i in range(100)] for n in range(6)}
    text = encode(at(dict.fromkeys(late, 10**10), 1.0, late=late))
    assert len(text.encode()) <= 3000
    kept = decode(text).late
    assert kept
    assert all(offsets == late[topic][-len(offsets) :] for topic, offsets in kept.items())


def test_no_maturities_are_read_without_an_error():
    stored = '{"v":2,"n":1,"p":{"a":5},"s":1.0,"d":{"attribution":300,"maturities":[]}}'
    found = decode(stored).delays
    assert found is not None
    assert found.last == 300


@pytest.mark.parametrize("kind", ["clicks", "settled", "60"])
def test_a_kind_of_deadline_that_is_counted_until_the_far_future_is_taken_back(kind):
    """Nothing of that kind would ever be counted again, and every commit would say so once more."""
    far = at({"a": 1}, NOW, apart={kind: NOW + 90_000}, delays=Delays(300, (60,)))
    assert latest(far) > NOW
    assert not_after(far, NOW).apart == {kind: NOW + 300}


def test_deadlines_that_moved_on_with_a_longer_delay_are_not_the_future():
    week = 7 * 86_400.0
    moved = at({"a": 1}, NOW, apart={"clicks": NOW + week}, delays=Delays(week, (60,)))
    assert latest(moved) == NOW
    assert not_after(moved, NOW) == moved


@pytest.mark.parametrize(
    "text",
    [
        '{"v":2,"n":1,"p":{"a":18446744073709551615},"s":1}',
        '{"v":2,"n":1,"p":{},"s":1,"d":{"attribution":1e300,"maturities":[]}}',
    ],
)
def test_what_no_broker_and_no_configuration_has_is_refused(text):
    with pytest.raises(Unreadable, match="damaged"):
        decode(text)
