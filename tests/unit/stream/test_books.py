"""The books: every line is there from the beginning, at 0."""

from monitor.events import Reason
from monitor.stream.books import Books


def test_every_reason_fate_topic_and_maturity_is_there_from_the_beginning():
    books = Books(["shown", "done"], ["1m", "1h"], ["variant"])
    assert books.records == {"shown": 0, "done": 0}
    assert books.rejected == dict.fromkeys(Reason, 0)
    assert books.judged == {(m, fate): 0 for m in ("1m", "1h") for fate in ("judged", "unjudged")}
    assert {kind for kind, _ in books.fates} == {"impression", "click", "dwell", "outcome", "judgment"}
    assert set(books.fates.values()) == {0}


def test_each_type_of_event_has_its_own_fates():
    fates = {}
    for kind, fate in Books([], [], []).fates:
        fates.setdefault(kind, []).append(fate)
    interaction = ["joined", "duplicate", "unmatched", "evicted"]
    assert fates == {
        "impression": ["settled", "duplicate", "late", "evicted"],
        "click": interaction,
        "dwell": interaction,
        "outcome": interaction,
        "judgment": ["applied", "regraded", "withdrawn", "duplicate"],
    }


def test_updating_does_not_take_a_line_at_zero_away():
    books = Books(["events"], [], [])
    books.fates.update({("click", "joined"): 2})
    assert books.fates["click", "joined"] == 2
    assert ("click", "unmatched") in books.fates
