"""Generated events on their way into Kafka, at a steady rate, each exactly once."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Collection, Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import yaml
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer

from tests.faults.events import ATTRIBUTION, LATENESS, MATURITIES, Event, Generator
from tests.faults.increases import Key
from tests.support.daemon import command, series
from tests.support.kafka import Broker

SETTINGS: Mapping[str, Any] = {
    "attribution_seconds": ATTRIBUTION,
    "lateness_seconds": LATENESS,
    # Longer than this process can be kept waiting for the processor: what it sent then would be late.
    "idle_seconds": 90,
    "windows": [5],
    "windows_kept": 100,
    "labels": ["variant"],
    "metrics": ["ndcg@10", "ctr@10", "abandonment"],
    "judgments": {"maturities": list(MATURITIES)},
}
LONGEST_DELAY = max(ATTRIBUTION, *MATURITIES)
AHEAD_SECONDS = 120.0
"""How far the last events are ahead: they move event time to the clock, and stay open themselves."""
ROLES = ("impressions", "interactions", "judgments")


class Traffic:
    """A stream of events and the topics that it goes to."""

    def __init__(
        self,
        broker: Broker,
        topics: Mapping[str, str],
        partitions: int,
        generator: Generator,
        settings: Mapping[str, Any],
        *,
        transactions: bool,
    ) -> None:
        self.broker = broker
        self.transactions = transactions
        """Whether every event is sent in two transactions: the first is aborted, the second is committed."""
        self.topics = topics
        self.group = f"faults-{topics['impressions']}"
        self.partitions = partitions
        self.generator = generator
        self.settings = {**SETTINGS, **settings}
        self.sent: list[Event] = []
        self.poisoned: Counter[tuple[str, str]] = Counter()
        """Records that others have sent beside these, by role and the reason to reject them."""
        self.left_out: Counter[str] = Counter()
        """Records that others have sent and that cannot be read, by role."""
        self.closers = 0
        self._lost = 0
        self._closed = asyncio.Event()
        self._producing: asyncio.Task[None] | None = None

    def config(self) -> dict[str, Any]:
        """What a daemon that watches it needs to know."""
        kafka = {
            "bootstrap_servers": self.broker.bootstrap_servers,
            "group_id": self.group,
            "topics": {role: [name] for role, name in self.topics.items()},
            "start": "earliest",
        }
        return {**self.settings, "kafka": kafka}

    async def start(self) -> None:
        """Send the first judgments, and go on in the background with all the rest."""
        producer = AIOKafkaProducer(
            bootstrap_servers=self.broker.bootstrap_servers,
            # Once each, in order, whatever happens to the broker; patient enough for the longest outage.
            enable_idempotence=True,
            transactional_id=self.group if self.transactions else None,
            acks="all",
            request_timeout_ms=240_000,
            retry_backoff_ms=100,
        )
        try:
            await producer.start()
        except BaseException:
            await producer.stop()
            raise
        self._producing = asyncio.create_task(self._produce(producer))

    async def finish(self) -> None:
        """Show nothing more, send what belongs to what was shown, and let event time pass every deadline."""
        self._closed.set()
        assert self._producing is not None
        await self._producing
        if self.transactions:
            return  # What was aborted, and the markers, have offsets too.
        records = await self._ends()
        expected = {
            role: self.records()[self.topics[role]] + self.left_out[role]
            for role in ("impressions", "interactions")
        }
        assert records == expected, f"the log has {records}, {expected} were sent"

    async def stop(self) -> None:
        if self._producing is not None and not self._producing.done():
            self._producing.cancel()
            await asyncio.gather(self._producing, return_exceptions=True)

    def records(self) -> Counter[str]:
        """How many records each topic was sent."""
        counts = Counter(self.topics[event.role] for event in self.sent)
        for role in ("impressions", "interactions"):
            counts[self.topics[role]] += self.closers
        for (role, _), count in self.poisoned.items():
            counts[self.topics[role]] += count
        return counts

    def lose(self, values: Collection[bytes]) -> None:
        """These can no longer be read from the log; what is left is to be counted.

        An event that was sent twice may be lost once.
        """
        lost, left = Counter(values), []
        for event in self.sent:
            if lost[event.value]:
                lost[event.value] -= 1
            else:
                left.append(event)
        assert not lost.total(), "something was lost that is no event"
        self._lost, self.sent = len(values), left

    async def expected(self, folder: Path) -> dict[Key, float]:
        """Every series of a replay of the same events, checked against the generator's own count."""
        events, config, out = folder / "events.jsonl", folder / "replay.yaml", folder / "metrics.txt"
        # In the order in which they happened: the last judgments are sent before their time.
        events.write_bytes(b"".join(event.value + b"\n" for event in sorted(self.sent)))
        config.write_text(yaml.safe_dump(self.settings))
        code, _, errors = await command(
            "replay", str(events), "--config", str(config), "--metrics-out", str(out)
        )
        assert code == 0, errors
        wanted = ("vector_", *(f"ranking_monitor_{n}" for n in ("events", "rejected", "judged", "duplicate")))
        found = {
            key: value
            for key, value in series(out.read_text()).items()
            if key[0].startswith(wanted)
            and not key[0].startswith("vector_window_")
            and ("type", "judgment") not in key[1]
        }
        # Without an impression its clicks end otherwise too: then only the replay knows.
        for key, count in self.counted().items() if not self._lost else ():
            replayed = found.get(key, 0)
            assert replayed == count, f"{key}: {count} were generated, replay says {replayed:g}"
        for (_, reason), count in self.poisoned.items():
            rejected = ("ranking_monitor_rejected_total", (("reason", reason),))
            found[rejected] = found.get(rejected, 0) + count
        for topic, count in self.records().items():
            if topic != self.topics["judgments"]:
                found["ranking_monitor_records_total", (("topic", topic),)] = count
        return found

    def counted(self) -> dict[Key, float]:
        """What must come out, by plain counting."""
        made, books = self.generator, "ranking_monitor_events_total"
        return {
            **{(books, (("fate", f), ("type", t))): n for (t, f), n in made.fates.items()},
            **{("ranking_monitor_rejected_total", (("reason", r),)): n for r, n in made.rejected.items()},
            **{("vector_ctr_avg_count", (("k", "10"), ("variant", v))): n for v, n in made.shown.items()},
            **{
                ("ranking_monitor_judged_total", (("fate", "judged"), ("maturity", f"{m:g}s"))): n
                for m, n in made.judged.items()
            },
        }

    async def _produce(self, producer: AIOKafkaProducer) -> None:
        acknowledged: set[asyncio.Future[Any]] = set()

        async def send(events: list[Event]) -> None:
            if self.transactions:
                await self._send_twice(producer, events)
                return
            for event in events:
                future = await producer.send(self.topics[event.role], event.value, event.key)
                acknowledged.add(future)
                self.sent.append(event)
            for future in [future for future in acknowledged if future.done()]:
                future.result()
                acknowledged.discard(future)

        try:
            await send(self.generator.judgments_first())
            while not self._closed.is_set():
                await send(self.generator.until(time.time() - self.generator.began))
                await asyncio.sleep(0.3 if self.transactions else 0.02)
            rest = self.generator.rest()
            # Other topics are read apart from these: they have to be there before time passes at once.
            if judgments := [event for event in rest if event.role == "judgments"]:
                await send(judgments)
                if not self.transactions:
                    await producer.flush()
                await asyncio.sleep(LATENESS)
            await send([event for event in rest if event.role != "judgments"])
            # Event time never passes the clock: the last events move it only when every deadline is over.
            over = (
                self.generator.began + max(event.at for event in self.sent) + LONGEST_DELAY + LATENESS + 1.0
            )
            await asyncio.sleep(max(0.0, over - time.time()))
            async with producer.transaction() if self.transactions else nullcontext():
                acknowledged |= set(await self._close(producer))
                await asyncio.gather(*acknowledged)
        finally:
            for future in acknowledged:
                future.cancel()
            # With no broker it would wait for one.
            with suppress(TimeoutError):
                await asyncio.wait_for(producer.stop(), 5)

    async def _send_twice(self, producer: AIOKafkaProducer, events: list[Event]) -> None:
        """Abort the first attempt when it is in the log, and commit the retry."""
        for commit in (False, True) if events else ():
            await producer.begin_transaction()
            sent = [await producer.send(self.topics[e.role], e.value, e.key) for e in events]
            await asyncio.gather(*sent)
            await (producer.commit_transaction() if commit else producer.abort_transaction())
        self.sent += events

    async def _close(self, producer: AIOKafkaProducer) -> list[asyncio.Future[Any]]:
        """An event ahead in every partition; it stays open itself, and is counted as a record only."""
        ts = time.time() + AHEAD_SECONDS
        impression = {"type": "impression", "query_id": "q", "ts": ts, "ranked": ["a"]}
        click = {"type": "click", "ts": ts, "position": 1}
        sent = []
        for partition in range(self.partitions):
            for role, event in (("impressions", impression), ("interactions", click)):
                value = json.dumps({**event, "impression_id": f"close-{partition}"}).encode()
                sent.append(await producer.send(self.topics[role], value, partition=partition))
        self.closers = self.partitions
        return sent

    async def checkpointed(self) -> bool:
        """Whether the group remembers for every partition how far event time has come."""
        topic = self.topics["impressions"]
        stored = await self.broker.committed(self.group, topic)
        return len(stored) == self.partitions and all(
            metadata and json.loads(metadata)["s"] for _, metadata in stored.values()
        )

    async def _ends(self) -> dict[str, int]:
        """How many records the event topics have."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.broker.bootstrap_servers)
        await consumer.start()
        try:
            return {
                role: sum(
                    (await consumer.end_offsets(await self.broker.partitions(self.topics[role]))).values()
                )
                for role in ("impressions", "interactions")
            }
        finally:
            await consumer.stop()


async def traffic(
    broker: Broker,
    seed: int,
    partitions: int = 3,
    settings: Mapping[str, Any] = {},
    *,
    transactions: bool = False,
    **options: Any,
) -> Traffic:
    """Make topics, and a stream of events to them that begins now; `settings` differ from those above."""
    topics = {
        "impressions": await broker.topic(partitions),
        "interactions": await broker.topic(partitions),
        "judgments": await broker.topic(2, cleanup_policy="compact"),
    }
    generator = Generator(seed, time.time(), **options)
    made = Traffic(broker, topics, partitions, generator, settings, transactions=transactions)
    await made.start()
    return made
