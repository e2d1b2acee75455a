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
    consumer.assign([TopicPartition(t, n, 0) for t in job.event_topics for n in range(job.partitions)])
    while events < job.events_total:
        if records := consumer.consume(MAX_RECORDS, timeout=0.2):
            watch.start()
            for record in records:
                record.value()
            events += len(records)
    watch.finish(events)
    consumer.close()


if __name__ == "__main__":
    main()
