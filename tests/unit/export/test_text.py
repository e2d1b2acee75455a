"""Text as prometheus_client writes it, byte for byte."""

import math
import random
from collections.abc import Iterable

import numpy as np
import pytest
from prometheus_client import Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.utils import floatToGoString

from monitor.export.beginnings import Beginnings
from monitor.export.collector import ProcessStatus, SnapshotCollector
from monitor.export.text import END_OF_OPENMETRICS, Format, format_of, numbers, write
from tests.unit.export.snapshots import SMALL, busy_snapshot

TEXT = "text/plain;version=1.0.0"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"


class Families:
    """What prometheus_client can encode."""

    def __init__(self, families: Iterable[Metric]) -> None:
        self._families = list(families)

    def collect(self) -> Iterable[Metric]:
        return self._families


def written(form: Format) -> str:
    collector = SnapshotCollector(busy_snapshot(), Beginnings(SMALL.labels, form.escaping))
    status = ProcessStatus("1.2.3", "c0ffee", lag={("search-events", 0): 12_345_678})
    return write([*collector.counted(), *collector.momentary(status)], form)


@pytest.mark.parametrize(
    "accept",
    [
        "",
        *(f"{TEXT};escaping={how}" for how in ("underscores", "dots", "values", "allow-utf-8")),
        # Not `values`: there prometheus_client escapes the names of samples that need it not.
        *(f"{OPENMETRICS};escaping={how}" for how in ("underscores", "dots", "allow-utf-8")),
    ],
)
def test_each_format_and_escaping_is_what_prometheus_client_writes(accept: str) -> None:
    encode, content_type = choose_encoder(accept)
    theirs = encode(Families(text_string_to_metric_families(written(Format())))).decode()
    form = format_of(content_type)
    assert written(form) + (END_OF_OPENMETRICS if form.openmetrics else "") == theirs


def test_numbers_are_what_prometheus_client_writes() -> None:
    rng = random.Random(3)
    values = [
        *(0.0, -0.0, 1.0, 0.1, 1e-5, 5e-324, 999_999.0, 999_999.9999, 1e6, 1_234_567.0, 1_234_567.25, 1e15),
        *(1e16, 1.5e16, 1e22, 1.7976931348623157e308, -1e6, -1_234_567.5, math.inf, -math.inf, math.nan),
        *(rng.random() * 10.0 ** rng.randint(-8, 18) for _ in range(500)),
        *(float(rng.randrange(10 ** rng.randint(1, 15))) for _ in range(500)),
    ]
    assert numbers(np.array(values)) == [floatToGoString(value) for value in values]  # type: ignore[no-untyped-call]
