"""Label sets: numbers for combinations, unknown for what is missing, other for what is too much."""

from collections import Counter

import pytest

from monitor.stream.labels import MAX_VALUES, LabelSets


def test_the_same_values_have_the_same_number_and_others_another():
    sets = LabelSets(("variant", "country"))
    overflow = Counter()
    first = sets.number({"variant": "a", "country": "de"}, overflow)
    assert sets.number({"variant": "a", "country": "fr"}, overflow) != first
    assert sets.number({"country": "de", "variant": "a"}, overflow) == first
    assert sets.values == [("a", "de"), ("a", "fr")]
    assert len(sets) == 2


@pytest.mark.parametrize("labels", [None, {}, {"variant": ""}, {"country": "de"}])
def test_a_missing_or_empty_value_is_unknown(labels):
    sets = LabelSets(("variant",))
    overflow = Counter()
    assert sets.values == []
    assert sets.values[sets.number(labels, overflow)] == ("unknown",)


def test_a_value_that_says_unknown_is_the_unknown():
    sets = LabelSets(("variant",))
    overflow = Counter()
    assert sets.number(None, overflow) == sets.number({"variant": "unknown"}, overflow)


def test_labels_that_are_not_configured_do_not_count():
    sets = LabelSets(("variant",))
    overflow = Counter()
    assert sets.number({"variant": "a", "user": "1"}, overflow) == sets.number(
        {"variant": "a", "user": "2"}, overflow
    )


def test_without_configured_labels_there_is_one_set_from_the_beginning():
    sets = LabelSets(())
    overflow = Counter()
    assert sets.values == [()]
    assert sets.number({"variant": "a"}, overflow) == sets.number(None, overflow) == 0


def test_the_value_after_the_fiftieth_is_other_and_is_counted_each_time():
    sets = LabelSets(("variant",))
    overflow = Counter()
    numbers = {sets.number({"variant": f"v{i}"}, overflow) for i in range(MAX_VALUES)}
    assert len(numbers) == MAX_VALUES == 50
    assert overflow == {}
    beyond = [sets.number({"variant": value}, overflow) for value in ("one", "two", "one")]
    assert {sets.values[number] for number in beyond} == {("other",)}
    assert overflow == {"variant": 3}


def test_values_known_before_the_overflow_stay_themselves():
    sets = LabelSets(("variant",))
    overflow = Counter()
    numbers = [sets.number({"variant": f"v{i}"}, overflow) for i in range(MAX_VALUES)]
    sets.number({"variant": "beyond"}, overflow)
    assert [sets.number({"variant": f"v{i}"}, overflow) for i in range(MAX_VALUES)] == numbers


def test_unknown_needs_no_room_among_the_fifty():
    sets = LabelSets(("variant",))
    overflow = Counter()
    for i in range(MAX_VALUES):
        sets.number({"variant": f"v{i}"}, overflow)
    assert sets.values[sets.number(None, overflow)] == ("unknown",)
    assert overflow == {}


def test_each_name_overflows_for_itself():
    sets = LabelSets(("variant", "country"))
    overflow = Counter()
    for i in range(MAX_VALUES + 1):
        sets.number({"variant": f"v{i}", "country": "de"}, overflow)
    assert sets.values[-1] == ("other", "de")
    assert overflow == {"variant": 1}


def test_there_is_an_end_to_the_number_of_sets():
    sets = LabelSets(("variant",))
    overflow = Counter()
    for i in range(1000):
        sets.number({"variant": f"v{i}"}, overflow)
    assert len(sets) == MAX_VALUES + 1
