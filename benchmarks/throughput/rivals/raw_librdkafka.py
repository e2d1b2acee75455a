"""The limit of another client: librdkafka hands over every record, and nobody looks at it."""

from confluent_kafka import Consumer, TopicPartition

from benchmarks.throughput.rivals.job import Stopwatch, read_job

MAX_RECORDS = 5000


def main() -> None:
    job, watch, events = read_job(), Stopwatch(), 0
    consumer = Consumer(
        {
            "bootstrap.servers": job.bootstrap_servers,
            "group.id": job.name,
            "enable.auto.commit": False,
            "auto.offset.reset": "earliest",
            "check.crcs": True,
        }
    )
    partitions = {role: 1 if role == "judgments" else job.partitions for role in job.topics}
    consumer.assign(
        [TopicPartition(t, n, 0) for role, t in job.topics.items() for n in range(partitions[role])]
    )
    while events < job.total:
        if records := consumer.consume(MAX_RECORDS, timeout=0.2):
            watch.start()
            for record in records:
                record.value()
            events += len(records)
    watch.finish(events)
    consumer.close()


if __name__ == "__main__":
    main()
