"""The daemon from a real Kafka to /metrics: what users install, run as they run it."""

import asyncio
import json
import time
import uuid
from pathlib import Path

import pytest

from tests.support.daemon import QUICK, Daemon, command, daemon, quality, series
from tests.support.kafka import Broker, OwnBroker
from tests.support.waiting import wait_until

pytestmark = pytest.mark.kafka
SIMULATION = ("simulate", "--scenario", "bad-deploy", "--duration", "120", "--rate", "25", "--seed", "7")


async def simulated_file(folder: Path, start: str) -> Path:
    path = folder / "events.jsonl"
    code, _, errors = await command(*SIMULATION, "--start", start, "--to-file", str(path))
    assert code == 0, errors
    return path


async def replayed(folder: Path, events: Path) -> tuple[dict, list[dict]]:
    """What `replay` makes of the same events with the same settings: series, and windows."""
    config = folder / "replay.yaml"
    config.write_text(json.dumps(dict(QUICK)))
    outputs = {"--metrics-out": folder / "metrics.txt", "--windows-out": folder / "windows.jsonl"}
    arguments = [str(part) for pair in outputs.items() for part in pair]
    code, _, errors = await command("replay", str(events), "--config", str(config), *arguments)
    assert code == 0, errors
    windows = [json.loads(line) for line in (folder / "windows.jsonl").read_text().splitlines()]
    return quality(series((folder / "metrics.txt").read_text())), windows


async def everything_is_settled(running: Daemon, impressions: int) -> bool:
    settled = await running.total("ranking_monitor_events_total", type="impression", fate="settled")
    pending = await running.total("ranking_monitor_pending_interactions")
    return settled == impressions and pending == 0


def without_window_gauges(samples: dict) -> dict:
    """The newest window depends on when one looks; /api/v1/windows is compared instead."""
    return {key: value for key, value in samples.items() if not key[0].startswith("vector_window_")}


def by_window(windows: list[dict]) -> dict:
    return {(w["window"], w["start"], w["delay"]): w for w in windows}


TOPICS = {
    "one topic": {"events": 1},
    "one topic of three partitions": {"events": 3},
    "three topics": {"impressions": 3, "interactions": 3, "judgments": 2},
}


@pytest.mark.parametrize("layout", TOPICS.values(), ids=TOPICS.keys())
async def test_a_live_run_equals_a_replay_of_the_same_events(
    kafka: Broker, tmp_path: Path, layout: dict[str, int]
) -> None:
    start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 600))
    events = await simulated_file(tmp_path, start)
    expected, windows = await replayed(tmp_path, events)
    topics = {role: await kafka.topic(partitions) for role, partitions in layout.items()}
    target = (
        ("--topic", topics["events"])
        if "events" in topics
        else tuple(part for role, name in topics.items() for part in (f"--{role}-topic", name))
    )
    code, _, errors = await command(
        *SIMULATION, "--start", start, "--bootstrap-servers", kafka.bootstrap_servers, *target, "--speed", "0"
    )
    assert code == 0, errors
    config = {
        "kafka": {
            "bootstrap_servers": kafka.bootstrap_servers,
            "group_id": f"live-{uuid.uuid4().hex[:8]}",
            "topics": {role: [name] for role, name in topics.items()},
            "start": "earliest",
        }
    }
    impressions = int(expected["ranking_monitor_events_total", (("fate", "settled"), ("type", "impression"))])
    assert impressions > 2000
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: everything_is_settled(running, impressions), 40, every=0.2)
        live = quality(await running.metrics())
        shown = (await running.get("/api/v1/windows")).json()["windows"]
        assert await running.answers("/-/ready")
        assert await running.stop() == 0
    live, expected = without_window_gauges(live), without_window_gauges(expected)
    assert live.keys() == expected.keys()
    for key, value in expected.items():
        assert live[key] == pytest.approx(value, rel=1e-9), key
    live_windows, replayed_windows = by_window(shown), by_window(windows)
    assert live_windows.keys() == replayed_windows.keys()
    for key, window in replayed_windows.items():
        theirs = {json.dumps([s["metric"], s["k"], s["labels"]]): s for s in live_windows[key]["series"]}
        for mine in window["series"]:
            found = theirs[json.dumps([mine["metric"], mine["k"], mine["labels"]])]
            assert found["samples"] == mine["samples"], key
            assert found["mean"] == pytest.approx(mine["mean"], rel=1e-9, abs=1e-12), key
            assert found["buckets"] == mine["buckets"], key


async def test_over_tls_with_a_scram_password(secure_kafka: OwnBroker, tmp_path: Path) -> None:
    topic = await secure_kafka.topic()
    now = time.time()
    event = {"type": "impression", "impression_id": "i", "query_id": "q", "ts": now - 60, "ranked": ["a"]}
    await secure_kafka.produce(topic, [(b"i", json.dumps(event).encode())])
    config = {
        "kafka": {
            "bootstrap_servers": secure_kafka.sasl_servers,
            "group_id": f"tls-{topic}",
            "topics": {"events": [topic]},
            "start": "earliest",
            "security": {
                "ca_file": str(secure_kafka.ca_file),
                "mechanism": "SCRAM-SHA-512",
                "username": secure_kafka.username,
                "password_file": str(secure_kafka.password_file),
            },
        }
    }
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: everything_is_settled(running, 1), 30, every=0.2)


async def test_bad_records_are_counted_and_never_stop_the_ones_around_them(
    kafka: Broker, tmp_path: Path
) -> None:
    topic = await kafka.topic()
    now = time.time()

    def impression(number: int) -> bytes:
        event = {"type": "impression", "impression_id": f"i{number}", "query_id": "q", "ts": now - 60}
        return json.dumps({**event, "ranked": ["a", "b"]}).encode()

    bad = [b"no json", b"[]", b'{"type": "unheard"}', b'{"type": "impression"}', None, b"\xff\xfe"]
    records = [(b"k", raw) for number, raw in enumerate(bad) for raw in (impression(number), raw)]
    await kafka.produce(topic, records)
    kafka_config = {"bootstrap_servers": kafka.bootstrap_servers, "group_id": topic, "start": "earliest"}
    config = {"kafka": {**kafka_config, "topics": {"events": [topic]}}}
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: everything_is_settled(running, len(bad)), 30, every=0.2)
        assert await running.total("ranking_monitor_rejected_total") == len(bad)
        assert await running.total("ranking_monitor_rejected_total", reason="not_json") == 3
        assert await running.total("ranking_monitor_records_total", topic=topic) == 2 * len(bad)


async def test_a_restart_counts_nothing_that_was_committed_again(kafka: Broker, tmp_path: Path) -> None:
    topic = await kafka.topic()

    def impressions(first: int, last: int, ts: float) -> list[tuple[bytes, bytes]]:
        event = {"type": "impression", "query_id": "q", "ts": ts, "ranked": ["a"]}
        return [
            (str(n).encode(), json.dumps({**event, "impression_id": str(n)}).encode())
            for n in range(first, last)
        ]

    kafka_config = {"bootstrap_servers": kafka.bootstrap_servers, "group_id": topic, "start": "earliest"}
    config = {
        "kafka": {**kafka_config, "topics": {"events": [topic]}},
        "attribution_seconds": 3,
        "judgments": {"maturities": [2]},
        "commit": "interval",
    }
    await kafka.produce(topic, impressions(0, 100, time.time() - 300))
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: everything_is_settled(running, 100), 30, every=0.2)

        async def all_is_committed() -> bool:
            _, metadata = (await kafka.committed(topic, topic)).get(0, (0, ""))
            counted = json.loads(metadata or '{"p": {}, "s": null}')
            return counted["p"].get(topic) == 100 and (counted["s"] or 0) > time.time() - 100

        await wait_until(all_is_committed, 15, every=0.3)
        assert await running.stop() == 0
    await kafka.produce(topic, impressions(100, 110, time.time() - 200) + impressions(110, 150, time.time()))
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: everything_is_settled(running, 40), 30, every=0.2)
        # Event time had gone on with the clock before the restart: the old ones are late after it too.
        assert await running.total("ranking_monitor_events_total", type="impression", fate="late") == 10
        assert await running.total("ranking_monitor_records_total", topic=topic) == 50


async def test_sigterm_ends_it_within_ten_seconds_with_the_group_left(kafka: Broker, tmp_path: Path) -> None:
    topic = await kafka.topic()
    kafka_config = {"bootstrap_servers": kafka.bootstrap_servers, "group_id": topic}
    config = {"kafka": {**kafka_config, "topics": {"events": [topic]}}}
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: running.answers("/-/ready"), 20, every=0.2)
        assert await running.stop() == 0
        async with kafka.admin() as admin:
            (group,) = (await admin.describe_consumer_groups([topic]))[0].groups
        assert not group[-2 if isinstance(group[-1], int) else -1]


async def test_sigterm_ends_it_within_ten_seconds_when_there_is_no_broker(tmp_path: Path) -> None:
    config = {"kafka": {"bootstrap_servers": "127.0.0.1:1"}}
    async with daemon(tmp_path, config) as running:
        assert await running.answers("/-/ready", 503)
        assert "waiting for broker 127.0.0.1:1" in (await running.get("/-/ready")).text
        assert await running.answers("/-/healthy")
        assert await running.stop() == 0


async def test_unequal_partition_counts_end_it_with_one_line_and_code_2(
    kafka: Broker, tmp_path: Path
) -> None:
    impressions, interactions = await kafka.topic(3), await kafka.topic(2)
    topics = {"impressions": [impressions], "interactions": [interactions]}
    config = {
        "kafka": {"bootstrap_servers": kafka.bootstrap_servers, "group_id": impressions, "topics": topics}
    }
    async with daemon(tmp_path, config) as running:
        assert await asyncio.wait_for(running.process.wait(), 20) == 2
        last = running.log.read_text().splitlines()[-1]
        assert f"{impressions} has 3 partitions" in last
        assert f"{interactions} has 2" in last
        assert "Traceback" not in running.log.read_text()


async def test_judgments_from_a_qrels_file_are_used(kafka: Broker, tmp_path: Path) -> None:
    events, judgments = await kafka.topic(), await kafka.topic(2, cleanup_policy="compact")
    now = time.time()
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("q 0 a 3\nq 0 b 1\n")
    config = {
        "kafka": {
            "bootstrap_servers": kafka.bootstrap_servers,
            "group_id": events,
            "topics": {"events": [events], "judgments": [judgments]},
            "start": "earliest",
        },
        "labels": [],
    }
    path = tmp_path / "load.yaml"
    path.write_text(json.dumps(config))
    code, out, errors = await command("load-judgments", str(qrels), "--config", str(path))
    assert (code, out) == (0, f"2 judgments sent to {judgments}\n"), errors
    event = {"type": "impression", "impression_id": "i", "query_id": "q", "ts": now, "ranked": ["b", "a"]}
    await kafka.produce(events, [(b"i", json.dumps(event).encode())])
    async with daemon(tmp_path, config) as running:
        await wait_until(lambda: running.total("vector_ndcg_avg_count", k="10", maturity="5s"), 40, every=0.3)
        ndcg = await running.total("vector_ndcg_avg_sum", k="10", maturity="5s")
        assert ndcg == pytest.approx((1 + 3 / 1.5849625) / (3 + 1 / 1.5849625), rel=1e-6)
