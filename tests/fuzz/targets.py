"""What is fuzzed: each target takes made-up input, and fails by raising anything."""

import asyncio
import gzip
import math
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from monitor.config import ConfigError, build, load
from monitor.evaluation.files.passage_files import read_gold, read_predictions
from monitor.evaluation.files.qrels import load_qrels, read_qrels
from monitor.evaluation.files.runs import read_run
from monitor.events import Rejected, decode, decode_all, decode_tombstone
from monitor.fields import MAX_SECONDS
from monitor.mistakes import Mistake
from monitor.sources.jsonl import JsonlSource, Line
from monitor.stream import checkpoint
from monitor.stream.engine import Engine
from monitor.stream.records import Chunk, Role, Start
from monitor.web.app import create_app
from tests.fuzz import seeds
from tests.fuzz.mutation import mutated
from tests.unit.web.test_api import made_up

NOW = 1_767_225_600.0
SMALL = build({"metrics": ["ndcg@10", "ctr@10"], "windows": [60.0]})
Target = Callable[[bytes, Random, Path], None]


def decoder(raw: bytes, random: Random, _: Path) -> None:
    """Records together are what they are one by one; none of them raises."""
    raws = [raw, *(mutated(seeds.EVENTS, random) for _ in range(random.randrange(4)))]
    random.shuffle(raws)
    now = random.choice((NOW, 0.0, math.inf))
    apart = [decode(each, now) for each in raws]
    together = decode_all(raws, now)
    if together is None:
        assert any(isinstance(each, Rejected) for each in apart), "refused together, accepted one by one"
    else:
        assert not any(isinstance(each, Rejected) for each in apart), "accepted together, rejected one by one"
        assert list(map(_comparable, together)) == list(map(_comparable, apart))
    for each in apart:
        if not isinstance(each, Rejected):
            assert 0 <= each.ts <= now + 600
    decode_tombstone(raw, now)


def _comparable(event: Any) -> Any:
    fields = {name: getattr(event, name) for name in event.__struct_fields__}
    if isinstance(fields.get("embeddings"), np.ndarray):
        fields["embeddings"] = fields["embeddings"].tolist()
    return type(event), fields


def metadata(raw: bytes, random: Random, _: Path) -> None:
    """Stored metadata is read back or refused; whichever it is, the engine counts and commits."""
    text = raw.decode(errors=random.choice(("replace", "surrogateescape")))
    try:
        found = checkpoint.decode(text)
    except checkpoint.Unreadable:
        pass
    else:
        assert all(0 <= offset < 2**63 for offset in found.positions.values())
        assert not math.isnan(found.watermark)
        assert checkpoint.decode(checkpoint.encode(found)) is not None
    engine = Engine(SMALL, {"clicks": Role.INTERACTIONS, "shown": Role.IMPRESSIONS})
    end = random.choice((None, 0, 50, 2**62))
    starts = {
        ("shown", 0): Start(random.choice((0, 40)), text, fresh=False, from_beginning=False, end=end),
        ("clicks", 0): Start(0, random.choice(("", text)), fresh=False, from_beginning=False, end=end),
    }
    engine.assign(starts, NOW)
    if end is not None:
        assert engine.to_replay <= 2 * end
    # Some day whatever the metadata said is past: what is sent then has to be counted.
    later = NOW + MAX_SECONDS + 864_000
    for topic, event in (("shown", seeds.IMPRESSION), ("clicks", seeds.CLICK)):
        engine.ingest(Chunk(topic, 0, [Line(event % later, 2**62 + 100)]), later)
    engine.idle(dict.fromkeys(starts, later + 90_000))
    engine.advance(later + 90_000)
    fates = engine.snapshot().fates
    if end is not None:
        for kind in ("impression", "click"):
            assert sum(count for (of, _), count in fates.items() if of == kind) == 1, f"not counted: {fates}"
    for _, stored in engine.checkpoints().values():
        assert checkpoint.of_task({"shown": stored}) is not None


def config(raw: bytes, random: Random, folder: Path) -> None:
    """A file is a configuration that runs, or gets lines that say what is wrong."""
    path = folder / "monitor.yaml"
    path.write_bytes(raw)
    try:
        found = load(path)
    except ConfigError as error:
        _check_message(error)
        return
    assert load(path).digest == found.digest
    engine = Engine(found, {"events": Role.EVENTS})
    engine.assign({("events", 0): Start(0, "", fresh=True, from_beginning=True)}, NOW)
    engine.ingest(Chunk("events", 0, [Line(event, i) for i, event in enumerate(seeds.EVENTS)]), NOW)
    engine.finish(NOW)
    engine.checkpoints()


def _check_message(error: Exception, max_lines: int = 10_000) -> None:
    lines = str(error).split("\n")
    assert len(lines) <= max_lines
    for line in lines:
        assert line
        assert line.isprintable(), repr(line)
        assert len(line) < 2000, f"{len(line)} characters"
        line.encode()


def files(raw: bytes, random: Random, folder: Path) -> None:
    """Whatever a file holds, its reader returns or says in one line what is wrong."""
    path = folder / random.choice(("file", "file.json", "file.gz"))
    path.write_bytes(gzip.compress(raw, 1) if random.random() < 0.05 else raw)
    readers: tuple[Callable[[Path], object], ...] = (
        lambda path: list(read_run(path)),
        lambda path: list(read_qrels(path)),
        load_qrels,
        read_predictions,
        read_gold,
        lambda path: asyncio.run(_read_events(path)),
    )
    for read in readers:
        try:
            read(path)
        except Mistake as error:
            _check_message(error, max_lines=1)


async def _read_events(path: Path) -> None:
    source = JsonlSource(path, clock=lambda: NOW)
    await source.start()
    try:
        while not (poll := await source.poll()).finished:
            for chunk in poll.chunks:
                for record in chunk.records:
                    decode(record.value or b"", NOW)
    finally:
        await source.stop()


def queries(raw: bytes, random: Random, _: Path) -> None:
    """A query string gets an answer or a 400, of the API as of the page."""
    path = random.choice(("/api/v1/windows", "/api/v1/windows", "/"))
    status, body = asyncio.run(_get(path, raw))
    assert status in (200, 400), f"{path}: {status}"
    assert len(body) < 1 << 20


async def _get(path: str, query: bytes) -> tuple[int, bytes]:
    sent: list[Any] = []
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": [(b"accept-encoding", b"gzip")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 9109),
        "root_path": "",
    }

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await APP(scope, receive, send)
    return sent[0]["status"], b"".join(message.get("body", b"") for message in sent[1:])


APP = create_app(made_up())
TARGETS: dict[str, tuple[Target, tuple[bytes, ...]]] = {
    "decoder": (decoder, seeds.EVENTS),
    "metadata": (metadata, seeds.METADATA),
    "config": (config, seeds.CONFIGS),
    "files": (files, seeds.FILES),
    "queries": (queries, seeds.QUERIES),
}
