"""`ranking-monitor simulate`: events of a simulated world to Kafka or to a file."""

import asyncio
import itertools
import logging
import math
import time
from dataclasses import replace
from datetime import datetime
from typing import Annotated, NoReturn

import typer

from monitor.simulate.pace import Pacer
from monitor.simulate.scenarios import SCENARIOS, Scenario
from monitor.simulate.sinks import SinkError, write_file, write_kafka
from monitor.simulate.stream import Simulation
from monitor.simulate.wire import ROLES


def simulate(
    to_file: Annotated[
        str | None, typer.Option(metavar="PATH", help='JSON lines; "-" is stdout, .gz is compressed.')
    ] = None,
    bootstrap_servers: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Write to this Kafka.")
    ] = None,
    topic: Annotated[
        str | None, typer.Option(help="One topic for all events; search-events, if not given.")
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
    topics = _topics(topic, impressions_topic, interactions_topic, judgments_topic)
    if (to_file is None) == (bootstrap_servers is None):
        _fail("give either --to-file or --bootstrap-servers")
    if to_file is not None and (topics is not None or speed is not None):
        _fail("--speed and topics are for Kafka; leave them out with --to-file")
    speed = 1.0 if speed is None else speed
    _check_numbers(seed=seed, rate=rate, duration=duration, speed=speed, deploy_at=deploy_at)
    in_real_time = bootstrap_servers is not None and speed == 1
    if duration == 0 and not in_real_time:
        _fail("--duration 0 runs until stopped: only with --bootstrap-servers and --speed 1")
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
    try:
        if bootstrap_servers is not None:
            logging.getLogger("aiokafka").setLevel(logging.CRITICAL)  # its errors end in our one line
            pacer = Pacer(events, start=begin, speed=speed)
            written = asyncio.run(write_kafka(bootstrap_servers, topics or _all_in("search-events"), pacer))
        else:
            written = write_file(str(to_file), events)
    except SinkError as error:
        _fail(str(error))
    parts = ", ".join(f"{written[role]} {role}s" for role in ROLES)
    typer.echo(f"wrote {written.total()} events: {parts}", err=True)


def _check_numbers(*, rate: float, **at_least_zero: float | None) -> None:
    if not 0 < rate < math.inf:
        _fail(f"--rate: {rate:g} is not allowed; give more than 0")
    for name, value in at_least_zero.items():
        if value is not None and not 0 <= value < math.inf:
            _fail(f"--{name.replace('_', '-')}: {value:g} is not allowed; give 0 or more")


def _scenario(name: str, deploy_at: float | None, duration: float) -> Scenario:
    """The scenario, with its deploy where the user wants it, or else soon enough to be seen."""
    if name not in SCENARIOS:
        _fail(f'--scenario: unknown scenario "{name}"; one of: {", ".join(SCENARIOS)}')
    scenario = SCENARIOS[name]
    if scenario.deploy_at is None:
        if deploy_at is not None:
            _fail(f'--deploy-at: the scenario "{name}" has no deploy; use --scenario bad-deploy')
        return scenario
    if deploy_at is None:
        deploy_at = min(scenario.deploy_at, duration / 2 or math.inf)
    return replace(scenario, deploy_at=deploy_at)


def _topics(
    topic: str | None, impressions: str | None, interactions: str | None, judgments: str | None
) -> dict[str, str] | None:
    """The topic of each role, if any was given."""
    separate = (impressions, interactions, judgments)
    if topic is not None and any(separate):
        _fail("give either --topic or the three topics, not both")
    if topic is not None:
        return _all_in(topic)
    if impressions and interactions and judgments:
        return dict(zip(ROLES, (impressions, interactions, judgments), strict=True))
    if any(separate):
        _fail("give --impressions-topic, --interactions-topic and --judgments-topic together")
    return None


def _all_in(topic: str) -> dict[str, str]:
    return dict.fromkeys(ROLES, topic)


def _start(text: str | None, default: float) -> float:
    if text is None:
        return round(default, 3)
    if text == "now":
        return round(time.time(), 3)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = datetime.min  # noqa: DTZ901 (stands for: not a time)
    if moment.tzinfo is None:
        _fail(f'--start: "{text}" is not a time with an offset; give "now" or, say, 2026-01-31T12:00:00Z')
    return moment.timestamp()


def _fail(message: str) -> NoReturn:
    typer.echo(message, err=True)
    raise typer.Exit(2)
