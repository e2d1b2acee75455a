"""The wire schema: what is taken, and the reason for everything that is not."""

import base64
import json
import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.events import (
    MAX_RECORD_BYTES,
    Click,
    Dwell,
    Impression,
    Judgment,
    Outcome,
    Ranked,
    Reason,
    Rejected,
    decode,
    decode_all,
    decode_tombstone,
    judgment_key,
    schema,
)
from monitor.stream.labels import LabelSets

drawn = settings(max_examples=60, deadline=None, derandomize=True, database=None)

NEW_YEAR = 1_767_225_600.0
NOW = NEW_YEAR + 3600
REQUIRED = {
    "impression": {"impression_id": "i1", "query_id": "q1", "ts": NEW_YEAR, "ranked": ["a", "b"]},
    "click": {"impression_id": "i1", "ts": NEW_YEAR, "key": "a"},
    "dwell": {"impression_id": "i1", "ts": NEW_YEAR, "key": "a", "dwell_seconds": 31.5},
    "outcome": {"impression_id": "i1", "ts": NEW_YEAR},
    "judgment": {"query_id": "q1", "key": "a", "ts": NEW_YEAR, "grade": 2},
}
NOTHING = object()


def event(kind, **changes):
    """The bytes of an event: the required fields, changed."""
    fields = {"type": kind, **REQUIRED[kind], **changes}
    return json.dumps({name: value for name, value in fields.items() if value is not NOTHING}).encode()


def reason(raw, now=NOW):
    decoded = decode(raw, now)
    assert isinstance(decoded, Rejected), decoded
    return decoded.reason


# What is taken.


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("impression", Impression("i1", "q1", NEW_YEAR, ["a", "b"])),
        ("click", Click("i1", NEW_YEAR, "a")),
        ("dwell", Dwell("i1", NEW_YEAR, 31.5, "a")),
        ("outcome", Outcome("i1", NEW_YEAR)),
        ("judgment", Judgment("q1", "a", NEW_YEAR, 2.0)),
    ],
)
def test_the_required_fields_are_enough(kind, expected):
    assert decode(event(kind), NOW) == expected


@pytest.mark.parametrize(
    ("kind", "optional"),
    [
        ("impression", {"labels": {"variant": "b"}, "session_id": "s", "latency_seconds": 0.25}),
        ("click", {"position": 3, "dwell_seconds": 12.0}),
        ("dwell", {"position": 3}),
        ("outcome", {"outcome": "unsuccessful", "max_scroll_position": 17}),
        ("judgment", {"assessor": "ann", "target": "product-7"}),
    ],
)
def test_optional_fields_are_kept(kind, optional):
    decoded = decode(event(kind, **optional), NOW)
    assert {name: getattr(decoded, name) for name in optional} == optional


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("impression", ["labels", "session_id", "latency_seconds", "embeddings"]),
        ("click", ["position", "dwell_seconds"]),
        ("dwell", ["position"]),
        ("outcome", ["outcome", "max_scroll_position"]),
        ("judgment", ["assessor", "target"]),
    ],
)
def test_an_optional_field_may_be_null(kind, names):
    assert decode(event(kind, **dict.fromkeys(names)), NOW) == decode(event(kind), NOW)


@pytest.mark.parametrize("kind", REQUIRED)
def test_unknown_fields_are_ignored(kind):
    assert decode(event(kind, colour="red", nested={"type": [1, {}]}), NOW) == decode(event(kind), NOW)


def test_ranked_keys_may_carry_their_scores_and_be_mixed_with_bare_ones():
    ranked = [{"key": "a", "score": 0.5}, "b", {"key": "c"}, {"key": "d", "score": None}]
    assert decode(event("impression", ranked=ranked), NOW).ranked == [
        Ranked("a", 0.5),
        "b",
        Ranked("c"),
        Ranked("d"),
    ]


def test_an_empty_ranking_is_an_impression():
    assert decode(event("impression", ranked=[]), NOW).ranked == []


def test_a_null_grade_withdraws():
    assert decode(event("judgment", grade=None), NOW).grade is None


@pytest.mark.parametrize("named", [{"key": "a"}, {"position": 1}, {"key": "a", "position": 2}])
@pytest.mark.parametrize("kind", ["click", "dwell"])
def test_a_result_is_named_by_its_key_or_its_position_or_both(kind, named):
    decoded = decode(event(kind, **{"key": NOTHING, **named}), NOW)
    assert (decoded.key, decoded.position) == (named.get("key"), named.get("position"))


# Time.


@pytest.mark.parametrize(
    "ts",
    [
        "2026-01-01T00:00:00Z",
        "2026-01-01T01:00:00+01:00",
        "2025-12-31T18:30:00-05:30",
        "2026-01-01T00:00:00.000Z",
        NEW_YEAR,
        int(NEW_YEAR),
        NEW_YEAR * 1000,
        int(NEW_YEAR) * 1000,
    ],
)
def test_every_form_of_a_time_is_the_same_time(ts):
    assert decode(event("click", ts=ts), NOW).ts == NEW_YEAR


@pytest.mark.parametrize("ts", ["2026-01-01T00:00:00.25Z", NEW_YEAR + 0.25, NEW_YEAR * 1000 + 250])
def test_fractions_of_a_second_are_kept(ts):
    assert decode(event("click", ts=ts), NOW).ts == NEW_YEAR + 0.25


def test_a_number_is_milliseconds_only_above_1e11():
    assert decode(event("click", ts=1e11), 2e11).ts == 1e11
    assert decode(event("click", ts=1e11 + 1000), 2e11).ts == 1e8 + 1


@pytest.mark.parametrize(
    "ts",
    [
        "2026-01-01T00:00:00",
        "2026-01-01",
        "yesterday",
        "1767225600",
        "1969-12-31T23:59:59Z",
        "0001-01-01T00:00:00+23:59",
        -1,
        True,
        None,
        [NEW_YEAR],
    ],
)
def test_a_time_without_an_offset_before_the_epoch_or_of_no_known_form_is_invalid(ts):
    assert reason(event("click", ts=ts)) is Reason.INVALID_FIELD


def test_exactly_ten_minutes_ahead_is_taken():
    assert decode(event("click", ts=NOW + 600), NOW).ts == NOW + 600


@pytest.mark.parametrize("ts", [NOW + 600.001, (NOW + 601) * 1000, "9999-12-31T23:59:59Z"])
@pytest.mark.parametrize("kind", REQUIRED)
def test_more_than_ten_minutes_ahead_is_rejected(kind, ts):
    assert reason(event(kind, ts=ts)) is Reason.FUTURE_TS


# What is no event at all.


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"impression",
        b"{'type': 'click'}",
        b"\xff\xfe",
        event("click")[:-1],
        event("click") + b"}",
        event("click") + event("click"),
        event("click").replace(b"i1", b"\xff"),
        b"\xef\xbb\xbf" + event("click"),
        event("click").decode().encode("utf-16"),
        event("click").replace(b"i1", b"\\ud800"),
        event("click", more=1).replace(b"1}", b"[" * 5000 + b"]" * 5000 + b"}"),
    ],
)
def test_what_cannot_be_parsed_is_not_json(raw):
    assert reason(raw) is Reason.NOT_JSON


@pytest.mark.parametrize("raw", [b"[]", b'"click"', b"17", b"null", b"true", b"[" * 5000])
def test_json_that_is_no_object_is_not_an_object(raw):
    assert reason(raw) is Reason.NOT_OBJECT


@pytest.mark.parametrize("tag", ["view", "", "Click", 7, None, ["click"]])
def test_a_type_that_is_not_in_the_list_is_unknown(tag):
    assert reason(event("click", type=tag)) is Reason.UNKNOWN_TYPE


def test_an_event_without_a_type_lacks_a_field():
    assert reason(event("click", type=NOTHING)) is Reason.MISSING_FIELD


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, fields in REQUIRED.items() for name in fields],
)
def test_every_required_field_is_required(kind, name):
    assert reason(event(kind, **{name: NOTHING})) is Reason.MISSING_FIELD


@pytest.mark.parametrize("kind", ["click", "dwell"])
def test_a_click_or_dwell_on_no_result_lacks_a_field(kind):
    assert reason(event(kind, key=None, position=None)) is Reason.MISSING_FIELD


# Fields of the wrong kind.


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        ("impression", {"impression_id": 1}),
        ("impression", {"impression_id": ""}),
        ("impression", {"query_id": None}),
        ("impression", {"ranked": "a"}),
        ("impression", {"ranked": [1]}),
        ("impression", {"ranked": [""]}),
        ("impression", {"ranked": [{"key": "a", "score": "high"}]}),
        ("impression", {"labels": ["variant"]}),
        ("impression", {"labels": {"variant": 1}}),
        ("impression", {"latency_seconds": -0.001}),
        ("impression", {"latency_seconds": "fast"}),
        ("click", {"position": 0}),
        ("click", {"position": 1.5}),
        ("click", {"position": 1_000_001}),
        ("click", {"dwell_seconds": -1}),
        ("dwell", {"dwell_seconds": None}),
        ("outcome", {"outcome": "happy"}),
        ("outcome", {"outcome": "missing required field"}),
        ("outcome", {"outcome": "Number out of range"}),
        ("outcome", {"max_scroll_position": -1}),
        ("judgment", {"grade": -1}),
        ("judgment", {"grade": "2"}),
        ("judgment", {"grade": True}),
        ("judgment", {"assessor": 7}),
    ],
)
def test_a_mistyped_field_is_invalid(kind, wrong):
    assert reason(event(kind, **wrong)) is Reason.INVALID_FIELD


def test_a_ranked_result_without_its_key_lacks_a_field():
    assert reason(event("impression", ranked=[{"score": 1.0}])) is Reason.MISSING_FIELD


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("click", "ts"),
        ("click", "dwell_seconds"),
        ("dwell", "dwell_seconds"),
        ("impression", "latency_seconds"),
        ("judgment", "grade"),
    ],
)
def test_a_number_that_is_not_finite_is_told_as_such(kind, name, number):
    assert reason(event(kind, **{name: 77}).replace(b"77", number.encode())) is Reason.NOT_FINITE


def test_a_score_that_is_not_finite_is_told_as_such():
    raw = event("impression", ranked=[{"key": "a", "score": 77}])
    assert reason(raw.replace(b"77", b"NaN")) is Reason.NOT_FINITE


# Sizes.


@pytest.mark.parametrize("letter", ["x", "é", "🙂"])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("impression", "impression_id"),
        ("impression", "query_id"),
        ("impression", "session_id"),
        ("click", "key"),
        ("judgment", "query_id"),
        ("judgment", "key"),
        ("judgment", "assessor"),
        ("judgment", "target"),
    ],
)
def test_an_id_may_have_256_characters_and_not_one_more(kind, name, letter):
    assert getattr(decode(event(kind, **{name: letter * 256}), NOW), name) == letter * 256
    assert reason(event(kind, **{name: letter * 257})) is Reason.ID_TOO_LONG


@pytest.mark.parametrize("wrap", [lambda key: key, lambda key: {"key": key}], ids=["bare", "with score"])
def test_a_ranked_key_may_have_256_characters_and_not_one_more(wrap):
    assert isinstance(decode(event("impression", ranked=[wrap("x" * 256)]), NOW), Impression)
    assert reason(event("impression", ranked=[wrap("x" * 257)])) is Reason.ID_TOO_LONG


def test_a_label_without_a_value_is_missing_not_a_mistake():
    found = decode(event("impression", labels={"variant": None, "country": "de"}), NOW)
    assert found.labels == {"variant": None, "country": "de"}
    sets = LabelSets(("variant", "country"))
    [number] = sets.numbers([found.labels], Counter())
    assert sets.values[number] == ("unknown", "de")


@pytest.mark.parametrize("labels", [{"x" * 257: "v"}, {"variant": "x" * 257}], ids=["name", "value"])
def test_the_names_and_values_of_labels_are_bounded_like_ids(labels):
    assert reason(event("impression", labels=labels)) is Reason.ID_TOO_LONG


def test_a_thousand_keys_may_be_ranked_and_not_one_more():
    keys = [f"d{i}" for i in range(1001)]
    assert decode(event("impression", ranked=keys[:1000]), NOW).ranked == keys[:1000]
    assert reason(event("impression", ranked=keys)) is Reason.TOO_MANY_RANKED


def test_a_record_may_have_one_mebibyte_and_not_one_byte_more():
    raw = event("click", filling="")
    full = event("click", filling="x" * (MAX_RECORD_BYTES - len(raw)))
    assert len(full) == MAX_RECORD_BYTES == 1024 * 1024
    assert decode(full, NOW) == decode(event("click"), NOW)
    assert reason(full + b" ") is Reason.TOO_LARGE


def test_what_is_too_large_is_not_looked_into():
    assert reason(b"x" * (MAX_RECORD_BYTES + 1)) is Reason.TOO_LARGE


# Embeddings.


def packed(*numbers):
    return base64.b64encode(np.array(numbers, dtype="<f4").tobytes()).decode()


def embedded(*vectors, ranked=("a", "b")):
    return event("impression", ranked=list(ranked), embeddings=list(vectors))


@pytest.mark.parametrize(
    "vectors",
    [
        ([1.0, 2.0, 3.0], [4.0, 5.0, 6.5]),
        (packed(1, 2, 3), packed(4, 5, 6.5)),
        ([1, 2, 3], packed(4, 5, 6.5)),
    ],
    ids=["lists", "base64", "one of each"],
)
def test_embeddings_are_lists_or_base64_of_little_endian_float32(vectors):
    matrix = decode(embedded(*vectors), NOW).embeddings
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]]


def test_an_empty_ranking_has_no_vectors():
    assert decode(embedded(ranked=[]), NOW).embeddings.shape == (0, 0)


@pytest.mark.parametrize(
    "vectors",
    [
        ([1.0, 2.0],),
        ([1.0], [2.0], [3.0]),
        ([1.0], [1.0, 2.0]),
        ([], []),
        ("", ""),
        ("AAA=", "AAA="),
        ("!!!!", "!!!!"),
        (["x"], ["y"]),
        (None, None),
    ],
    ids=[
        "too few",
        "too many",
        "unequal dimensions",
        "no dimension",
        "no bytes",
        "no whole float",
        "no base64",
        "no numbers",
        "nulls",
    ],
)
def test_embeddings_need_one_vector_of_one_dimension_for_each_key(vectors):
    assert reason(embedded(*vectors)) is Reason.INVALID_FIELD


@pytest.mark.parametrize(
    "vector", [packed(math.nan), packed(math.inf), [1e39]], ids=["NaN", "infinity", "beyond float32"]
)
def test_embeddings_that_are_not_finite_are_told_as_such(vector):
    assert reason(embedded(vector, ranked=["a"])) is Reason.NOT_FINITE


# Tombstones and record keys.


@pytest.mark.parametrize(
    ("key", "assessor"),
    [(b'["q1","a",""]', None), (b'["q1","a",null]', None), (b'["q1", "a", "ann"]', "ann")],
)
def test_a_tombstone_withdraws_the_judgment_that_its_key_names(key, assessor):
    assert decode_tombstone(key, NOW) == Judgment("q1", "a", NOW, None, assessor)


@pytest.mark.parametrize(
    "key",
    [
        None,
        b"",
        b"i1",
        b'"i1"',
        b"{}",
        b"[]",
        b'["q1","a"]',
        b'["q1","a","",""]',
        b"[1,2,3]",
        b"\xff",
        b"[" * 5000,
    ],
)
def test_a_tombstone_whose_key_names_no_judgment_is_rejected(key):
    assert decode_tombstone(key, NOW) == Rejected(Reason.NOT_JSON)


@pytest.mark.parametrize("assessor", [None, "ann", 'a "quoted" name'])
def test_the_record_key_of_a_judgment_is_that_of_its_tombstone(assessor):
    judgment = Judgment("q1", "é,[]", NEW_YEAR, 1.0, assessor)
    assert json.loads(judgment_key(judgment)) == ["q1", "é,[]", assessor or ""]
    assert decode_tombstone(judgment_key(judgment), NOW) == Judgment("q1", "é,[]", NOW, None, assessor)


# Whatever comes.

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@drawn
@given(st.sampled_from(sorted(REQUIRED)), st.data())
def test_whatever_stands_in_a_field_decodes_or_is_rejected_and_never_raises(kind, data):
    name = data.draw(st.sampled_from(sorted(REQUIRED[kind])))
    decoded = decode(event(kind, **{name: data.draw(values)}), NOW)
    assert isinstance(decoded, Rejected) or 0 <= decoded.ts <= NOW + 600


@drawn
@given(st.binary(max_size=60))
def test_whatever_bytes_come_they_are_rejected_and_never_raise(raw):
    assert isinstance(decode(raw, NOW), Rejected)
    decode_tombstone(raw, NOW)


# Many together.

TOGETHER = [
    *(event(kind) for kind in REQUIRED),
    event("click", ts="2026-01-01T00:00:00Z"),
    event("dwell", ts=NEW_YEAR * 1000),
    event("click", key=None, position=2),
]
ALONE = [
    event("impression", embeddings=[[1.0], [2.0, 3.0]]),
    event("click", key=None),
    event("dwell", key=None),
    event("click", ts=-1),
    event("outcome", ts=NOW + 601),
    event("impression", ranked="a"),
    b"[",
    b" " * (MAX_RECORD_BYTES + 1),
]


def test_records_that_are_events_are_decoded_together_as_each_alone():
    assert decode_all(TOGETHER, NOW) == [decode(raw, NOW) for raw in TOGETHER]


def test_embeddings_become_a_matrix_together_too():
    [found] = decode_all([event("impression", embeddings=[[1.0], [2.0]])], NOW)
    assert found.embeddings.tolist() == [[1.0], [2.0]]


@pytest.mark.parametrize("raw", ALONE, ids=lambda raw: raw[:40].decode())
def test_what_needs_a_look_of_its_own_is_not_decoded_together(raw):
    assert decode_all([*TOGETHER, raw], NOW) is None


@drawn
@given(st.sampled_from(sorted(REQUIRED)), st.data())
def test_whatever_stands_in_a_field_decodes_together_as_alone_or_not_at_all(kind, data):
    name = data.draw(st.sampled_from(sorted(REQUIRED[kind])))
    raw = event(kind, **{name: data.draw(values)})
    assert decode_all([raw], NOW) in (None, [decode(raw, NOW)])


# The JSON Schema.


def test_the_schema_tells_the_types_apart_by_their_tag():
    found = schema()
    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["discriminator"]["propertyName"] == "type"
    assert set(found["discriminator"]["mapping"]) == set(REQUIRED)
    for kind, where in found["discriminator"]["mapping"].items():
        assert definition(found, where)["properties"]["type"] == {"enum": [kind]}


@pytest.mark.parametrize("kind", REQUIRED)
def test_the_schema_requires_what_decoding_requires(kind):
    found = schema()
    wanted = {"type", *REQUIRED[kind]} - ({"key"} if kind in ("click", "dwell") else set())
    assert set(definition(found, found["discriminator"]["mapping"][kind])["required"]) == wanted


@pytest.mark.parametrize("kind", REQUIRED)
def test_the_schema_allows_unknown_fields(kind):
    found = schema()
    assert "additionalProperties" not in definition(found, found["discriminator"]["mapping"][kind])


def test_the_schema_has_the_limits_of_ids_and_rankings():
    impression = schema()["$defs"]["Impression"]["properties"]
    assert (impression["impression_id"]["minLength"], impression["impression_id"]["maxLength"]) == (1, 256)
    assert impression["ranked"]["maxItems"] == 1000


def test_every_reference_in_the_schema_leads_somewhere():
    found = schema()
    references = re.findall(r'"(#/[^"]+)"', json.dumps(found))
    assert references
    assert all(definition(found, where) for where in references)


def definition(found, where):
    assert where.startswith("#/$defs/")
    return found["$defs"][where.removeprefix("#/$defs/")]
