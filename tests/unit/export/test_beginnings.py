"""The beginnings of lines are written once, and only for what is new."""

from collections import Counter
from collections.abc import Mapping

import pytest

from monitor.export import beginnings
from monitor.export.beginnings import Beginnings
from monitor.export.catalogue import Family, Kind
from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.export.text import beginning
from tests.unit.export.snapshots import SMALL, busy_snapshot, make_snapshot

COUNTER = Family("x_total", Kind.COUNTER, "X.", ("k", "variant"))
HISTOGRAM = Family("h", Kind.HISTOGRAM, "H.", ("variant",), (0.5, 1.0))
STATUS = ProcessStatus("1", "c", lag={("search-events", 0): 12})


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each beginning was written."""
    seen: Counter[str] = Counter()

    def counting(name: str, labels: Mapping[str, str], escaping: str) -> str:
        line = beginning(name, labels, escaping)
        seen[line] += 1
        return line

    monkeypatch.setattr(beginnings, "beginning", counting)
    return seen


@pytest.mark.parametrize("accept", ["", "application/openmetrics-text"], ids=["text", "openmetrics"])
def test_scrapes_write_each_line_once_whatever_their_format(accept: str, written: Counter[str]) -> None:
    exposition = Exposition()
    first, _ = exposition.render(busy_snapshot(), STATUS, accept)
    before = written.total()
    second, _ = exposition.render(busy_snapshot(), STATUS, accept)
    exposition.render(busy_snapshot(), STATUS)
    assert written.total() == before > 100
    assert set(written.values()) == {1}
    assert first.split(b"# HELP process")[0] == second.split(b"# HELP process")[0]


def test_a_new_label_set_writes_its_own_lines_and_no_other(written: Counter[str]) -> None:
    exposition = Exposition()
    exposition.render(make_snapshot(SMALL, [("a",)]), STATUS)
    old = set(written)
    body, _ = exposition.render(make_snapshot(SMALL, [("a",), ("b",)]), STATUS)
    assert set(written.values()) == {1}
    assert all('variant="b"' in line for line in set(written) - old)
    assert body.startswith(Exposition().counted(make_snapshot(SMALL, [("a",), ("b",)]), ""))


def test_who_knows_fewer_label_sets_gets_their_lines() -> None:
    kept = Beginnings(("variant",))
    assert kept.of(COUNTER, (("k", "1"),), [("a",), ("b",)]) == [
        '\nx_total{k="1",variant="a"} ',
        '\nx_total{k="1",variant="b"} ',
    ]
    assert kept.of(COUNTER, (("k", "1"),), [("a",)]) == ['\nx_total{k="1",variant="a"} ']
    assert kept.of(COUNTER, (("k", "1"),), []) == []


def test_a_histogram_has_its_buckets_count_and_sum_label_set_by_label_set() -> None:
    lines = Beginnings(("variant",)).of(HISTOGRAM, (), [("a",), ("b",)])
    assert lines[:5] == [
        '\nh_bucket{le="0.5",variant="a"} ',
        '\nh_bucket{le="1.0",variant="a"} ',
        '\nh_bucket{le="+Inf",variant="a"} ',
        '\nh_count{variant="a"} ',
        '\nh_sum{variant="a"} ',
    ]
    assert [line.replace('"b"', '"a"') for line in lines[5:]] == lines[:5]
