"""Heartbeats while the event loop is busy, from a thread with a connection of its own."""

import asyncio
import logging
import threading
import time
from typing import Any

from aiokafka.conn import create_conn
from aiokafka.protocol.group import HeartbeatRequest

from monitor.sources.kafka.client import PROBE_MS, Settings, connecting

log = logging.getLogger(__name__)

BUSY_SECONDS = 2.0
"""The loop's own heartbeats have become late by then."""
LONGEST_SECONDS = 30.0
"""A loop that is busy for longer counts as dead: others are to have its partitions."""
LOOK_SECONDS, EVERY_SECONDS = 0.5, 2.0


class SpareHeartbeat:
    """Keeps the membership while the loop decides much at once; does nothing while the loop is in time.

    What the group answers is of no interest here: the loop learns it by its own next heartbeat.
    """

    def __init__(self, settings: Settings, group_id: str) -> None:
        self._settings = settings
        self._group_id = group_id
        self._last: tuple[float, tuple[str, int] | None, tuple[str, int]] = (0.0, None, ("", -1))
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self.sent = 0

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End it soon; a request that is under way is not waited for."""
        self._stopped.set()

    def tick(self, now: float, coordinator: tuple[str, int] | None, membership: tuple[str, int]) -> None:
        """Say that the loop has come round, and who to send heartbeats for."""
        self._last = (now, coordinator, membership)

    def _run(self) -> None:
        asyncio.run(self._watch())

    async def _watch(self) -> None:
        connection: Any = None
        while not self._stopped.is_set():
            at, coordinator, (member_id, generation) = self._last
            busy_seconds = time.monotonic() - at
            if coordinator and generation >= 0 and BUSY_SECONDS <= busy_seconds < LONGEST_SECONDS:
                try:
                    async with asyncio.timeout(PROBE_MS / 1000):
                        connection = connection or await self._connect(*coordinator)
                        await connection.send(HeartbeatRequest(self._group_id, generation, member_id))
                    self.sent += 1
                except Exception as error:  # noqa: BLE001 - the next one may come through
                    log.debug("a heartbeat could not be sent: %r", error)
                    connection = _closed(connection)
                self._stopped.wait(EVERY_SECONDS)
            else:
                connection = _closed(connection)
                self._stopped.wait(LOOK_SECONDS)
        _closed(connection)
        await asyncio.sleep(0)

    async def _connect(self, host: str, port: int) -> Any:
        return await create_conn(host, port, request_timeout_ms=PROBE_MS, **connecting(self._settings))


def _closed(connection: Any) -> Any:
    if connection is not None:
        connection.close()
    return None
