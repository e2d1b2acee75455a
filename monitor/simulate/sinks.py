"""Where simulated events go: a file, or Kafka at the pace of their clock."""

import asyncio
import gzip
import os
import signal
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from aiokafka import AIOKafkaProducer

from monitor.config import KafkaConfig
from monitor.mistakes import Mistake
from monitor.simulate.pace import Pacer
from monitor.simulate.wire import SimulatedEvent
from monitor.sources.producing import producing

BATCH = 2000
PAUSE_SECONDS = 0.05


class SinkError(Mistake):
    """The events cannot be written; the message is one line."""


def write_file(path: str, events: Iterable[SimulatedEvent]) -> Counter[str]:
    """One event a line; "-" is the standard output, a name in .gz is compressed. Counts by role."""
    written: Counter[str] = Counter()
    try:
        with _opened(path) as file:
            for event in events:
                file.write(event.value + b"\n")
                written[event.role] += 1
            file.flush()
    except BrokenPipeError:
        # Whoever reads has enough, as `head` has. Nothing may be flushed into the closed pipe at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise SinkError(f'cannot write "{path}": {error.strerror or error}') from None
    return written


@contextmanager
def _opened(path: str) -> Iterator[IO[bytes]]:
    if path == "-":
        yield sys.stdout.buffer
        return
    with open(path, "wb") as file:  # noqa: PTH123 (the name as it was given, for messages)
        if path.endswith(".gz"):
            # No name and no time inside: the same simulation is the same file.
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield file


async def write_kafka(config: KafkaConfig, topics: Mapping[str, str], pacer: Pacer) -> Counter[str]:
    """Send events to the topic of their role until they end or a signal comes. Counts by role."""
    written: Counter[str] = Counter()
    async with producing(config, topics.values()) as producer:
        with _until_signalled() as stop:
            while not (pacer.finished or stop.is_set()):
                written += await _send(producer, topics, pacer.due(BATCH))
    return written


async def _send(
    producer: AIOKafkaProducer, topics: Mapping[str, str], events: list[SimulatedEvent]
) -> Counter[str]:
    acknowledged = [
        await producer.send(topics[e.role], e.value, key=e.key, timestamp_ms=round(e.ts * 1000))
        for e in events
    ]
    await asyncio.gather(*acknowledged)
    if len(events) < BATCH:
        await asyncio.sleep(PAUSE_SECONDS)
    return Counter(event.role for event in events)


@contextmanager
def _until_signalled() -> Iterator[asyncio.Event]:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    try:
        yield stop
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
