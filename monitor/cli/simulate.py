"""`ranking-monitor simulate`: events of a simulated world to Kafka or to a file."""

import asyncio
import itertools
import math
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.errors import UserError
from monitor.cli.numbers import at_least_zero
from monitor.cli.times import instant
from monitor.cli.topics import kafka_given, topics_configured, topics_given
from monitor.config import load
from monitor.simulate.pace import Pacer
from monitor.simulate.scenarios import SCENARIOS, Scenario
from monitor.simulate.sinks import write_file, write_kafka
from monitor.simulate.stream import Simulation
from monitor.simulate.wire import ROLES


def simulate(
    to_file: Annotated[
        str | None, typer.Option(metavar="PATH", help='JSON lines; "-" is stdout, .gz is compressed.')
    ] = None,
    bootstrap_servers: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Write to this Kafka.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="The daemon's: where Kafka is, how it is secured, and the topics.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option(help="One topic for all events; search-events, if nothing says otherwise.")
    ] = None,
    impressions_topic: Annotated[
        str | None, typer.Option(help="Instead of --topic, with the next two.")
    ] = None,
    interactions_topic: Annotated[str | None, typer.Option(help="Clicks, dwell and outcomes.")] = None,
    judgments_topic: Annotated[str | None, typer.Option(help="Relevance judgments.")] = None,
    scenario: Annotated[str, typer.Option(help=f"One of: {', '.join(SCENARIOS)}.")] = "steady",
    seed: Annotated[int, typer.Option(help="The same seed and start give the same events.")] = 0,
    rate: Annotated[float, typer.Option(help="Impressions a second of event time.")] = 20.0,
    duration: Annotated[
        float, typer.Option(help="Seconds of event time; 0: until stopped (Kafka).")
    ] = 3600.0,
    speed: Annotated[
        float | None,
        typer.Option(help="Kafka: event seconds a second; 0: as fast as possible; 1, if not given."),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            help='RFC 3339 time or "now". If not given: now in real time, else so that all is past.'
        ),
    ] = None,
    deploy_at: Annotated[
        float | None,
        typer.Option(help="Seconds from the start to the bad deploy; if not given 600, at most half-way."),
    ] = None,
    embeddings: Annotated[
        bool, typer.Option("--embeddings", help="Send the results' vectors along.")
    ] = False,
) -> None:
    """Write the events of a simulated search to Kafka or to a file."""
    topics = topics_given(topic, impressions_topic, interactions_topic, judgments_topic)
    to_kafka = bootstrap_servers is not None or config is not None
    if to_kafka == (to_file is not None):
        raise UserError("give either --to-file, or --bootstrap-servers or --config")
    if to_file is not None and (topics is not None or speed is not None):
        raise UserError("--speed and topics are for Kafka; leave them out with --to-file")
    speed = 1.0 if speed is None else speed
    if not 0 < rate < math.inf:
        raise UserError(f"--rate: {rate:g} is not allowed; give more than 0")
    at_least_zero(seed=seed, duration=duration, speed=speed, deploy_at=deploy_at)
    in_real_time = to_kafka and speed == 1
    if duration == 0 and not in_real_time:
        raise UserError("--duration 0 runs until stopped: only to Kafka, with --speed 1")
    begin = _start(start, time.time() - (0 if in_real_time else duration))
    end = begin + (duration or math.inf)
    world = Simulation(
        _scenario(scenario, deploy_at, duration),
        seed=seed,
        queries_per_second=rate,
        start=begin,
        embeddings=embeddings,
    )
    events = itertools.takewhile(lambda event: event.ts < end, world.events())
    if to_file is not None:
        written = write_file(to_file, events)
    else:
        kafka = kafka_given(load(config).kafka, bootstrap_servers)
        pacer = Pacer(events, start=begin, speed=speed)
        written = asyncio.run(write_kafka(kafka, topics or topics_configured(kafka.topics), pacer))
    parts = ", ".join(f"{written[role]} {role}s" for role in ROLES)
    typer.echo(f"wrote {written.total()} events: {parts}", err=True)


def _scenario(name: str, deploy_at: float | None, duration: float) -> Scenario:
    """The scenario, with its deploy where the user wants it, or else soon enough to be seen."""
    if name not in SCENARIOS:
        raise UserError(f'--scenario: unknown scenario "{name}"; one of: {", ".join(SCENARIOS)}')
    scenario = SCENARIOS[name]
    if scenario.deploy_at is None:
        if deploy_at is not None:
            raise UserError(f'--deploy-at: the scenario "{name}" has no deploy; use --scenario bad-deploy')
        return scenario
    if deploy_at is None:
        deploy_at = min(scenario.deploy_at, duration / 2 or math.inf)
    return replace(scenario, deploy_at=deploy_at)


def _start(text: str | None, default: float) -> float:
    if text is None:
        return round(default, 3)
    if text == "now":
        return round(time.time(), 3)
    return instant("--start", text, allowed='"now" or, say, 2026-01-31T12:00:00Z')
