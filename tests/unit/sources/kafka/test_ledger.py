"""What silence means: idle, an outage, or stuck."""

import pytest

from monitor.sources.kafka.ledger import LastFetch, Ledger

A, B = ("topic", 0), ("topic", 1)
IDLE = 30.0
CLOCK_MS = 5_000_000


def ledger_at(position: int, end: int) -> Ledger:
    ledger = Ledger()
    ledger.begin(A, position, end, 100.0)
    return ledger


def fetch_emptily(ledger: Ledger, until: float, end: int, every: float = 1.0, begin: float = 100.0) -> None:
    now = begin
    while now < until:
        now += every
        ledger.see({A: LastFetch(int(now * 1000), end, end)}, now)


def test_a_partition_at_its_end_that_is_fetched_and_brings_nothing_is_idle() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 129.0, end=5)
    assert ledger.idle(129.0, IDLE) == {}
    fetch_emptily(ledger, 130.0, end=5, begin=129.0)
    assert set(ledger.idle(130.0, IDLE)) == {A}


def test_a_partition_that_was_never_fetched_is_not_idle() -> None:
    assert ledger_at(5, 5).idle(200.0, IDLE) == {}


def test_idleness_in_an_outage_is_known_up_to_the_last_fetch_and_ends() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 150.0, end=5)
    for second in range(150, 200):
        ledger.see({A: LastFetch(150_000, 5, 5)}, float(second))
    (known_until,) = {ledger.idle(now, IDLE)[A] for now in (151.0, 160.0, 178.0)}
    assert 149.0 <= known_until <= 150.0
    assert ledger.idle(181.0, IDLE) == {}


def test_after_an_outage_silence_begins_anew() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 110.0, end=5)
    fetch_emptily(ledger, 200.0, end=5, begin=170.0)  # a minute in which no fetch succeeded
    assert ledger.idle(200.0, IDLE) == {}
    fetch_emptily(ledger, 202.0, end=5, begin=200.0)
    assert set(ledger.idle(202.0, IDLE)) == {A}


def test_a_slow_network_is_not_an_outage() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 135.0, end=5, every=2.5)
    assert set(ledger.idle(135.0, IDLE)) == {A}


def test_a_fetch_in_a_long_pause_counts_from_before_the_pause() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 101.0, end=5)
    ledger.see({A: LastFetch(150_000, 5, 5)}, 200.0)
    assert ledger.idle(200.0, IDLE) == {}


def test_records_that_wait_end_idleness() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 150.0, end=5)
    ledger.see({A: LastFetch(151_000, 6, 6)}, 151.0)
    assert ledger.lag() == {A: 1}
    assert ledger.idle(151.0, IDLE) == {}
    ledger.advance({A: 6}, {A: [None]}, 152.0, CLOCK_MS)
    assert ledger.lag() == {A: 0}
    assert ledger.idle(153.0, IDLE) == {}


def test_an_open_transaction_is_neither_lag_nor_idleness_nor_being_stuck() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 150.0, end=5)
    for second in range(151, 300):
        ledger.see({A: LastFetch(second, 5, 9)}, float(second))
        assert ledger.idle(float(second), IDLE) == {}
    assert ledger.open_transactions() == {A: 151.0}
    assert (ledger.lag(), ledger.still_seconds(300.0)) == ({A: 0}, 0.0)


def test_silence_begins_when_the_transaction_has_ended_be_it_aborted() -> None:
    ledger = ledger_at(5, 5)
    ledger.see({A: LastFetch(1, 5, 9)}, 140.0)
    ledger.see({A: LastFetch(2, 10, 10)}, 141.0)
    assert ledger.lag() == {A: 5}
    ledger.advance({A: 10}, {}, 142.0, CLOCK_MS)
    assert ledger.open_transactions() == {}
    fetch_emptily(ledger, 169.0, end=10, begin=142.0)
    assert ledger.idle(169.0, IDLE) == {}
    fetch_emptily(ledger, 172.0, end=10, begin=169.0)
    assert set(ledger.idle(172.0, IDLE)) == {A}


def test_a_transaction_is_another_one_when_the_last_stable_offset_has_moved() -> None:
    ledger = ledger_at(5, 5)
    ledger.see({A: LastFetch(1, 5, 9)}, 101.0)
    ledger.see({A: LastFetch(2, 5, 19)}, 102.0)
    assert ledger.open_transactions() == {A: 101.0}
    ledger.see({A: LastFetch(3, 10, 19)}, 103.0)
    assert ledger.open_transactions() == {A: 103.0}


def test_a_partition_that_begins_behind_an_open_transaction_is_not_idle() -> None:
    ledger = ledger_at(9, 9)
    for second in range(101, 200):
        ledger.see({A: LastFetch(second, 5, 9)}, float(second))
    assert ledger.idle(199.0, IDLE) == {}
    assert ledger.lag() == {A: 0}


def test_an_end_that_moved_back_is_no_lag() -> None:
    assert ledger_at(5, 3).lag() == {A: 0}


def test_a_partition_with_records_left_that_does_not_move_is_still() -> None:
    ledger = ledger_at(5, 9)
    ledger.begin(B, 0, 0, 100.0)
    assert ledger.still_seconds(160.0) == pytest.approx(60.0)
    ledger.advance({A: 6, B: 0}, {A: [None]}, 160.0, CLOCK_MS)
    assert ledger.still_seconds(161.0) == pytest.approx(1.0)


def test_a_partition_that_was_quiet_is_not_still_when_its_first_record_comes() -> None:
    ledger = ledger_at(5, 5)
    assert ledger.still_seconds(900.0) == 0.0
    ledger.see({A: LastFetch(1, 6, 6)}, 900.0)
    assert ledger.still_seconds(901.0) == pytest.approx(1.0)


def test_time_in_which_nobody_asked_does_not_count() -> None:
    ledger = ledger_at(5, 9)
    ledger.touch(500.0)
    assert ledger.still_seconds(501.0) == pytest.approx(1.0)


def test_positions_move_over_what_are_no_records() -> None:
    ledger = ledger_at(5, 6)
    ledger.advance({A: 6}, {}, 101.0, CLOCK_MS)
    assert ledger.position(A) == 6
    assert ledger.lag() == {A: 0}


def ledger_with(*partitions: tuple[int, int, int | None]) -> Ledger:
    """Partitions of topic t by their position, end and time of the last record in seconds."""
    ledger = Ledger()
    for number, (position, end, seconds) in enumerate(partitions):
        ledger.begin(("t", number), 0, end, 100.0)
        told = None if seconds is None else seconds * 1000
        ledger.advance({("t", number): position}, {("t", number): [told]}, 100.0, CLOCK_MS)
    return ledger


def chosen(ledger: Ledger, now: float = 100.5) -> list[int]:
    return [number for _, number in ledger.in_step(now)]


def test_before_anything_was_read_all_partitions_are_read() -> None:
    ledger = ledger_at(0, 9)
    assert ledger.in_step(100.5) == [A]


def test_a_partition_that_has_brought_nothing_yet_is_the_furthest_behind() -> None:
    ledger = ledger_with((5, 9, 1000))
    ledger.begin(("t", 1), 0, 9, 100.0)
    assert chosen(ledger) == [1]
    assert chosen(ledger, 102.0) == [0, 1]


def test_a_partition_far_ahead_of_another_with_records_left_is_held_back() -> None:
    assert chosen(ledger_with((5, 9, 1000), (5, 9, 1010), (5, 9, 1011), (5, 5, 2000))) == [0, 1]


def test_a_partition_at_its_end_holds_nobody_back() -> None:
    assert chosen(ledger_with((9, 9, 1000), (5, 9, 2000))) == [0, 1]


@pytest.mark.parametrize("unknown", [None, -1, 0])
def test_records_without_a_time_hold_nobody_back_and_are_not_held_back(unknown: int | None) -> None:
    assert chosen(ledger_with((5, 9, unknown), (5, 9, 2000), (5, 9, 1000))) == [0, 2]


def test_others_do_not_wait_for_a_partition_that_does_not_move() -> None:
    ledger = ledger_with((5, 9, 1000), (5, 9, 2000))
    assert chosen(ledger, 101.9) == [0]
    assert chosen(ledger, 102.0) == [0, 1]


def test_a_partition_that_is_held_back_is_not_still() -> None:
    ledger = ledger_with((5, 5, 1000), (5, 9, 2000))
    for now in range(101, 200):
        ledger.see({("t", 0): LastFetch(now, 5 + now, 5 + now)}, now)
        ledger.advance({("t", 0): 4 + now}, {("t", 0): [1_000_000]}, now, CLOCK_MS)
        assert chosen(ledger, now) == [0]
    assert ledger.still_seconds(200.0) == 1.0


@pytest.mark.parametrize("wrong", [4_000_000, 10**15])
def test_one_timestamp_far_ahead_does_not_starve_its_partition(wrong: int) -> None:
    ledger = ledger_with((5, 9, 1000), (5, 9, 1001))
    ledger.advance({("t", 1): 6}, {("t", 1): [1_001_000, 1_001_000, wrong]}, 100.0, CLOCK_MS)
    assert chosen(ledger) == [0, 1]
    ledger.advance({("t", 1): 7}, {("t", 1): [wrong]}, 100.0, CLOCK_MS)
    assert chosen(ledger) == [0, 1]


def test_timestamps_beyond_the_clock_count_as_the_clock() -> None:
    """Every producer of partition 1 is a year ahead; both are at the end of their log."""
    ledger = ledger_with((5, 9, CLOCK_MS // 1000), (5, 9, 10**9))
    assert chosen(ledger) == [0, 1]


def test_what_comes_soon_after_the_end_was_seen_is_not_a_backlog() -> None:
    ledger = ledger_at(5, 5)
    fetch_emptily(ledger, 110.0, end=5)
    ledger.see({A: LastFetch(111_000, 9, 9)}, 111.0)
    assert not ledger.is_catching_up(A, 111.0)
    ledger.advance({A: 9}, {}, 111.0, CLOCK_MS)
    assert ledger.is_at_end(A, 111.0)
    # After a pause the client still has what it fetched before; what has come since is not known.
    assert not ledger.is_at_end(A, 171.0)


def test_what_comes_after_an_outage_or_a_start_behind_the_end_is_a_backlog() -> None:
    ledger = ledger_at(5, 5)
    ledger.see({A: LastFetch(105_000, 9, 9)}, 105.0)
    assert ledger.is_catching_up(A, 105.0)
    assert ledger_at(2, 5).is_catching_up(A, 100.0)
    ledger.advance({A: 7}, {}, 105.0, CLOCK_MS)
    assert not ledger.is_at_end(A, 105.0)
    assert ledger.is_catching_up(A, 105.1)
