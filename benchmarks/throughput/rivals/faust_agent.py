"""Faust (faust-streaming): one agent over both topics, JSON by orjson, and the join in dicts.

Not in its tables, which would send every change to a changelog topic as well: dicts are the faster way.
"""

import os
import signal
import tempfile
from typing import Any

import faust
import orjson
import uvloop
from aiokafka import AIOKafkaConsumer, TopicPartition

from benchmarks.throughput.rivals.job import Job, Stopwatch, read_job
from benchmarks.throughput.rivals.join import Join
from benchmarks.throughput.rivals.quality import Quality


async def read_judgments(job: Job, quality: Quality) -> None:
    """Fill the table of grades before anything is decided."""
    topic = job.topics["judgments"]
    consumer = AIOKafkaConsumer(bootstrap_servers=job.bootstrap_servers, auto_offset_reset="earliest")
    await consumer.start()
    consumer.assign([TopicPartition(topic, 0)])
    left = job.records[topic]
    while left > 0:
        for records in (await consumer.getmany(timeout_ms=200, max_records=5000)).values():
            for record in records:
                judgment = orjson.loads(record.value)
                quality.judge(judgment["query_id"], judgment["key"], judgment["grade"])
            left -= len(records)
    await consumer.stop()


def make_app(job: Job, folder: str) -> faust.App:
    watch, quality = Stopwatch(), Quality()
    app = faust.App(
        job.name,
        broker=f"kafka://{job.bootstrap_servers}",
        datadir=folder,
        store="memory://",
        consumer_auto_offset_reset="earliest",
        broker_check_crcs=True,
        topic_disable_leader=True,
        topic_allow_declare=False,
        web_enabled=False,
        stream_wait_empty=False,
        # More than the default 4096: an agent that waits for the conductor reads nothing.
        stream_buffer_maxsize=16384,
    )
    names = [job.topics["impressions"], job.topics["interactions"]]
    topic = app.topic(*names, value_serializer="json")

    async def join_events(stream: Any) -> None:
        await read_judgments(job, quality)
        read = 0
        joins = [Join(quality, names) for _ in range(job.partitions)]
        async for message in stream.events():
            watch.start()
            event, source = message.value, message.message
            join = joins[source.partition]
            if event["type"] == "impression":
                labels = event.get("labels") or {}
                join.impression(
                    event["impression_id"], event["ts"], event["query_id"], event["ranked"], labels
                )
            elif event["type"] == "click":
                join.click(event["impression_id"], event["position"])
            join.advance(source.topic, event["ts"])
            read += 1
            if read == job.events_total:
                watch.finish(read, quality.result())
                # An agent cannot wait for the app to stop, which waits for its agents.
                os.kill(os.getpid(), signal.SIGTERM)

    app.agent(topic)(join_events)
    return app


if __name__ == "__main__":
    uvloop.install()
    with tempfile.TemporaryDirectory() as data:
        app = make_app(read_job(), data)
        faust.Worker(app, loglevel="WARNING", redirect_stdouts=False).execute_from_commandline()
