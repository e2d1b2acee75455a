"""When a client is replaced, on a drawn timeline."""

import asyncio
from collections.abc import Callable

import pytest

from monitor.sources.base import SourceError
from monitor.sources.kafka.waiting import Waiting
from monitor.sources.kafka.watchdog import Watchdog


async def bite_time(
    reachable: Callable[[float], bool], quiet_from: float = 0.0, until: float = 400.0
) -> float:
    """The second at which the watchdog bites a client that is quiet from a moment on; infinity for never."""
    now = 0.0

    async def probe() -> None:
        if not reachable(now):
            raise Waiting("waiting for broker")

    watchdog = Watchdog(probe, stuck_seconds=60.0)
    while now < until:
        now += 0.5
        await asyncio.sleep(0)
        if watchdog.bites(now, max(0.0, now - quiet_from)):
            return now
        assert not (watchdog.unreachable and reachable(now - 5.0) and reachable(now))
    await watchdog.stop()
    return float("inf")


async def test_a_client_that_is_quiet_at_a_broker_that_answers_is_replaced_after_a_minute() -> None:
    assert 60.0 <= await bite_time(lambda _: True) <= 65.0


async def test_a_broker_that_is_away_is_waited_for() -> None:
    assert await bite_time(lambda _: False) == float("inf")


async def test_a_client_has_time_to_recover_after_an_outage() -> None:
    assert 250.0 <= await bite_time(lambda now: now >= 200.0) <= 260.0


async def test_a_client_that_makes_progress_is_left_alone() -> None:
    assert await bite_time(lambda _: True, quiet_from=395.0) == float("inf")


async def test_a_refusal_is_told() -> None:
    async def refuse() -> None:
        raise SourceError("authentication refused")

    watchdog = Watchdog(refuse, stuck_seconds=60.0)
    assert not watchdog.bites(20.0, 20.0)
    await asyncio.sleep(0)
    with pytest.raises(SourceError, match="authentication refused"):
        watchdog.bites(21.0, 21.0)


async def test_a_look_that_is_under_way_ends_with_the_watchdog() -> None:
    watchdog = Watchdog(lambda: asyncio.sleep(3600), stuck_seconds=60.0)
    watchdog.bites(20.0, 20.0)
    await watchdog.stop()
    assert len(asyncio.all_tasks()) == 1
