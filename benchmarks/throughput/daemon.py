"""The daemon as a user runs it, scraped each second, from its first record to its last decision."""

import gzip
import http.client
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.broker import PARTITIONS, Loaded
from benchmarks.measure import Failed, cpu_seconds, peak_bytes
from benchmarks.throughput.outcome import Outcome, Result
from tests.support.ports import free_port

COMMAND = str(Path(sys.executable).with_name("ranking-monitor"))
SCRAPE = {"X-Prometheus-Scrape-Timeout-Seconds": "1", "Accept": "text/plain", "Accept-Encoding": "gzip"}
FAMILIES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "ndcg": ("vector_ndcg_avg", {"k": "10", "maturity": "1h"}),
    "mrr": ("vector_mrr_avg", {"k": "10", "maturity": "1h"}),
    "ctr": ("vector_ctr_avg", {"k": "10"}),
    "abandonment": ("vector_abandonment_avg", {}),
}
LOOK_SECONDS = 0.05
Samples = list[tuple[str, dict[str, str], float]]


class Daemon:
    """A running daemon and what it says over HTTP."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.pid = process.pid
        self._process = process
        self._port = port
        self._log = log

    def get(self, path: str, headers: Mapping[str, str] = {}) -> str:
        """Ask, as often as it takes while the daemon starts."""
        while True:
            if self._process.poll() is not None:
                raise Failed(f"the daemon ended: {self._log.read_text(errors='replace')[-1500:]}")
            connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
            try:
                connection.request("GET", path, headers=dict(headers))
                answer = connection.getresponse()
                body = answer.read()
            except OSError:
                time.sleep(LOOK_SECONDS)
                continue
            finally:
                connection.close()
            return (gzip.decompress(body) if "gzip" in headers.values() else body).decode()

    def live(self) -> Samples:
        """Every sample as it is now; nothing is acknowledged by it."""
        families = text_string_to_metric_families(self.get("/metrics"))
        return [(s.name, s.labels, s.value) for family in families for s in family.samples]


def total(samples: Samples, name: str, labels: Mapping[str, str] = {}) -> float:
    """Return the sum of a family's series that have these labels."""
    return sum(v for n, have, v in samples if n == name and labels.items() <= have.items())


def run_daemon(loaded: Loaded, labels: list[str], name: str, timeout_seconds: float) -> Outcome:
    """Let it read all topics with the default configuration.

    It reads the judgments before it joins its group, so the clock begins with the first record of the others.
    """
    kafka = loaded.kafka_config(name)
    topics = [loaded.topics["impressions"], loaded.topics["interactions"]]
    events = sum(loaded.records[topic] for topic in topics)
    with running({"kafka": kafka, "labels": labels}) as daemon, scraped(daemon):
        deadline = time.monotonic() + timeout_seconds
        began, cpu = time.perf_counter(), cpu_seconds(daemon.pid)
        while not records(daemon.live(), topics):
            # The last moment at which it had read nothing: what it read since is charged to it.
            began, cpu = time.perf_counter(), cpu_seconds(daemon.pid)
            _wait(deadline)
        while not (_has_caught_up(daemon) and is_done(samples := daemon.live(), topics, events)):
            _wait(deadline)
        seconds, used = time.perf_counter() - began, cpu_seconds(daemon.pid) - cpu
        # Of the same answer that said it was done: what is decided later is not in the time.
        return Outcome(events, seconds, used, peak_bytes(daemon.pid), result(samples))


def is_done(samples: Samples, topics: Iterable[str], events: int) -> bool:
    """Whether all was read and decided: it decides a while after it reads, and only the closers stay open."""
    open_impressions = total(samples, "ranking_monitor_open_impressions")
    return records(samples, topics) == events and open_impressions == PARTITIONS


def records(samples: Samples, topics: Iterable[str]) -> int:
    """How many records of these topics it has read."""
    return sum(int(total(samples, "ranking_monitor_records_total", {"topic": topic})) for topic in topics)


def result(samples: Samples) -> Result:
    """Return count and sum of the metrics that all programs have."""
    return {
        name: (int(total(samples, f"{family}_count", labels)), total(samples, f"{family}_sum", labels))
        for name, (family, labels) in FAMILIES.items()
    }


@contextmanager
def running(config: Mapping[str, Any]) -> Iterator[Daemon]:
    """Run `ranking-monitor run` until the block ends."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        path, log = Path(folder) / "monitor.yaml", Path(folder) / "monitor.log"
        path.write_text(json.dumps({**config, "listen": f"127.0.0.1:{port}"}))
        with log.open("wb") as out:
            process = subprocess.Popen([COMMAND, "run", "--config", str(path)], stdout=out, stderr=out)
        try:
            yield Daemon(process, port, log)
        finally:
            process.terminate()
            try:
                process.wait(timeout=15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


@contextmanager
def scraped(daemon: Daemon, every_seconds: float = 1.0) -> Iterator[None]:
    """Scrape as Prometheus does until the block ends."""
    ended = threading.Event()

    def scrape() -> None:
        while not ended.wait(every_seconds):
            daemon.get("/metrics", SCRAPE)

    thread = threading.Thread(target=scrape, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join(timeout=30)


def _has_caught_up(daemon: Daemon) -> bool:
    """Ask for a line of text: to render all metrics twenty times a second would be a load of its own."""
    return re.search(r"\bno record behind", daemon.get("/-/ready")) is not None


def _wait(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise Failed("the daemon did not read everything in time")
    time.sleep(LOOK_SECONDS)
