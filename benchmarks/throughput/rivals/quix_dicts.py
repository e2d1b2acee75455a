"""Quix Streams without its windows and its store: the join in dicts, which a restart would lose."""

import tempfile
from typing import Any

from quixstreams import Application, message_context

from benchmarks.throughput.rivals.job import Job, Stopwatch, read_job
from benchmarks.throughput.rivals.join import Join
from benchmarks.throughput.rivals.judged import read_judgments
from benchmarks.throughput.rivals.quality import Quality


def run(job: Job, folder: str) -> None:
    watch, quality, read = Stopwatch(), Quality(), 0
    read_judgments(job, quality)
    app = Application(
        broker_address=job.bootstrap_servers,
        consumer_group=job.name,
        auto_offset_reset="earliest",
        state_dir=folder,
        auto_create_topics=False,
        consumer_extra_config={"check.crcs": True},
        loglevel="WARNING",
    )
    names = [job.topics["impressions"], job.topics["interactions"]]
    joins = [Join(quality, names) for _ in range(job.partitions)]

    def join_event(event: dict[str, Any]) -> None:
        nonlocal read
        watch.start()
        context = message_context()
        join = joins[context.partition]
        if event["type"] == "impression":
            labels = event.get("labels") or {}
            join.impression(event["impression_id"], event["ts"], event["query_id"], event["ranked"], labels)
        elif event["type"] == "click":
            join.click(event["impression_id"], event["position"])
        join.advance(context.topic, event["ts"])
        read += 1
        if read == job.events_total:
            watch.finish(read, quality.result())
            app.stop()

    for name in names:
        app.dataframe(app.topic(name, value_deserializer="json")).update(join_event)
    app.run()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as state:
        run(read_job(), state)
