"""One step of the flow: what a source brought goes through the engine."""

from monitor.sources.base import Poll
from monitor.stream.engine import Engine


def feed(engine: Engine, poll: Poll) -> None:
    """Hand over what one poll brought, and decide what is due by then."""
    if poll.assigned is not None:
        engine.assign(poll.assigned, poll.now)
    for chunk in poll.chunks:
        engine.ingest(chunk, poll.now)
    engine.idle(poll.idle, poll.now)
    if poll.finished:
        engine.finish(poll.now)
    else:
        engine.advance(poll.now)
