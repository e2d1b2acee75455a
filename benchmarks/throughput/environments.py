"""A virtual environment for each rival, for their dependencies exclude each other; made once, in .cache."""

import hashlib
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Failed

REQUIREMENTS = Path(__file__).parent / "rivals" / "requirements"
ENVIRONMENTS = Path(__file__).parents[2] / ".cache" / "bench-envs"


def python_of(name: str | None) -> str:
    """Return the interpreter of an environment, installed if it is not there; None is the one that runs."""
    if name is None:
        return sys.executable
    wanted = REQUIREMENTS / f"{name}.txt"
    folder = ENVIRONMENTS / name
    stamp = folder / ".installed"
    digest = hashlib.sha256(wanted.read_bytes()).hexdigest()
    if not stamp.exists() or stamp.read_text() != digest:
        _install(folder, wanted)
        stamp.write_text(digest)
    return str(folder / "bin" / "python")


def _install(folder: Path, wanted: Path) -> None:
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", str(folder)], [*pip, "-r", str(wanted)]):
        done = subprocess.run(command, check=False, text=True, capture_output=True)
        if done.returncode:
            raise Failed(f"{wanted.name} cannot be installed: {done.stderr[-500:]}")
