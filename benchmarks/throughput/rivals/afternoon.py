"""What a good engineer writes in an afternoon: aiokafka, pydantic, a join in dicts, prometheus_client."""

import asyncio
from typing import Annotated, Literal

from pydantic import BaseModel, Field, TypeAdapter

from benchmarks.throughput.rivals.job import Stopwatch, read_job
from benchmarks.throughput.rivals.join import Join
from benchmarks.throughput.rivals.quality import Quality
from benchmarks.throughput.rivals.raw_aiokafka import batches


class Impression(BaseModel):
    type: Literal["impression"]
    impression_id: str
    query_id: str
    ts: float
    ranked: list[str]
    labels: dict[str, str] = {}


class Click(BaseModel):
    type: Literal["click"]
    impression_id: str
    ts: float
    position: int


class Dwell(BaseModel):
    type: Literal["dwell"]
    impression_id: str
    ts: float
    position: int
    dwell_seconds: float


class Outcome(BaseModel):
    type: Literal["outcome"]
    impression_id: str
    ts: float
    outcome: Literal["successful", "unsuccessful"]


class Judgment(BaseModel):
    type: Literal["judgment"]
    query_id: str
    key: str
    ts: float
    grade: float


Event = Annotated[Impression | Click | Dwell | Outcome | Judgment, Field(discriminator="type")]


async def main() -> None:
    job, watch, quality, events = read_job(), Stopwatch(), Quality(), 0
    parse = TypeAdapter[Impression | Click | Dwell | Outcome | Judgment](Event).validate_json
    async for _, records in batches(job, [job.topics["judgments"]]):
        for record in records:
            judgment = parse(record.value)
            assert isinstance(judgment, Judgment)
            quality.judge(judgment.query_id, judgment.key, judgment.grade)
    topics = [job.topics["impressions"], job.topics["interactions"]]
    joins = [Join(quality, topics) for _ in range(job.partitions)]
    async for partition, records in batches(job, topics):
        join = joins[partition.partition]
        watch.start()
        newest = 0.0
        for record in records:
            event = parse(record.value)
            newest = max(newest, event.ts)
            if isinstance(event, Impression):
                join.impression(event.impression_id, event.ts, event.query_id, event.ranked, event.labels)
            elif isinstance(event, Click):
                join.click(event.impression_id, event.position)
        join.advance(partition.topic, newest)
        events += len(records)
        if events == job.events_total:
            watch.finish(events, quality.result())


if __name__ == "__main__":
    asyncio.run(main())
