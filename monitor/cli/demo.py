"""`ranking-monitor demo`: no broker, no config, and a bad deploy to watch."""

import asyncio
import math
import time
from typing import Annotated

import typer
from rich.console import Console, Group, RenderableType
from rich.live import Live

from monitor.cli.live import event_time, live_table
from monitor.cli.numbers import at_least_zero
from monitor.config import Config, build
from monitor.daemon import Daemon, signals
from monitor.logs import set_up
from monitor.simulate.scenarios import SCENARIOS
from monitor.simulate.stream import Simulation
from monitor.sources.simulator import SimulatorSource

SPEED = 60.0
"""Event seconds a second: a one-minute window closes every second."""
DEPLOY_AFTER_SECONDS = 20.0
WINDOW, MATURITY, ATTRIBUTION = 60.0, 60.0, 120.0
SHOWN = {"ndcg@10": MATURITY, "mrr@10": MATURITY, "ctr@10": ATTRIBUTION, "abandonment": ATTRIBUTION}


def demo(
    listen: Annotated[str, typer.Option(help="Address of the page and of /metrics.")] = "127.0.0.1:9109",
    seconds: Annotated[float, typer.Option(help="Stop after so long; 0: when interrupted.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Another seed, another world.")] = 0,
) -> None:
    """Watch a simulated search: after 20 seconds one variant gets a bad deploy, and its NDCG drops."""
    at_least_zero(seconds=seconds, seed=seed)
    config = build(
        {
            "listen": listen,
            "lateness_seconds": 10.0,
            "attribution_seconds": ATTRIBUTION,
            "windows": (WINDOW, 300.0),
            "judgments": {"maturities": (MATURITY, 3600.0)},
            "log": {"level": "warning"},
        }
    )
    set_up(config.log)
    asyncio.run(_demo(config, seconds, seed))


async def _demo(config: Config, seconds: float, seed: int) -> None:
    simulation = Simulation(
        SCENARIOS["bad-deploy"],
        seed=seed,
        queries_per_second=5.0,
        start=time.time() - 86400,
        deploy_at=DEPLOY_AFTER_SECONDS * SPEED,
    )
    daemon = Daemon(config, SimulatorSource(simulation, speed=SPEED))
    with signals(daemon.stop):
        showing = asyncio.create_task(_show(daemon, seconds))
        try:
            await daemon.run()
        finally:
            showing.cancel()


async def _show(daemon: Daemon, seconds: float) -> None:
    """Redraw on a terminal every second; anywhere else print every ten."""
    console = Console()
    started = time.monotonic()
    with Live(console=console, auto_refresh=False, transient=False) as live:
        end = started + seconds if seconds else math.inf
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(1.0 if console.is_terminal else 10.0, left))
            shown = _screen(daemon, time.monotonic() - started)
            if console.is_terminal:
                live.update(shown, refresh=True)
            else:
                console.print(shown)
    daemon.stop()


def _screen(daemon: Daemon, elapsed: float) -> RenderableType:
    left = DEPLOY_AFTER_SECONDS - elapsed
    news = (
        f"A bad deploy of the candidate comes in {left:.0f} s."
        if left > 0
        else (f"The candidate got a bad deploy {-left:.0f} s ago: look at its NDCG.")
    )
    windows = daemon.windows()
    return Group(
        "A simulated search, one minute of event time a second. Ctrl-C ends it.",
        f"{news} Event time: {event_time(windows)}",
        live_table(windows, daemon.engine.labels, list(SHOWN), WINDOW, list(SHOWN.values())),
        f"The page:    {daemon.url}/",
        f"For Grafana: {daemon.url}/metrics",
        f"Windows:     {daemon.url}/api/v1/windows?metric=ndcg&k=10&window=1m",
    )
