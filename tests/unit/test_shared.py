"""Rendering for those who acknowledge nothing: one at a time, shared, and with rests."""

import asyncio
import time

import pytest

from monitor.shared import SharedRendering


async def test_only_one_is_rendered_at_a_time_whatever_is_asked_for() -> None:
    rendering, at_once, most = SharedRendering(), 0, 0

    async def render() -> int:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return 1

    await asyncio.gather(*(rendering.get(key, render) for key in range(20)))
    assert most == 1


async def test_after_a_rendering_comes_a_rest_of_twice_its_time() -> None:
    rendering = SharedRendering()

    async def render() -> float:
        began = time.monotonic()
        await asyncio.sleep(0.05)
        return began

    first = await rendering.get("first", render)
    assert await rendering.get("second", render) - first >= 0.15


async def test_a_failure_is_told_to_who_asked_and_is_not_shared() -> None:
    rendering = SharedRendering()

    async def fail() -> int:
        raise ValueError("no")

    async def succeed() -> int:
        return 1

    with pytest.raises(ValueError, match="no"):
        await rendering.get("key", fail)
    assert await rendering.get("key", succeed) == 1
