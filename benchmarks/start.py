"""How long a start takes: from the command to the first scrape that is answered, as a user runs it.

    python -m benchmarks.start [rounds]

No broker is needed: the daemon answers while it waits for one. Beside it stand the interpreter alone and with
numpy. Figures are medians; look at the CPU where other programs take their share of the machine.
"""

import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.figures.result import Goal, Printed, save

LOOK_SECONDS = 0.005
GIVE_UP_SECONDS = 60.0
COMMAND = [sys.executable, "-m", "monitor.cli"]
CONFIG = "listen: 127.0.0.1:{port}\nkafka: {{bootstrap_servers: '127.0.0.1:1'}}\nlog: {{level: error}}\n"

Took = tuple[float, float]
"""Seconds, and CPU seconds."""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def answered(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=GIVE_UP_SECONDS) as response:
            return bool(response.read())
    except OSError:
        return False


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def whole(command: Sequence[str], environment: dict[str, str]) -> Took:
    """A command that ends by itself."""
    before, cpu = time.perf_counter(), cpu_of_children()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - before, cpu_of_children() - cpu


def first_scrape(folder: Path, environment: dict[str, str]) -> Took:
    """The daemon, ended by force once it has answered: what it used until then is its start."""
    port, config = free_port(), folder / "monitor.yaml"
    config.write_text(CONFIG.format(port=port))
    before, cpu = time.perf_counter(), cpu_of_children()
    daemon = subprocess.Popen([*COMMAND, "run", "--config", str(config)], env=environment)
    try:
        while not answered(f"http://127.0.0.1:{port}/metrics"):
            if daemon.poll() is not None or time.perf_counter() - before > GIVE_UP_SECONDS:
                sys.exit("the daemon did not answer")
            time.sleep(LOOK_SECONDS)
        took = time.perf_counter() - before
    finally:
        daemon.kill()
        daemon.wait()
    return took, cpu_of_children() - cpu


def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        # As after an install: compiled once, by the round that is not counted.
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"
        cases: dict[str, Callable[[], Took]] = {
            "python -c pass": lambda: whole([sys.executable, "-c", "pass"], environment),
            'python -c "import numpy"': lambda: whole([sys.executable, "-c", "import numpy"], environment),
            "ranking-monitor --version": lambda: whole([*COMMAND, "--version"], environment),
            "ranking-monitor --help": lambda: whole([*COMMAND, "--help"], environment),
            "ranking-monitor run --help": lambda: whole([*COMMAND, "run", "--help"], environment),
            "run to first scrape": lambda: first_scrape(Path(folder), environment),
        }
        found = {name: [case() for _ in range(rounds + 1)][1:] for name, case in cases.items()}
    numpy = statistics.median(cpu for _, cpu in found['python -c "import numpy"'])
    for name, times in found.items():
        seconds, cpu = (statistics.median(each) for each in zip(*times, strict=True))
        print(f"{name:27} {seconds:6.2f} s {cpu:6.2f} s of CPU {cpu / numpy:6.1f} x numpy")
    until = statistics.median(seconds for seconds, _ in found["run to first scrape"])
    save("start", Printed(f"median of {rounds}", [Goal("start to first scrape", 1.0, until, "s")]))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
