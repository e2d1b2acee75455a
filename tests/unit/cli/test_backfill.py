"""backfill: what is refused, and how it is told."""

import json
import time
from datetime import UTC, datetime

import pytest

from tests.unit.stream.timeline import impression

UNTIL = "2026-01-01T12:00:00Z"


@pytest.fixture
def events(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text(json.dumps(impression("i", 0)) + "\n")
    return path


@pytest.fixture
def refusal(command, tmp_path, events):
    """What is said when a backfill is refused, with a promtool that is there and would do nothing."""
    promtool = tmp_path / "promtool"
    promtool.write_text("#!/bin/sh\n")
    promtool.chmod(0o755)

    def refuse(*more, **changes):
        options = {"until": UNTIL, "output": tmp_path / "blocks", "promtool": promtool, **changes}
        given = [word for name, value in options.items() for word in (f"--{name}", value)]
        ended = command("backfill", events, *given, *more)
        assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
        return ended.err.removeprefix("ranking-monitor: ").rstrip("\n")

    return refuse


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"until": "yesterday"},
            '--until: "yesterday" is not a time with an offset; give a time such as 2026-01-31T12:00:00Z',
        ),
        (
            {"until": "2026-01-01T12:00:00"},
            (
                '--until: "2026-01-01T12:00:00" is not a time with an offset;'
                " give a time such as 2026-01-31T12:00:00Z"
            ),
        ),
        (
            {"since": "now"},
            '--since: "now" is not a time with an offset; give a time such as 2026-01-31T12:00:00Z',
        ),
        (
            {"since": "2026-01-01T12:00:00Z", "until": "2026-01-01T12:00:59Z"},
            "--since: 2026-01-01T12:00:00Z is not before --until, which is 2026-01-01T12:00:00Z",
        ),
        ({"step": "0s"}, '--step: "0s" is not allowed; give 1s to 2m, such as 15s or 1m'),
        ({"step": "5m"}, '--step: "5m" is not allowed; give 1s to 2m, such as 15s or 1m'),
        ({"step": "60"}, '--step: "60" is not allowed; give 1s to 2m, such as 15s or 1m'),
        ({"processes": "0"}, "--processes: 0 is not allowed; give 1 or more"),
        ({"labels": "eu"}, '--labels: "eu" is not a label; give NAME=VALUE'),
        ({"labels": "re-gion=eu"}, '--labels: "re-gion=eu" is not a label; give NAME=VALUE'),
        ({"labels": "__name__=eu"}, '--labels: "__name__=eu" is not a label; give NAME=VALUE'),
        ({"labels": "job=eu"}, '--labels: "job" is a label that the series have already; leave it out'),
        (
            {"labels": "variant=b"},
            '--labels: "variant" is a label that the series have already; leave it out',
        ),
        (
            {"promtool": "no-promtool"},
            (
                '--promtool: there is no program "no-promtool"; it comes with Prometheus'
                " (Debian: apt-get install prometheus)"
            ),
        ),
        (
            {"until": "2025-12-31T00:00:30Z"},
            "there are no events up to 2025-12-31T00:00:00Z: nothing is written",
        ),
        (
            {"since": "2026-01-01T11:00:00Z"},
            (
                "there are no events from 2026-01-01T11:00:00Z on and up to 2026-01-01T12:00:00Z:"
                " nothing is written"
            ),
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(refusal, given, message):
    assert refusal(**given) == message


def test_a_time_that_prometheus_may_hold_in_memory_is_refused(refusal):
    until = datetime.fromtimestamp(time.time() - 3 * 3600 + 30, UTC).isoformat()
    said = refusal(until=until)
    assert said.startswith(
        f"--until: {until} is less than 3 hours ago, which Prometheus may still hold in memory; give "
    )
    latest = datetime.fromisoformat(said.removesuffix(" or earlier").rsplit(" ", 1)[1]).timestamp()
    assert 3 * 3600 <= time.time() - latest < 3 * 3600 + 60


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(refusal, tmp_path):
    (tmp_path / "file").touch()
    output = tmp_path / "file" / "blocks"
    assert refusal(output=output) == f'--output: cannot write into "{output}": Not a directory'


def test_a_folder_with_a_block_of_that_time_is_refused(refusal, tmp_path):
    block = tmp_path / "blocks" / "01M7KJEYFMA9B1CDYS3FH6NP0Y"
    block.mkdir(parents=True)
    (block / "meta.json").write_text('{"minTime": 1767225000000, "maxTime": 1767226000000}')
    assert refusal().startswith(
        f'"{block}" covers 2025-12-31T23:50:00Z to 2026-01-01T00:06:40Z, which overlaps '
    )
    assert [path.name for path in block.parent.iterdir()] == [block.name]


def test_a_promtool_that_makes_no_block_is_told(refusal, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho out of disk >&2\nexit 1\n")
    broken.chmod(0o755)
    assert refusal(promtool=broken) == f"{broken} made no block: out of disk"
    assert list((tmp_path / "blocks").iterdir()) == []
