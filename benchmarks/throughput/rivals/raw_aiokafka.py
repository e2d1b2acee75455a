"""The limit: aiokafka hands over every record, and nobody looks at it."""

import asyncio
from collections.abc import AsyncIterator

from aiokafka import AIOKafkaConsumer, ConsumerRecord, TopicPartition

from benchmarks.throughput.rivals.job import Job, Stopwatch, read_job

MAX_RECORDS = 5000
Batch = list["ConsumerRecord[bytes, bytes]"]


async def batches(job: Job, topics: list[str]) -> AsyncIterator[tuple[TopicPartition, Batch]]:
    """All records of some topics, from the beginning to the end, as the daemon's own consumer reads them."""
    consumer = AIOKafkaConsumer(
        bootstrap_servers=job.bootstrap_servers,
        enable_auto_commit=False,
        auto_offset_reset="earliest",
        check_crcs=True,
    )
    await consumer.start()
    try:
        counts = {topic: 1 if topic == job.topics["judgments"] else job.partitions for topic in topics}
        consumer.assign([TopicPartition(topic, n) for topic in topics for n in range(counts[topic])])
        left = sum(job.records[topic] for topic in topics)
        while left > 0:
            fetched = await consumer.getmany(timeout_ms=200, max_records=MAX_RECORDS)
            for partition, records in fetched.items():
                left -= len(records)
                yield partition, records
    finally:
        await consumer.stop()


async def main() -> None:
    job, watch, events = read_job(), Stopwatch(), 0
    async for _, records in batches(job, job.event_topics):
        watch.start()
        events += len(records)
        if events == job.events_total:
            watch.finish(events)


if __name__ == "__main__":
    asyncio.run(main())
