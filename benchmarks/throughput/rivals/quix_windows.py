"""Quix Streams: two topics in the order of their time, a session window for each impression id.

As its documentation has it: JSON by orjson, windows kept in RocksDB, closed by the time of the partition. Its
changelog topics are off, which makes it faster; librdkafka verifies checksums as the daemon does.
"""

import tempfile
from typing import Any

from quixstreams import Application
from quixstreams.dataframe.windows import Collect

from benchmarks.throughput.rivals.job import Job, Stopwatch, read_job
from benchmarks.throughput.rivals.join import ATTRIBUTION_SECONDS
from benchmarks.throughput.rivals.judged import read_judgments
from benchmarks.throughput.rivals.quality import K, Quality


def shown(event: dict[str, Any]) -> dict[str, Any]:
    """Keep of an impression what is scored later."""
    labels = event.get("labels") or {}
    return {
        "query_id": event["query_id"],
        "ranked": event["ranked"][:K],
        "labels": [labels.get("variant", "unknown"), labels.get("region", "unknown")],
    }


def clicked(event: dict[str, Any]) -> dict[str, Any]:
    """Keep of a click where it was."""
    return {"position": event["position"]}


def run(job: Job, folder: str) -> None:
    watch, quality = Stopwatch(), Quality()
    read_judgments(job, quality)
    read = 0

    def processed(_topic: str, _partition: int, _offset: int) -> None:
        nonlocal read
        watch.start()
        read += 1
        if read == job.events_total:
            watch.finish(read, quality.result())
            app.stop()

    app = Application(
        broker_address=job.bootstrap_servers,
        consumer_group=job.name,
        auto_offset_reset="earliest",
        state_dir=folder,
        use_changelog_topics=False,
        auto_create_topics=False,
        on_message_processed=processed,
        # Not 1 s: it waits that long for a full buffer whenever some partitions are paused.
        consumer_poll_timeout=0.1,
        consumer_extra_config={"check.crcs": True},
        loglevel="WARNING",
    )

    def decide(session: dict[str, Any]) -> None:
        found = session["value"]
        impression = next((event for event in found if "query_id" in event), None)
        if impression is not None:
            positions = [event["position"] for event in found if "position" in event]
            labels = impression["labels"]
            quality.observe(impression["query_id"], impression["ranked"], (labels[0], labels[1]), positions)

    topics = [
        app.topic(job.topics[role], value_deserializer="json") for role in ("impressions", "interactions")
    ]
    impressions, interactions = (app.dataframe(topic) for topic in topics)
    clicks = interactions.filter(lambda event: event["type"] == "click").apply(clicked)
    sessions = impressions.apply(shown).concat(clicks).session_window(int(ATTRIBUTION_SECONDS * 1000))
    sessions.agg(value=Collect()).final(closing_strategy="partition").update(decide)
    app.run()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as state:
        run(read_job(), state)
