"""Judgments by librdkafka, for the programs that are built on it: read whole, before anything is decided."""

import orjson
from confluent_kafka import Consumer, TopicPartition

from benchmarks.throughput.rivals.job import Job
from benchmarks.throughput.rivals.quality import Quality


def read_judgments(job: Job, quality: Quality) -> None:
    """Fill the table of grades."""
    topic = job.topics["judgments"]
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "group.id": f"{job.name}-judgments",
            "enable.auto.commit": False,
        }
    )
    consumer.assign([TopicPartition(topic, 0, 0)])
    left = job.records[topic]
    while left > 0:
        for record in consumer.consume(5000, timeout=0.2):
            judgment = orjson.loads(record.value())
            quality.judge(judgment["query_id"], judgment["key"], judgment["grade"])
            left -= 1
    consumer.close()
