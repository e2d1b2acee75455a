"""Wait for a condition, not for a time."""

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any


async def wait_until(condition: Callable[[], Any], seconds: float = 10.0, *, every: float = 0.02) -> Any:
    """Wait for a function, async or not, to return something true, and return that.

    When the seconds are over the test fails, with the function's name and its last result.
    """
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        value = await result if inspect.isawaitable(result) else result
        if value:
            return value
        if time.monotonic() > deadline:
            name = getattr(condition, "__qualname__", repr(condition))
            raise AssertionError(f"not true within {seconds:g} s: {name} (last: {value!r})")
        await asyncio.sleep(every)
