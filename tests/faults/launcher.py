"""The daemon, run with what the faults need. LAUNCHER, in the environment, is JSON with any of these keys.

`moment`: a file whose first byte tells whether this process is between the first byte of a response that
shows something new and the confirmed commit of it. `dawdle_seconds`: how much longer that takes, to be hit
in it. `session_seconds`: how soon the group gives up a silent member. `proxy`: the port through which every
connection to the broker goes, whatever port its metadata names. `memory_bytes`: how much memory it may have.
"""

import asyncio
import json
import mmap
import os
import resource
from functools import wraps
from pathlib import Path
from typing import Any

from aiokafka import AIOKafkaConsumer
from aiokafka.conn import AIOKafkaConnection

from monitor.cli import main


def tell_of_the_moment(path: Path, dawdle_seconds: float) -> None:
    """Write 1 when something is about to be shown for the first time, 0 when its commit is confirmed."""
    from monitor.publish import Publisher

    with path.open("r+b") as file:
        byte = mmap.mmap(file.fileno(), 1)
    show, acknowledge = Publisher.show, Publisher.acknowledge
    shows = 0

    @wraps(show)
    def showing(*args: Any, **kwargs: Any) -> Any:
        nonlocal shows
        shows += 1
        byte[0] = 1
        return show(*args, **kwargs)

    @wraps(acknowledge)
    async def acknowledging(*args: Any, **kwargs: Any) -> Any:
        before = shows
        await asyncio.sleep(dawdle_seconds)
        confirmed = await acknowledge(*args, **kwargs)
        # One that failed leaves it inside: shown, and not committed. So does one that was shown meanwhile.
        if confirmed and shows == before:
            byte[0] = 0
        return confirmed

    Publisher.show, Publisher.acknowledge = showing, acknowledging  # type: ignore[method-assign]


def shorten_sessions(seconds: float) -> None:
    made = AIOKafkaConsumer.__init__

    @wraps(made)
    def shortened(self: AIOKafkaConsumer, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("group_id"):
            kwargs |= {"session_timeout_ms": int(seconds * 1000), "heartbeat_interval_ms": int(seconds * 200)}
        made(self, *args, **kwargs)

    AIOKafkaConsumer.__init__ = shortened


def connect_through(port: int) -> None:
    connect = AIOKafkaConnection.connect

    @wraps(connect)
    async def rerouted(self: AIOKafkaConnection) -> Any:
        named, self._port = self._port, port
        try:
            return await connect(self)
        finally:
            self._port = named

    AIOKafkaConnection.connect = rerouted


if __name__ == "__main__":
    wanted = json.loads(os.environ.get("LAUNCHER", "{}"))
    if "moment" in wanted:
        tell_of_the_moment(Path(wanted["moment"]), wanted.get("dawdle_seconds", 0.0))
    if "session_seconds" in wanted:
        shorten_sessions(wanted["session_seconds"])
    if "proxy" in wanted:
        connect_through(wanted["proxy"])
    if "memory_bytes" in wanted:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted["memory_bytes"],) * 2)
    main()
