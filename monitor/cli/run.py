"""`ranking-monitor run`: the daemon."""

import asyncio
import logging
from pathlib import Path
from typing import Annotated

import typer

from monitor.config import Config, load
from monitor.daemon import Daemon, signals
from monitor.logs import set_up
from monitor.sources.kafka import KafkaSource
from monitor.stream.plan import make_plan

log = logging.getLogger(__name__)


def run(
    config: Annotated[Path | None, typer.Option(help="The YAML file; without one all defaults hold.")] = None,
) -> None:
    """Watch the ranking quality of the events on Kafka until stopped."""
    settings = load(config)
    set_up(settings.log)
    asyncio.run(_run(settings))


async def _run(config: Config) -> None:
    # A restart reads back to the first impression of a window that is not closed for its last metric.
    needed_seconds = make_plan(config).last_delay + max(config.windows, default=0.0)
    source = KafkaSource(config.kafka, config.idle_seconds, needed_seconds)
    daemon = Daemon(config, source)
    with signals(daemon.stop):
        await daemon.run(lambda: log.info("listening on %s, config %s", daemon.url, config.digest))
