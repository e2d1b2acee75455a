"""replay: the engine over a file, a summary, and files of what it found."""

import gzip
import json

import pytest

from monitor.config import Config
from tests.unit.stream.timeline import HOUR, click, impression, judgment

EVENTS = [
    impression("i", 0, labels={"variant": "a"}),
    click("i", 4, "b"),
    impression("j", 30, "ab", labels={"variant": "b"}),
    judgment("a", 35, 1),
    impression("j", 31),
    click("nobody", 40),
]


@pytest.fixture
def events(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in EVENTS) + "nonsense\n")
    return path


def rows(shown):
    """The lines of the summary, split where there are two spaces or more."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in shown.out.splitlines()]


def test_the_summary_says_how_every_record_ended(command, events):
    shown = command("replay", events)
    assert (shown.code, shown.err) == (0, "")
    for row in (
        ["read", "7"],
        ["impression settled", "2"],
        ["impression duplicate", "1"],
        ["click joined", "1"],
        ["click unmatched", "1"],
        ["judgment applied", "1"],
        ["rejected: not_json", "1"],
    ):
        assert row in rows(shown)


def test_the_summary_has_the_mean_of_every_metric_for_every_label_set(command, events):
    found = rows(command("replay", events))
    assert ["metric", "maturity", "variant", "mean", "samples"] in found
    for row in (
        ["results", "a", "3.0000", "1"],
        ["results", "b", "2.0000", "1"],
        ["ctr@10", "a", "1.0000", "1"],
        ["ctr@10", "b", "0.0000", "1"],
        ["ndcg@10", "1m", "a", "1.0000", "1"],
    ):
        assert row in found


def test_the_summary_has_the_clicks_by_rank_over_the_impressions_that_reach_it(command, tmp_path):
    path = tmp_path / "events.jsonl"
    shown = [impression("i", 0, "abc"), impression("j", 1, "ab"), click("i", 4, "b"), click("j", 5, "a")]
    other = [impression("k", 2, "a", labels={"variant": "x"})]
    path.write_text("".join(json.dumps(event) + "\n" for event in shown + other))
    found = rows(command("replay", path))
    assert ["variant", "@1", "@2", "@3"] in found
    assert ["position_ctr", "unknown", "0.5000", "0.5000", "0.0000"] in found
    assert ["position_ctr", "x", "0.0000"] in found


def test_many_label_sets_are_cut_to_the_busiest_and_nothing_is_wrapped(command, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    path, longest = tmp_path / "events.jsonl", "a-variant-with-a-name-" + 80 * "x"
    shown_often = [impression(f"often{i}", 1, labels={"variant": longest}) for i in range(3)]
    others = [impression(f"i{i}", 1, labels={"variant": f"[v{i}]"}) for i in range(12)]
    path.write_text("".join(json.dumps(event) + "\n" for event in others + shown_often))
    shown = command("replay", path)
    found = rows(shown)
    assert ["results", longest, "3.0000", "3"] in found
    assert [row[1] for row in found if row[:1] == ["results"]] == [longest, *(f"[v{i}]" for i in range(9))]
    assert shown.out.endswith(
        "The 10 label sets with the most samples of 13; 3 are left out: --metrics-out has all.\n"
    )


def test_nothing_that_did_not_happen_is_in_the_summary(command, events):
    shown = command("replay", events)
    assert "evicted" not in shown.out
    assert "held" not in shown.out
    assert "scroll_depth" not in shown.out


def test_the_file_may_be_compressed(command, events, tmp_path):
    packed = tmp_path / "events.gz"
    packed.write_bytes(gzip.compress(events.read_bytes()))
    assert command("replay", packed).out == command("replay", events).out


def test_an_empty_file_has_an_empty_summary(command, tmp_path):
    (tmp_path / "empty").touch()
    shown = command("replay", tmp_path / "empty")
    assert shown.code == 0
    assert ["read", "0"] in rows(shown)


def test_the_configuration_decides_what_is_computed(command, events, tmp_path):
    config = tmp_path / "monitor.yaml"
    config.write_text("labels: []\nmetrics: [precision@1]\njudgments: {maturities: [1, 120]}\n")
    found = rows(command("replay", events, "--config", config))
    assert ["metric", "maturity", "mean", "samples"] in found
    assert ["precision@1", "2m", "1.0000", "2"] in found
    assert not any(row[:2] == ["precision@1", "1s"] for row in found)


def test_what_a_scrape_would_have_shown_is_written(command, events, tmp_path):
    out = tmp_path / "metrics.txt"
    assert command("replay", events, "--metrics-out", out).code == 0
    lines = out.read_text().splitlines()
    assert 'ranking_monitor_records_total{topic="events.jsonl"} 7.0' in lines
    assert 'ranking_monitor_events_total{fate="settled",type="impression"} 2.0' in lines
    assert 'vector_ctr_avg_count{k="10",variant="a"} 1.0' in lines


def test_the_config_hash_is_that_of_the_daemon(command, events, tmp_path):
    out = tmp_path / "metrics.txt"
    command("replay", events, "--metrics-out", out)
    assert f'hash="{Config().digest}"' in out.read_text()


def test_every_window_is_written_as_json_lines(command, events, tmp_path):
    out = tmp_path / "windows.jsonl"
    assert command("replay", events, "--windows-out", out).code == 0
    windows = [json.loads(line) for line in out.read_text().splitlines()]
    assert {(window["window"], window["delay"]) for window in windows} == {
        (size, delay) for size in ("1m", "5m", "1h") for delay in ("0s", "1m", "5m", "1h")
    }
    assert {window["start"] for window in windows} == {HOUR}
    assert not any(window["partial"] for window in windows)


def test_more_windows_are_written_than_the_api_keeps(command, tmp_path):
    path, out = tmp_path / "events.jsonl", tmp_path / "windows.jsonl"
    config = tmp_path / "monitor.yaml"
    config.write_text("windows_kept: 2\nwindows: [60]\n")
    path.write_text("".join(json.dumps(impression(f"i{i}", i * 60)) + "\n" for i in range(10)))
    command("replay", path, "--config", config, "--windows-out", out)
    windows = [json.loads(line) for line in out.read_text().splitlines()]
    assert len({window["start"] for window in windows}) == 10


def test_windows_are_written_as_openmetrics_where_the_name_says_so(command, events, tmp_path):
    out = tmp_path / "windows.om"
    assert command("replay", events, "--windows-out", out).code == 0
    text = out.read_text()
    assert text.endswith("# EOF\n")
    expected = f'vector_window_ctr_avg{{k="10",variant="a",window="1m"}} 1.0 {HOUR + 60}'
    assert expected in text.splitlines()


def test_a_missing_file_is_a_mistake_of_the_user(command, tmp_path):
    path = tmp_path / "none.jsonl"
    ended = command("replay", path)
    assert ended == (2, "", f'ranking-monitor: cannot read "{path}": No such file or directory\n')


def test_a_damaged_file_is_a_mistake_of_the_user(command, events, tmp_path):
    packed = tmp_path / "events.gz"
    packed.write_bytes(gzip.compress(events.read_bytes())[:-20])
    ended = command("replay", packed)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith(f'ranking-monitor: "{packed}" is damaged after line ')
    assert ended.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--metrics-out", "--windows-out"])
def test_a_command_that_fails_leaves_no_empty_file(command, tmp_path, option):
    assert command("replay", tmp_path / "none.jsonl", option, tmp_path / "out").code == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", ["--metrics-out", "--windows-out"])
def test_where_nothing_can_be_written_is_told_before_the_work(command, tmp_path, option):
    path = tmp_path / "no" / "folder"
    ended = command("replay", tmp_path / "none.jsonl", option, path)
    assert ended == (2, "", f'ranking-monitor: cannot write "{path}": No such file or directory\n')
