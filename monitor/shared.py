"""Rendering for clients that acknowledge nothing: one at a time, each result shared for a second."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, TypeVar

SHARED_SECONDS = 1.0
REST = 2.0
"""Time without rendering after each one, as a multiple of the time that it took."""

T = TypeVar("T")


class SharedRendering:
    """What many clients ask for is rendered once a second, however many they are.

    Rendering takes turns with the reading of records, since Python runs one thread at a time. So between two
    renderings there is a rest, whatever is asked for.
    """

    def __init__(self) -> None:
        self._results: dict[Hashable, Any] = {}
        self._one_at_a_time = asyncio.Lock()
        self._rests_until = 0.0

    async def get(self, key: Hashable, render: Callable[[], Awaitable[T]]) -> T:
        """The result for this key, at most a second old; equal keys must mean equal results."""
        if key not in self._results:
            async with self._one_at_a_time:
                if key not in self._results:
                    return await self._render(key, render)
        shared: T = self._results[key]
        return shared

    async def _render(self, key: Hashable, render: Callable[[], Awaitable[T]]) -> T:
        await asyncio.sleep(self._rests_until - time.monotonic())
        began = time.monotonic()
        try:
            result = await render()
        finally:
            ended = time.monotonic()
            self._rests_until = ended + REST * (ended - began)
        self._results[key] = result
        asyncio.get_running_loop().call_later(SHARED_SECONDS, self._results.pop, key)
        return result
