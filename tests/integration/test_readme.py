"""Every command that the README and the producing guide show is run as it stands there."""

import asyncio
import os
import re
import shutil
import signal
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path

import httpx
import pytest

from monitor.events import Click, Impression, Judgment, decode, judgment_key
from tests.support import free_port, wait_until
from tests.support.documents import ROOT, blocks
from tests.support.kafka import Broker

NOT_RUN = {"make test\n": "it is what runs this test"}
NEEDS_KAFKA = re.compile(r"ranking-monitor run |--bootstrap-server|load-judgments |curl ")
UNTIL_STOPPED = re.compile(r"ranking-monitor run |--duration 0$", re.MULTILINE)
TOPIC = re.compile(r"\bsearch-(impressions|interactions|judgments)\b")

pytestmark = pytest.mark.timeout(300)


class Terminal:
    """Runs blocks in a folder of its own, with the tests' environment as `.venv`."""

    def __init__(self, folder: Path, servers: str = "nowhere:1") -> None:
        self.folder = folder
        self.suffix = uuid.uuid4().hex[:8]
        self._servers = servers
        self._port = free_port()
        self._background: list[asyncio.subprocess.Process] = []
        bin_folder = Path(sys.executable).parent
        self._environment = {
            **os.environ,
            "PATH": f"{bin_folder}:{folder}/bin:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT),
            "DEMO_ARGS": f"--seconds 5 --listen 127.0.0.1:{self._port}",
            "RANKING_MONITOR__LISTEN": f"127.0.0.1:{self._port}",
            "RANKING_MONITOR__KAFKA__GROUP_ID": f"readme-{self.suffix}",
        }
        self._make_clone(bin_folder)

    def _make_clone(self, bin_folder: Path) -> None:
        """What `make demo` needs of a clone, with an environment that is already there."""
        for name in ("Makefile", "pyproject.toml", "requirements.lock"):
            shutil.copy(ROOT / name, self.folder)
        shutil.copytree(ROOT / "docs" / "examples", self.folder / "docs" / "examples")
        venv = self.folder / ".venv"
        venv.mkdir()
        (venv / "bin").symlink_to(bin_folder)
        (venv / ".core").touch()
        (self.folder / "bin").mkdir()
        topics = self.folder / "bin" / "kafka-topics.sh"
        topics.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.support.kafka_topics "$@"\n')
        topics.chmod(0o755)

    def topic(self, name: str) -> str:
        """The name that a topic of the documents has here: a broker may be shared."""
        return f"{name}-{self.suffix}"

    def _mine(self, block: str) -> str:
        block = block.replace("localhost:9092", self._servers).replace(
            "localhost:9109", f"127.0.0.1:{self._port}"
        )
        return TOPIC.sub(lambda found: self.topic(found[0]), block)

    async def shell(self, block: str) -> str:
        """Run a block to its end, or in the background if it would have none; what it printed."""
        if UNTIL_STOPPED.search(block):
            self._background.append(await self._start("bash", "-c", f"exec {self._mine(block)}"))
            return ""
        return await self._finish("bash", "-euo", "pipefail", "-c", self._mine(block))

    async def python(self, block: str) -> str:
        return await self._finish(sys.executable, "-W", "error", "-c", self._mine(block))

    async def _start(self, *command: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *command,
            cwd=self.folder,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )

    async def _finish(self, *command: str) -> str:
        process = await self._start(*command)
        try:
            printed, _ = await asyncio.wait_for(process.communicate(), 120)
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode == 0, f"{command[-1]}\nended with {process.returncode}:\n{printed.decode()}"
        return printed.decode()

    async def ready(self) -> bool:
        return "Ready" in await self._get("/-/ready")

    async def has_counted(self) -> bool:
        applied = r'^ranking_monitor_events_total\{fate="applied",type="judgment"\} [1-9]'
        return re.search(applied, await self._get("/metrics"), re.MULTILINE) is not None

    async def _get(self, path: str) -> str:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{self._port}") as client:
            try:
                return (await client.get(path)).text
            except httpx.TransportError:
                return ""

    async def stop(self) -> list[int]:
        """Press Ctrl-C in every window, the newest first; the exit codes."""
        codes = []
        while self._background:
            process = self._background.pop()
            process.send_signal(signal.SIGINT)
            await asyncio.wait_for(process.communicate(), 10)
            assert process.returncode is not None
            codes.append(process.returncode)
        return codes

    def kill(self) -> None:
        for process in self._background:
            if process.returncode is None:
                process.kill()


def without_kafka(found: Iterable[str]) -> list[str]:
    return [block for block in found if block not in NOT_RUN and not NEEDS_KAFKA.search(block)]


def with_kafka(found: Iterable[str]) -> list[str]:
    """Those that need a broker, and those that write the files they use."""
    return [block for block in found if NEEDS_KAFKA.search(block) or "cat >" in block]


def test_every_block_is_run_or_excused() -> None:
    shown = blocks("README.md", "sh") + blocks("docs/producing.md", "sh")
    run = without_kafka(blocks("README.md", "sh")) + with_kafka(shown)
    assert set(shown) == {*run, *NOT_RUN}
    assert "make demo\n" in run


async def test_the_commands_of_the_readme_that_need_no_broker(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path)
    printed = {block: await terminal.shell(block) for block in without_kafka(blocks("README.md", "sh"))}
    assert "ndcg@10" in printed["make demo\n"]
    assert {"metrics.txt", "windows.jsonl", "monitor.yaml"} <= {path.name for path in tmp_path.iterdir()}
    assert 'vector_ndcg_avg_count{k="10"' in (tmp_path / "metrics.txt").read_text()


@pytest.mark.kafka
async def test_the_commands_of_the_readme_that_need_kafka(kafka: Broker, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, kafka.bootstrap_servers)
    for name, partitions in (("search-impressions", 2), ("search-interactions", 2), ("search-judgments", 1)):
        await kafka.create_topic(terminal.topic(name), partitions)
    printed = ""
    try:
        for block in with_kafka(blocks("README.md", "sh")):
            printed = await terminal.shell(block)
            if "ranking-monitor run" in block:
                await wait_until(terminal.ready, 60)
            elif "ranking-monitor simulate" in block:
                await wait_until(terminal.has_counted, 60)
        assert "Ready" in printed
        assert f'ranking_monitor_records_total{{topic="{terminal.topic("search-impressions")}"}}' in printed
        assert await terminal.stop() == [0, 0]
    finally:
        terminal.kill()


@pytest.mark.kafka
async def test_the_commands_of_the_producing_guide(kafka: Broker, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, kafka.bootstrap_servers)
    printed = [await terminal.shell(block) for block in with_kafka(blocks("docs/producing.md", "sh"))]
    assert printed[0].count("Created topic") == 3
    assert printed[-1] == f"3 judgments sent to {terminal.topic('search-judgments')}\n"
    records = await kafka.consume(terminal.topic("search-judgments"), 3)
    assert records[0].key == b'["q-5d41","doc-3","anna"]'


@pytest.mark.kafka
async def test_the_producer_of_the_guide_sends_events_that_meet(kafka: Broker, tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, kafka.bootstrap_servers)
    create, produce = blocks("docs/producing.md", "python")
    created = await terminal.python(create)
    assert [line.split()[1:] for line in created.splitlines()] == [["created"]] * 3
    await terminal.python(produce)

    names = ("search-impressions", "search-interactions", "search-judgments")
    sent = [(await kafka.consume(terminal.topic(name), 1))[0] for name in names]
    impression, click, judgment = [decode(record.value or b"", record.timestamp / 1000) for record in sent]
    assert isinstance(impression, Impression)
    assert isinstance(click, Click)
    assert isinstance(judgment, Judgment)
    assert sent[0].key == sent[1].key == impression.impression_id.encode() == click.impression_id.encode()
    assert sent[0].partition == sent[1].partition
    assert impression.query_id == judgment.query_id
    assert sent[2].key == judgment_key(judgment)


@pytest.mark.kafka
async def test_both_ways_of_the_guide_create_the_same_topics(kafka: Broker, tmp_path: Path) -> None:
    by_shell, by_python = (Terminal(_folder(tmp_path / way), kafka.bootstrap_servers) for way in ("sh", "py"))
    await by_shell.shell(blocks("docs/producing.md", "sh")[0])
    await by_python.python(blocks("docs/producing.md", "python")[0])
    for name in ("search-impressions", "search-interactions", "search-judgments"):
        one, other = [await _settings(kafka, terminal.topic(name)) for terminal in (by_shell, by_python)]
        assert one == other


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


async def _settings(kafka: Broker, topic: str) -> tuple[int, dict[str, str]]:
    """How many partitions a topic has, and what was set for it."""
    from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType

    async with kafka.admin() as admin:
        (reply,) = await admin.describe_configs([ConfigResource(ConfigResourceType.TOPIC, topic)])
    ((*_, entries),) = reply.resources
    of_the_topic = 1
    chosen = {name: value for name, value, _, source, *_ in entries if source == of_the_topic}
    return len(await kafka.partitions(topic)), chosen
