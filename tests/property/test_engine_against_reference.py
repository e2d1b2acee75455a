"""The engine against the reference, over thousands of generated streams."""

from collections.abc import Iterator, Sequence

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.agreement import assert_equal, assert_same
from tests.property.engine_run import Counted, Run
from tests.property.reference import Reference
from tests.property.reference_wire import Idle, Sent
from tests.property.streams import Stream, rearranged, streams

CUTS = st.binary(min_size=40, max_size=40)
"""Decides where a stream is cut into polls."""
DEFERRALS = st.binary(max_size=10)
"""Decides after which chunks nothing is decided, as in production."""

many = settings(
    max_examples=400,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # on a busy machine drawing a stream takes its time
)
some = settings(many, max_examples=250)


@many
@given(streams(), CUTS, DEFERRALS)
def test_within_the_lateness_the_engine_counts_what_the_rules_say(
    stream: Stream, cuts: bytes, deferrals: bytes
) -> None:
    agree(stream, cuts, deferrals)


@many
@given(streams(beyond=30), CUTS, DEFERRALS)
def test_beyond_the_lateness_too(stream: Stream, cuts: bytes, deferrals: bytes) -> None:
    agree(stream, cuts, deferrals)


@some
@given(streams(beyond=10), CUTS)
def test_however_a_stream_is_cut_the_same_is_counted(stream: Stream, cuts: bytes) -> None:
    assert_same(counted(stream, cuts), counted(stream, b""))


@some
@given(streams(reuse_ids=False).flatmap(lambda stream: st.tuples(st.just(stream), rearranged(stream))))
def test_another_order_within_the_lateness_counts_the_same(streams: tuple[Stream, Stream]) -> None:
    one, other = streams
    assert_same(counted(one, b""), counted(other, b""))


@many
@given(streams(beyond=5), CUTS, DEFERRALS, st.integers(1, 10))
def test_the_books_balance_after_every_poll_and_hold_what_the_rules_say(
    stream: Stream, cuts: bytes, deferrals: bytes, checked: int
) -> None:
    run = Run(stream.settings, deferrals)
    taken: list[Sent | Idle] = []
    for number, poll in enumerate(cut(stream.records, cuts), start=1):
        run.take(poll)
        taken += poll
        books = run.engine.snapshot()
        ended = sum(books.rejected.values()) + sum(books.fates.values())
        came = sum(isinstance(one, Sent) for one in taken)
        assert (
            sum(books.records.values()) == came == ended + books.open_impressions + books.pending_interactions
        )
        if number == checked:
            now = Reference(stream.settings, taken, finished=False, decided_after=run.decided_after)
            assert books.watermarks == {task: course[-1] for task, course in now.watermarks.items()}
            assert_equal(run.counted(), now)


def agree(stream: Stream, cuts: bytes, deferrals: bytes) -> None:
    run = run_of(stream, cuts, deferrals)
    assert_equal(run.finish(), Reference(stream.settings, stream.records, decided_after=run.decided_after))


def counted(stream: Stream, cuts: bytes) -> Counted:
    return run_of(stream, cuts).finish()


def run_of(stream: Stream, cuts: bytes, deferrals: bytes = b"") -> Run:
    run = Run(stream.settings, deferrals)
    for poll in cut(stream.records, cuts):
        run.take(poll)
    return run


def cut(records: Sequence[Sent | Idle], cuts: bytes) -> Iterator[Sequence[Sent | Idle]]:
    """Polls of 1 to 8 records; what is left when the cuts run out is one poll."""
    start = 0
    for size in cuts:
        if start < len(records):
            yield records[start : start + 1 + size % 8]
            start += 1 + size % 8
    yield records[start:]
