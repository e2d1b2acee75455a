"""The programs that are compared, each with the environment it needs."""

import json
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.broker import PARTITIONS, Loaded
from benchmarks.measure import Failed, run
from benchmarks.throughput.daemon import run_daemon
from benchmarks.throughput.environments import python_of
from benchmarks.throughput.outcome import Outcome
from benchmarks.throughput.rivals.job import Job

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Contender:
    """A program; without a module it is the daemon itself."""

    name: str
    module: str | None = None
    environment: str | None = None
    short: bool = False
    """Whether `--short` has it too."""

    def run(self, loaded: Loaded, labels: list[str], number: int, timeout_seconds: float) -> Outcome:
        """Run it once, in a process and a consumer group of its own. Raises Failed."""
        group = f"bench-{loaded.topics['impressions']}-{self.module or 'daemon'}-{number}"
        if self.module is None:
            return run_daemon(loaded, labels, group, timeout_seconds)
        job = Job(loaded.bootstrap_servers, loaded.topics, loaded.records, PARTITIONS, group)
        module = f"benchmarks.throughput.rivals.{self.module}"
        command = [python_of(self.environment), "-m", module, json.dumps(asdict(job))]
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder) / "stderr"
            printed = run(command, timeout_seconds=timeout_seconds, env={"PYTHONPATH": str(ROOT)}, log=log)
            lines = [line for line in printed.splitlines() if line.startswith('{"events"')]
            if not lines:
                raise Failed(f"{self.name} printed no result: {log.read_text(errors='replace')[-1500:]}")
        told = json.loads(lines[-1])
        found = {name: (count, total) for name, (count, total) in (told.pop("result") or {}).items()}
        return Outcome(**told, result=found or None)


DAEMON = Contender("ranking-monitor", short=True)
REFERENCE = Contender("afternoon version", "afternoon", short=True)
CONTENDERS = (
    Contender("aiokafka, looks at nothing", "raw_aiokafka", short=True),
    Contender("aiokafka and typed decoding", "typed_decoding", short=True),
    Contender("librdkafka, looks at nothing", "raw_librdkafka", "librdkafka"),
    DAEMON,
    REFERENCE,
    Contender("Quix Streams, its windows", "quix_windows", "quixstreams"),
    Contender("Quix Streams, join in dicts", "quix_dicts", "quixstreams"),
    Contender("Bytewax, join in dicts", "bytewax_flow", "bytewax"),
    Contender("Faust, join in dicts", "faust_agent", "faust"),
)
