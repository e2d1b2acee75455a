"""Scrapes that acknowledge: who counts as Prometheus, and whether the answer has arrived."""

import asyncio
import contextlib
import gzip
import socket
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import httpx
import pytest

from monitor.config import Config
from monitor.publish import Scrape
from monitor.web.app import create_app
from monitor.web.server import Server
from tests.support.waiting import wait_until
from tests.unit.web.views import MadeUpView

PROMETHEUS = {"X-Prometheus-Scrape-Timeout-Seconds": "10"}


async def get(view: MadeUpView, path: str = "/metrics", **headers: str) -> httpx.Response:
    transport = httpx.ASGITransport(create_app(view))
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor") as client:
        return await client.get(path, headers=headers)


def configured(**settings: str) -> MadeUpView:
    return MadeUpView(config=Config.model_validate({"metrics": ["ndcg@10", "ctr@3"], **settings}))


async def test_a_scrape_by_prometheus_acknowledges_what_it_showed() -> None:
    view = MadeUpView()
    response = await get(view, **PROMETHEUS)
    assert response.status_code == 200
    assert "# TYPE vector_ndcg_avg histogram\n" in response.text
    assert view.acknowledged == [7]


@pytest.mark.parametrize("timeout", ["nan", "NaN", "-nan", "inf", "1e999", "soon", "", "0x10"])
async def test_a_scrape_timeout_that_is_no_number_counts_as_not_given(timeout: str) -> None:
    view = MadeUpView()
    response = await get(view, **{"X-Prometheus-Scrape-Timeout-Seconds": timeout})
    assert response.status_code == 200
    assert view.acknowledged == [7]


@pytest.mark.parametrize("timeout", ["0", "-1", "-inf"])
async def test_a_scrape_that_has_no_time_acknowledges_nothing(timeout: str) -> None:
    view = MadeUpView()
    response = await get(view, **{"X-Prometheus-Scrape-Timeout-Seconds": timeout})
    assert response.status_code == 200
    assert view.acknowledged == []


async def test_anybody_else_acknowledges_nothing() -> None:
    view = MadeUpView()
    await get(view)
    await get(view, "/")
    assert view.acknowledged == []


async def test_asking_for_the_headers_alone_acknowledges_nothing() -> None:
    view = MadeUpView()
    transport = httpx.ASGITransport(create_app(view))
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor") as client:
        assert (await client.head("/metrics", headers=PROMETHEUS)).status_code == 200
    assert view.acknowledged == []


@pytest.mark.parametrize(
    ("path", "counts"),
    [
        ("/metrics?commit_token=first", True),
        ("/metrics?commit_token=second", False),
        ("/metrics?commit_token=", False),
        ("/metrics", False),
    ],
)
async def test_where_a_token_is_configured_only_scrapes_with_it_count(path: str, counts: bool) -> None:
    view = configured(commit_token="first")
    response = await get(view, path, **PROMETHEUS)
    assert bool(view.acknowledged) is counts
    # One that does not count sees no counter go down: only what was shown, nothing that may be dropped.
    assert response.text.startswith("# what was shown\n") is not counts


@pytest.mark.parametrize(
    ("authorization", "counts"),
    [
        ("Bearer first", True),
        ("bearer  first ", True),
        ("Bearer second", False),
        ("Bearer", False),
        ("Bearer \xe9", False),
        ("Basic first", False),
        ("first", False),
        ("", False),
    ],
)
async def test_the_token_counts_as_a_header_too(authorization: str, counts: bool) -> None:
    view = configured(commit_token="first")
    transport = httpx.ASGITransport(create_app(view))
    headers = [(b"authorization", authorization.encode("latin-1"))]
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor") as client:
        assert (await client.get("/metrics", headers=headers)).status_code == 200
    assert bool(view.acknowledged) is counts


async def test_the_token_counts_from_its_file(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    view = configured(commit_token_file=str(tmp_path / "token"))
    await get(view, **PROMETHEUS)
    assert view.acknowledged == []
    await get(view, authorization="Bearer first")
    assert view.acknowledged == [7]


async def test_a_scrape_with_the_token_counts_whatever_scrapes() -> None:
    view = configured(commit_token="first")
    await get(view, "/metrics?commit_token=first")
    assert view.acknowledged == [7]


async def test_where_commits_go_by_time_no_scrape_acknowledges() -> None:
    view = configured(commit="interval")
    await get(view, **PROMETHEUS)
    assert view.acknowledged == []


# Over a real socket: whether all of it has arrived.


class LargeView(MadeUpView):
    """Has more to show than any buffer on the way takes."""

    body = b"# " + b"x" * 30_000_000 + b"\n"

    async def scrape(self, _: str, pack: Callable[[bytes], bytes], _there: Callable[[], bool]) -> Scrape:
        return Scrape(pack(self.body), "text/plain", version=7)


@contextlib.asynccontextmanager
async def serving(view: MadeUpView) -> AsyncIterator[int]:
    listener = socket.create_server(("127.0.0.1", 0))
    server = Server(create_app(view))
    running = asyncio.create_task(server.serve([listener]))
    try:
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        await running


def request(connection: str) -> bytes:
    header = "X-Prometheus-Scrape-Timeout-Seconds: 10"
    return f"GET /metrics HTTP/1.1\r\nHost: x\r\n{header}\r\nConnection: {connection}\r\n\r\n".encode()


@pytest.mark.parametrize("connection", ["keep-alive", "close"])
@pytest.mark.parametrize("view", [MadeUpView(), LargeView()], ids=["small", "large"])
async def test_a_scrape_that_was_read_to_its_end_has_arrived(view: MadeUpView, connection: str) -> None:
    view.acknowledged.clear()
    async with serving(view) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request(connection))
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        await reader.readexactly(length)
        if connection == "close":
            writer.close()
        await wait_until(lambda: view.acknowledged == [7], 5)
        writer.close()


async def test_a_connection_serves_one_scrape_after_the_other() -> None:
    view = MadeUpView()
    async with serving(view) as port, httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        for number in range(1, 4):
            response = await client.get("/metrics", headers={**PROMETHEUS, "Accept-Encoding": "gzip"})
            assert response.text.startswith("# HELP vector_")
            await wait_until(lambda number=number: view.acknowledged == [7] * number, 5)


@pytest.mark.parametrize("how", ["close", "abort"])
async def test_a_scrape_that_is_cut_off_has_not_arrived(how: str) -> None:
    view = LargeView()
    async with serving(view) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("keep-alive"))
        await reader.readexactly(100_000)
        getattr(writer.transport, how)()
        await asyncio.sleep(0.3)
        assert view.acknowledged == []
        # And the next one is served.
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as client:
            assert len((await client.get("/metrics", headers=PROMETHEUS)).content) == len(view.body)
        await wait_until(lambda: view.acknowledged == [7], 5)


class SlowView(MadeUpView):
    """Takes so long that a scraper gives up."""

    async def scrape(self, accept: str, pack: Callable[[bytes], bytes], there: Callable[[], bool]) -> Scrape:
        await asyncio.sleep(0.3)
        return await super().scrape(accept, pack, there)


@pytest.mark.parametrize("how", ["close", "abort"])
async def test_a_scraper_that_gave_up_before_the_answer_has_nothing(how: str) -> None:
    view = SlowView()
    async with serving(view) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request("keep-alive"))
        await asyncio.sleep(0.1)
        getattr(writer.transport, how)()
        await asyncio.sleep(0.6)
        assert view.was_there == [False]
        assert view.acknowledged == []


async def test_a_scrape_that_nobody_reads_has_not_arrived(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("monitor.web.scrapes.SCRAPE_SECONDS", 0.3)
    view = LargeView()
    async with serving(view) as port:
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1000)
        writer.write(request("keep-alive"))
        await asyncio.sleep(0.8)
        assert view.acknowledged == []
        writer.transport.abort()


async def test_what_is_compressed_is_compressed_once() -> None:
    view = MadeUpView()
    transport = httpx.ASGITransport(create_app(view))
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor") as client:
        asked = client.build_request("GET", "/metrics", headers={**PROMETHEUS, "Accept-Encoding": "gzip"})
        response = await client.send(asked, stream=True)
        raw = b"".join([part async for part in response.aiter_raw()])
    assert response.headers["vary"] == "Accept, Accept-Encoding"
    assert int(response.headers["content-length"]) == len(raw)
    assert gzip.decompress(raw).startswith(b"# HELP vector_")
