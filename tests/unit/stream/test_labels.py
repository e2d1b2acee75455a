"""Label sets: numbers for combinations, unknown for what is missing, other for what is too much."""

from collections import Counter

import pytest

from monitor.stream.labels import MAX_VALUES, LabelSets


def number(sets, labels, overflow):
    return sets.numbers([labels], overflow)[0]


def test_the_same_values_have_the_same_number_and_others_another():
    sets = LabelSets(("variant", "country"))
    overflow = Counter()
    first = number(sets, {"variant": "a", "country": "de"}, overflow)
    assert number(sets, {"variant": "a", "country": "fr"}, overflow) != first
    assert number(sets, {"country": "de", "variant": "a"}, overflow) == first
    assert sets.values == [("a", "de"), ("a", "fr")]
    assert len(sets) == 2


@pytest.mark.parametrize("labels", [None, {}, {"variant": ""}, {"country": "de"}])
def test_a_missing_or_empty_value_is_unknown(labels):
    sets = LabelSets(("variant",))
    overflow = Counter()
    assert sets.values == []
    assert sets.values[number(sets, labels, overflow)] == ("unknown",)


def test_a_value_that_says_unknown_is_the_unknown():
    sets = LabelSets(("variant",))
    overflow = Counter()
    assert number(sets, None, overflow) == number(sets, {"variant": "unknown"}, overflow)


def test_labels_that_are_not_configured_do_not_count():
    sets = LabelSets(("variant",))
    overflow = Counter()
    assert number(sets, {"variant": "a", "user": "1"}, overflow) == number(
        sets, {"variant": "a", "user": "2"}, overflow
    )


def test_without_configured_labels_there_is_one_set_from_the_beginning():
    sets = LabelSets(())
    overflow = Counter()
    assert sets.values == [()]
    assert number(sets, {"variant": "a"}, overflow) == number(sets, None, overflow) == 0


def test_the_value_after_the_fiftieth_is_other_and_is_counted_each_time():
    sets = LabelSets(("variant",))
    overflow = Counter()
    numbers = {number(sets, {"variant": f"v{i}"}, overflow) for i in range(MAX_VALUES)}
    assert len(numbers) == MAX_VALUES == 50
    assert overflow == {}
    beyond = [number(sets, {"variant": value}, overflow) for value in ("one", "two", "one")]
    assert {sets.values[number] for number in beyond} == {("other",)}
    assert overflow == {"variant": 3}


def test_values_known_before_the_overflow_stay_themselves():
    sets = LabelSets(("variant",))
    overflow = Counter()
    numbers = [number(sets, {"variant": f"v{i}"}, overflow) for i in range(MAX_VALUES)]
    number(sets, {"variant": "beyond"}, overflow)
    assert [number(sets, {"variant": f"v{i}"}, overflow) for i in range(MAX_VALUES)] == numbers


def test_unknown_needs_no_room_among_the_fifty():
    sets = LabelSets(("variant",))
    overflow = Counter()
    for i in range(MAX_VALUES):
        number(sets, {"variant": f"v{i}"}, overflow)
    assert sets.values[number(sets, None, overflow)] == ("unknown",)
    assert overflow == {}


def test_each_name_overflows_for_itself():
    sets = LabelSets(("variant", "country"))
    overflow = Counter()
    for i in range(MAX_VALUES + 1):
        number(sets, {"variant": f"v{i}", "country": "de"}, overflow)
    assert sets.values[-1] == ("other", "de")
    assert overflow == {"variant": 1}


def test_there_is_an_end_to_the_number_of_sets():
    sets = LabelSets(("variant",))
    overflow = Counter()
    for i in range(1000):
        number(sets, {"variant": f"v{i}"}, overflow)
    assert len(sets) == MAX_VALUES + 1


def test_with_a_list_junk_that_comes_first_leaves_the_listed_values_their_own_sets():
    sets = LabelSets(("variant", "country"), {"variant": ("a", "b")})
    overflow = Counter()
    junk = [number(sets, {"variant": f"junk-{i}", "country": "de"}, overflow) for i in range(200)]
    listed = [number(sets, {"variant": value, "country": "de"}, overflow) for value in ("a", "b")]
    assert {sets.values[n] for n in junk} == {("other", "de")}
    assert [sets.values[n] for n in listed] == [("a", "de"), ("b", "de")]
    assert overflow == {"variant": 200}


def test_a_missing_value_is_unknown_beside_a_list_too():
    sets = LabelSets(("variant",), {"variant": ("a",)})
    overflow = Counter()
    assert sets.values[number(sets, None, overflow)] == ("unknown",)
    assert overflow == {}


def test_a_list_may_have_more_values_than_are_taken_as_they_come():
    allowed = [f"v{i}" for i in range(MAX_VALUES + 20)]
    sets = LabelSets(("variant",), {"variant": allowed})
    assert [sets.values[number(sets, {"variant": v}, Counter())] for v in allowed] == [(v,) for v in allowed]
