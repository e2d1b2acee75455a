"""What a commit remembers: read back exactly, or not at all."""

import json
import math

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor.stream.checkpoint import Checkpoint, decode, encode, higher, lower, of_task

offsets = st.integers(0, 2**63 - 1)
checkpoints = st.builds(
    Checkpoint,
    st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=20), offsets, max_size=4),
    st.floats(allow_nan=False, allow_infinity=False) | st.just(-math.inf),
)

drawn = settings(max_examples=60, deadline=None, derandomize=True, database=None)


@drawn
@given(checkpoints)
def test_what_was_stored_is_read_back(checkpoint):
    assert decode(encode(checkpoint)) == checkpoint


def test_the_text_is_small_plain_json():
    text = encode(Checkpoint({"shown": 12_345_678_901, "done": 98_765_432_109}, 1_767_225_600.123))
    assert json.loads(text) == {
        "v": 1,
        "p": {"shown": 12_345_678_901, "done": 98_765_432_109},
        "s": 1_767_225_600.123,
    }
    assert len(text) < 100


def test_a_watermark_at_the_end_of_time_is_stored_as_none_was_reached():
    assert decode(encode(Checkpoint({"a": 1}, math.inf))) == Checkpoint({"a": 1}, -math.inf)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "offset of someone else",
        '{"v":1,"p":{"a":5},"s":1.0',
        '{"v":2,"p":{"a":5},"s":1.0}',
        '{"v":"1","p":{"a":5},"s":1.0}',
        '{"p":{"a":5},"s":1.0}',
        '{"v":1,"s":1.0}',
        '{"v":1,"p":{"a":5}}',
        '{"v":1,"p":{"a":-1},"s":1.0}',
        '{"v":1,"p":{"a":1.5},"s":1.0}',
        '{"v":1,"p":["a"],"s":1.0}',
        '{"v":1,"p":{"a":5},"s":"now"}',
        '{"v":1,"p":{"a":5},"s":NaN}',
        '{"v":1,"p":{"a":5},"s":1e999}',
        "[]",
        "null",
        '{"v":1,"p":{"a":5},"s":1.0,"more":' + "[" * 5000 + "]" * 5000 + "}",
    ],
    ids=lambda text: text[:40] or "absent",
)
def test_what_is_absent_damaged_or_of_another_version_is_nothing(text):
    assert decode(text) is None


@drawn
@given(st.text())
@example("\ud800")
def test_whatever_text_stands_there_it_is_read_without_an_error(text):
    decode(text)


@drawn
@given(checkpoints, st.data())
def test_a_checkpoint_that_was_cut_off_is_nothing(checkpoint, data):
    text = encode(checkpoint)
    assert decode(text[: data.draw(st.integers(0, len(text) - 1))]) is None


def test_of_what_the_partitions_of_a_task_say_the_lower_counts():
    found = lower([Checkpoint({"shown": 5, "done": 9}, 100.0), Checkpoint({"shown": 7, "done": 8}, 90.0)])
    assert found == Checkpoint({"shown": 5, "done": 8}, 90.0)


def test_a_topic_that_one_partition_does_not_know_was_not_counted():
    found = lower([Checkpoint({"shown": 5}, 100.0), Checkpoint({"shown": 7, "done": 8}, 100.0)])
    assert found.positions == {"shown": 5, "done": 0}


def test_of_what_the_log_and_this_process_know_all_is_counted_that_either_has_counted():
    found = higher(Checkpoint({"shown": 5, "done": 9}, 100.0), Checkpoint({"shown": 7}, 90.0))
    assert found == Checkpoint({"shown": 7, "done": 9}, 100.0)


def test_where_only_one_knows_anything_that_counts():
    known = Checkpoint({"shown": 5}, 100.0)
    assert higher(known, None) == higher(None, known) == known
    assert higher(None, None) is None


def test_the_checkpoint_of_a_task_is_the_lower_of_its_partitions():
    stored = {
        "shown": encode(Checkpoint({"shown": 5, "done": 9}, 100.0)),
        "done": encode(Checkpoint({"shown": 4, "done": 9}, 99.0)),
    }
    assert of_task(stored) == Checkpoint({"shown": 4, "done": 9}, 99.0)


@pytest.mark.parametrize("other", ["", "damaged"])
def test_a_task_of_which_one_partition_says_nothing_has_no_checkpoint(other):
    assert of_task({"shown": encode(Checkpoint({"shown": 5}, 1.0)), "done": other}) is None


def test_a_task_without_partitions_has_no_checkpoint():
    assert of_task({}) is None
