"""One step of the flow: what a source brought goes through the engine."""

import gc

from monitor.sources.base import Poll
from monitor.stream.engine import Engine


def feed(engine: Engine, poll: Poll) -> None:
    """Hand over what one poll brought, and decide what is due by then."""
    if poll.assigned is not None:
        engine.assign(poll.assigned, poll.now)
    for chunk in poll.chunks:
        engine.ingest(chunk, poll.now)
    engine.idle(poll.idle)
    if poll.finished:
        engine.finish(poll.now)
    else:
        engine.advance(poll.now)


def ease_garbage_collection() -> None:
    """Look for cycles rarely: what is held makes none, and to walk a million impressions is not free."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
