"""`ranking-monitor load-judgments`: judgments from a file into the judgments topic."""

import asyncio
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from monitor.cli.errors import UserError
from monitor.cli.topics import topic_given
from monitor.config import KafkaConfig, load
from monitor.evaluation.files.inputs import InputError
from monitor.evaluation.files.qrels import read_qrels
from monitor.events import Judgment, Rejected, decode, judgment_key
from monitor.sources.producing import producing
from monitor.visible import is_text


def load_judgments(
    qrels: Annotated[Path, typer.Argument(help="TREC qrels, JSON or JSON lines.")],
    config: Annotated[Path | None, typer.Option(help="Where Kafka is, and the judgments topic.")] = None,
    topic: Annotated[str | None, typer.Option(help="Another topic than the configured one.")] = None,
    assessor: Annotated[str | None, typer.Option(help="Who judged, where the file does not say.")] = None,
) -> None:
    """Send relevance judgments from a file to Kafka.

    A judgment holds from its `ts` on; where the file has none it is now. Negative grades become 0. The same
    file can be loaded again: what is unchanged counts as a duplicate.
    """
    settings = load(config).kafka
    target = topic_given("--topic", topic) or next(
        iter(settings.topics.judgments or settings.topics.events), None
    )
    if target is None:
        raise UserError("no judgments topic is configured; give --topic")
    if assessor is not None and not is_text(assessor):
        raise UserError("--assessor: the name is not valid UTF-8; give it as text")
    # Everything is read and checked before the first record is sent.
    records = list(_records(qrels, assessor, time.time()))
    asyncio.run(send(settings, target, records))
    print(f"{len(records):,} judgment{'' if len(records) == 1 else 's'} sent to {target}")


async def send(kafka: KafkaConfig, topic: str, records: Iterable[tuple[bytes, bytes]]) -> None:
    """Send keys and values; all arrive or it fails."""
    async with producing(kafka, [topic]) as producer:
        for receipt in [await producer.send(topic, value, key=key) for key, value in records]:
            await receipt


def _records(qrels: Path, assessor: str | None, now: float) -> Iterator[tuple[bytes, bytes]]:
    for number, found in enumerate(read_qrels(qrels), start=1):
        event = {
            "type": "judgment",
            "query_id": found.query,
            "key": found.key,
            "ts": now if found.ts is None else found.ts,
            "grade": None if found.grade is None else max(0.0, found.grade),
            "assessor": found.assessor or assessor,
            "target": found.target,
        }
        value = msgspec.json.encode(
            {name: field for name, field in event.items() if field is not None or name == "grade"}
        )
        judgment = decode(value, now)
        if isinstance(judgment, Rejected) or not isinstance(judgment, Judgment):
            reason = judgment.reason.value if isinstance(judgment, Rejected) else "not a judgment"
            raise InputError(f"{qrels}: judgment {number} would be rejected: {reason}")
        yield judgment_key(judgment), value
