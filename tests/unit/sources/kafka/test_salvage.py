"""What is read of batches of which some are bad, and where it goes on."""

import pytest
from aiokafka.record.legacy_records import LegacyRecordBatchBuilder

from monitor.sources.kafka.salvage import Gap, Salvaged, salvage
from tests.unit.sources.kafka.batches import CONTROL, damaged, marker, packed, with_attributes

CHECKSUM, HEADER = "its checksum is wrong", "its header is wrong"
UNKNOWN_CODEC = 7
ONE, TWO, THREE = packed(10, 5), packed(15, 5), packed(20, 5)


def offsets(found: Salvaged) -> list[int]:
    assert [record.value for record in found.records] == [b"%d" % r.offset for r in found.records]
    return [record.offset for record in found.records]


def test_good_batches_are_read_from_the_position_on() -> None:
    found = salvage(ONE + packed(15, 5, codec=1) + THREE[:-1], 12, 25, patient=True)
    assert offsets(found) == [12, 13, 14, 15, 16, 17, 18, 19]
    assert (found.position, found.gaps, found.stopped, found.clean) == (20, [], "", True)


def test_with_patience_it_stops_before_a_batch_with_a_wrong_checksum() -> None:
    found = salvage(ONE + damaged(TWO) + THREE, 10, 25, patient=True)
    assert (offsets(found), found.position, found.gaps) == ([10, 11, 12, 13, 14], 15, [])
    assert found.stopped == CHECKSUM


def test_without_patience_it_goes_on_behind_it() -> None:
    found = salvage(ONE + damaged(TWO) + THREE, 10, 25, patient=False)
    assert (offsets(found), found.position) == ([10, 11, 12, 13, 14, 20, 21, 22, 23, 24], 25)
    assert (found.gaps, found.stopped, found.clean) == ([Gap(15, 20, CHECKSUM)], "", True)


def test_a_bad_batch_at_the_end_leaves_nothing_to_be_sure_of() -> None:
    found = salvage(ONE + damaged(TWO), 10, 25, patient=False)
    assert (found.position, found.gaps, found.clean) == (20, [Gap(15, 20, CHECKSUM)], False)


def test_what_was_written_that_way_is_left_out_even_with_patience() -> None:
    found = salvage(ONE + with_attributes(TWO, UNKNOWN_CODEC) + THREE, 10, 25, patient=True)
    assert (offsets(found)[-5:], found.stopped) == ([20, 21, 22, 23, 24], "")
    (gap,) = found.gaps
    assert gap[:2] == (15, 20)
    assert "codec" in gap.cause


def test_markers_of_transactions_are_no_records() -> None:
    found = salvage(ONE + with_attributes(TWO, CONTROL) + THREE, 10, 25, patient=True)
    assert (len(offsets(found)), found.position, found.gaps) == (10, 25, [])


def test_aborted_transactions_are_left_out_up_to_their_marker() -> None:
    log = [
        packed(0, 2, producer_id=7),
        packed(2, 2, producer_id=8),
        packed(4, 2),
        marker(6, 7, commit=False),
        packed(7, 2, producer_id=7),
        marker(9, 7, commit=True),
        marker(10, 8, commit=True),
        packed(11, 2, producer_id=8),
        marker(13, 8, commit=False),
    ]
    found = salvage(b"".join(log), 0, 14, [(8, 11), (7, 0)], patient=True)
    assert (offsets(found), found.position) == ([2, 3, 4, 5, 7, 8], 14)
    assert (found.gaps, found.clean) == ([], True)
    everything = salvage(b"".join(log), 0, 14, patient=True)
    assert (len(everything.records), everything.position) == (10, 14)


def test_after_a_damaged_batch_it_asks_again_which_transactions_are_aborted() -> None:
    log = packed(0, 2, producer_id=7), damaged(marker(2, 7, commit=False)), packed(3, 2, producer_id=7)
    found = salvage(b"".join(log), 0, 6, [(7, 0)], patient=False)
    assert (offsets(found), found.position, found.gaps) == ([], 3, [Gap(2, 3, CHECKSUM)])
    assert not found.clean


def test_a_batch_of_an_old_format_is_in_no_transaction() -> None:
    builder = LegacyRecordBatchBuilder(magic=1, compression_type=0, batch_size=1 << 20)
    builder.append(0, timestamp=1, key=None, value=b"0")
    found = salvage(bytes(builder.build()) + packed(1, 1, producer_id=7), 0, 2, [(7, 1)], patient=True)
    assert (offsets(found), found.position) == ([0], 2)


def test_nothing_is_nothing() -> None:
    assert salvage(b"", 10, 10, patient=False) == Salvaged(10)


@pytest.mark.parametrize(
    ("data", "cause", "after"),
    [
        pytest.param(damaged(TWO, at=23) + THREE, CHECKSUM, 20, id="last offset beyond the next batch"),
        pytest.param(damaged(TWO, at=23), CHECKSUM, 16, id="last offset beyond the log"),
        pytest.param(damaged(TWO, at=16) + THREE, HEADER, 20, id="format"),
        pytest.param(damaged(TWO, at=9) + THREE, HEADER, 20, id="length beyond the answer"),
        pytest.param(damaged(TWO, at=8) + THREE, HEADER, 20, id="negative length"),
        pytest.param(TWO[:8] + bytes(3) + b"\x02" + TWO[12:14], HEADER, 16, id="length too small"),
    ],
)
def test_a_header_that_is_damaged_too_does_not_lead_astray(data: bytes, cause: str, after: int) -> None:
    found = salvage(data, 15, 25, patient=False)
    assert found.gaps[0] == Gap(15, after, cause)
