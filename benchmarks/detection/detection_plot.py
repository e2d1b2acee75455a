"""The picture: minutes until a drop of 5% is found, against false alarms in the worst cell, for each rate."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.detection.cells import RATES

DROP = "ndcg, daily, {rate:g}/s, 5%"
NEVER = 2880.0
LEAST = 0.1
"""Where a detector without false alarms is drawn: the axis has no zero."""


class Counted(Protocol):
    """False alarms of a detector in a cell."""

    @property
    def cell(self) -> str: ...
    @property
    def detector(self) -> str: ...
    @property
    def alarms(self) -> int: ...
    @property
    def bound(self) -> float: ...
    def per_installation(self, alarms: float) -> float: ...


class Delayed(Protocol):
    """How long a detector takes."""

    @property
    def cell(self) -> str: ...
    @property
    def detector(self) -> str: ...
    @property
    def median(self) -> float | None: ...


def draw(measured: Sequence[Counted], waited: Sequence[Delayed], path: Path) -> None:
    """Write the picture; the same results give the same bytes."""
    with mpl.rc_context({"svg.hashsalt": "detection", "svg.fonttype": "none", "font.family": "sans-serif"}):
        figure = Figure(figsize=(10.0, 3.8), layout="constrained")
        for axes, rate in zip(figure.subplots(1, len(RATES), sharey=True), RATES, strict=True):
            axes.set_title(f"{rate:g} impressions a second", fontsize=10)
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.axvline(1.0, color="grey", linestyle=":", linewidth=1)
            for number, one in enumerate(w for w in waited if w.cell == DROP.format(rate=rate)):
                alarms = worst(measured, one.detector, rate)
                delay = NEVER if one.median is None else one.median
                if alarms == 0:
                    most = max(bounds(measured, one.detector, rate))
                    axes.plot([LEAST, most], [delay, delay], color=f"C{number}", linewidth=1)
                axes.scatter(
                    max(alarms, LEAST), max(delay, 1.0), s=40, color=f"C{number}", label=one.detector
                )
            axes.set_xlim(LEAST / 2, 1e6)
            axes.set_ylim(0.8, 1.3 * NEVER)
            axes.set_yticks([1, 5, 30, 120, 720, NEVER], ["1", "5", "30", "120", "720", "never"])
            axes.minorticks_off()
            axes.grid(alpha=0.3)
        figure.supxlabel(
            "false alarms of an installation in 90 days, worst cell (line: to the 95% bound where none)",
            fontsize=10,
        )
        figure.supylabel("minutes until a 5% drop is found", fontsize=10)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3, fontsize=8)
        figure.savefig(path, metadata={"Date": None})


def worst(measured: Sequence[Counted], detector: str, rate: float) -> float:
    """False alarms in the worst cell of a rate."""
    return max(one.per_installation(one.alarms) for one in _of(measured, detector, rate))


def bounds(measured: Sequence[Counted], detector: str, rate: float) -> list[float]:
    """The 95% upper bound of each cell of a rate."""
    return [one.bound for one in _of(measured, detector, rate)]


def _of(measured: Sequence[Counted], detector: str, rate: float) -> list[Counted]:
    return [one for one in measured if one.detector == detector and f" {rate:g}/s" in one.cell]
