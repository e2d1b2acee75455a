"""The limit with decoding: aiokafka, and each value into the typed struct of its event."""

import asyncio

import msgspec

from benchmarks.throughput.rivals.job import Stopwatch, read_job
from benchmarks.throughput.rivals.raw_aiokafka import batches
from monitor.events import Event


async def main() -> None:
    job, watch, events = read_job(), Stopwatch(), 0
    decode = msgspec.json.Decoder(Event).decode
    async for _, records in batches(job, job.event_topics):
        watch.start()
        for record in records:
            decode(record.value)
        events += len(records)
        if events == job.events_total:
            watch.finish(events)


if __name__ == "__main__":
    asyncio.run(main())
