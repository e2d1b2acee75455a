"""Weeks of series for a Prometheus that starts afterwards, made by promtool."""

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.support.programs import program


def backfill(folder: Path, series: Mapping[str, Iterable[tuple[int, float]]]) -> None:
    """Write samples (time and value) by series into the data of the Prometheus of this folder."""
    promtool = program("promtool", "prometheus")
    data = folder / "prometheus" / "data"
    data.mkdir(parents=True, exist_ok=True)
    text = folder / "samples.openmetrics"
    with text.open("w") as file:
        for name, samples in series.items():
            file.writelines(f"{name} {value:.17g} {at}\n" for at, value in samples)
        file.write("# EOF\n")
    create = [promtool, "tsdb", "create-blocks-from", "--max-block-duration=768h", "openmetrics", text, data]
    done = subprocess.run(create, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
