"""Senders that are ahead change nothing but what is said about themselves."""

from typing import NamedTuple

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from tests.property.agreement import assert_same_histograms
from tests.property.engine_run import Counted, Run
from tests.property.happenings import BASE, Choices, choices, halves
from tests.property.reference_model import Settings
from tests.property.reference_wire import Idle, Sent
from tests.property.streams import jitters, planned
from tests.property.streams import settings as settings_of
from tests.property.test_engine_against_reference import many

CREATE_TIME, APPEND_TIME = 0, 1
fewer = hypothesis_settings(many, max_examples=140)
LEADS = [0.5, 5, 30, 300, 599, 601, 1e4, 3e7]


class Arrival(NamedTuple):
    """A record, or a pause, and when it comes."""

    at: float
    sent: Sent | Idle
    is_ahead: bool = False


@st.composite
def arrivals(draw: st.DrawFn) -> tuple[Settings, int, list[Arrival]]:
    """Honest traffic within the lateness, and up to five clicks on nothing from senders that are ahead."""
    settings = settings_of(draw(choices(9)))
    kind = draw(st.sampled_from([CREATE_TIME, APPEND_TIME]))
    found = draw(planned(settings, reuse_ids=False))
    jitter = draw(jitters(settings, len(found)))
    came = [
        Arrival(one.ts + late, _stamped(one.sent, one.ts + late, kind))
        for one, late in zip(found, jitter, strict=True)
        if not (isinstance(one.sent, Sent) and one.sent.value is None)
    ]
    for choice in draw(st.lists(choices(4), min_size=1, max_size=5)):
        came.append(_ahead(choice, settings, kind, len(came)))
    return settings, kind, sorted(came, key=lambda arrival: arrival.at)


def _stamped(sent: Sent | Idle, at: float, kind: int) -> Sent | Idle:
    return sent if isinstance(sent, Idle) else sent._replace(timestamp=at, timestamp_type=kind)


def _ahead(choice: Choices, settings: Settings, kind: int, number: int) -> Arrival:
    at, lead = BASE + choice.pick(halves(0, 40)), choice.pick(LEADS)
    roles = [topic for topic, role in settings.topics if role in ("events", "interactions")]
    value = {"type": "click", "impression_id": f"nobody-{number}", "ts": at + lead, "position": 1}
    stamp = at if kind == APPEND_TIME else at + lead
    topic, partition = choice.pick(roles), choice.pick(range(settings.partitions))
    return Arrival(at, Sent(topic, partition, value, b"", stamp, kind), is_ahead=True)


def live(settings: Settings, came: list[Arrival]) -> Counted:
    """Each record is read when it is written."""
    run = Run(settings)
    for arrival in came:
        run.take([arrival.sent], now=arrival.at)
    return run.finish()


def later(settings: Settings, came: list[Arrival]) -> Counted:
    """All is read at once, long after it was written."""
    run = Run(settings)
    run.take([arrival.sent for arrival in came if isinstance(arrival.sent, Sent)], catching_up=True)
    return run.finish()


@fewer
@given(arrivals())
def test_live_a_sender_ahead_costs_the_others_nothing(
    drawn: tuple[Settings, int, list[Arrival]],
) -> None:
    settings, _, came = drawn
    honest = [arrival for arrival in came if not arrival.is_ahead]
    assert_same_but_for_the_clicks_ahead(live(settings, came), live(settings, honest))


@fewer
@given(arrivals())
def test_in_a_backlog_a_sender_ahead_costs_the_others_nothing(
    drawn: tuple[Settings, int, list[Arrival]],
) -> None:
    settings, _, came = drawn
    honest = [arrival for arrival in came if not arrival.is_ahead]
    assert_same_but_for_the_clicks_ahead(later(settings, came), later(settings, honest))


def assert_same_but_for_the_clicks_ahead(found: Counted, honest: Counted) -> None:
    assert found.judged == honest.judged
    assert (found.shown, found.clicks) == (honest.shown, honest.clicks)
    theirs = {("click", "unmatched"), ("impression", "late")}
    assert {k: n for k, n in found.fates.items() if k not in theirs} == {
        k: n for k, n in honest.fates.items() if k not in theirs
    }
    assert found.fates.get(("impression", "late"), 0) == honest.fates.get(("impression", "late"), 0)
    assert_same_histograms(found.series, honest.series)
    assert_same_histograms(found.windows, honest.windows)
