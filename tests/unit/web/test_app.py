"""The addresses, their answers and headers."""

import base64
import gzip
import hashlib
import re
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx
import pytest

from monitor.web.app import create_app
from monitor.web.view import Health
from tests.unit.web.views import STATUS, MadeUpView

PLACES = ["/", "/metrics", "/-/healthy", "/-/ready", "/api/v1/windows"]
SILENT = Health(healthy=False, ready=False, lines=["the broker does not answer", "since 5 minutes"])
STARTING = Health(healthy=True, ready=False, lines=["the judgments are still being read"])


@pytest.fixture
def view() -> MadeUpView:
    return MadeUpView()


@pytest.fixture
async def client(view: MadeUpView) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(view))
    headers = {"Accept-Encoding": "identity"}
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor", headers=headers) as client:
        yield client


async def test_a_scrape_gets_text_unless_it_asks_for_openmetrics(client: httpx.AsyncClient) -> None:
    text = await client.get("/metrics")
    assert text.status_code == 200
    assert text.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert "# TYPE vector_ndcg_avg histogram\n" in text.text
    accept = {"Accept": "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"}
    openmetrics = await client.get("/metrics", headers=accept)
    assert openmetrics.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    assert openmetrics.text.endswith("# EOF\n")


async def test_a_scrape_is_compressed_where_that_is_accepted_and_caches_are_told(view: MadeUpView) -> None:
    transport = httpx.ASGITransport(create_app(view))
    async with httpx.AsyncClient(transport=transport, base_url="http://monitor") as client:
        request = client.build_request("GET", "/metrics", headers={"Accept-Encoding": "gzip"})
        response = await client.send(request, stream=True)
        raw = b"".join([part async for part in response.aiter_raw()])
    assert response.headers["content-encoding"] == "gzip"
    assert response.headers["vary"] == "Accept, Accept-Encoding"
    assert int(response.headers["content-length"]) == len(raw)
    assert gzip.decompress(raw).startswith(b"# HELP vector_")


@pytest.mark.parametrize("coding", ["identity", "gzip;q=0", "deflate, br"])
async def test_a_scrape_is_not_compressed_where_that_is_not_accepted(
    client: httpx.AsyncClient, coding: str
) -> None:
    response = await client.get("/metrics", headers={"Accept-Encoding": coding})
    assert "content-encoding" not in response.headers


@pytest.mark.parametrize("place", PLACES)
async def test_every_place_answers_get_and_head_and_nothing_else(
    client: httpx.AsyncClient, place: str
) -> None:
    assert (await client.get(place)).status_code == 200
    assert (await client.head(place)).status_code == 200
    for method in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
        refused = await client.request(method, place)
        assert refused.status_code == 405
        assert sorted(refused.headers["allow"].split(", ")) == ["GET", "HEAD"]
        assert refused.json() == {"error": f"{method} is not allowed; use GET"}


@pytest.mark.parametrize(
    "place", ["/nothing", "/metrics/", "/api", "/api/v1/windows/", "//metrics", "/%2e%2e/"]
)
async def test_elsewhere_there_is_nothing_and_the_answer_says_what_there_is(
    client: httpx.AsyncClient, place: str
) -> None:
    response = await client.get(f"http://monitor{place}")
    assert response.status_code == 404
    assert response.json() == {
        "error": "nothing here; there are /, /metrics, /-/healthy, /-/ready, /api/v1/windows"
    }


@pytest.mark.parametrize("place", [*PLACES, "/nothing", "/api/v1/windows?k=x"])
async def test_every_answer_forbids_foreign_resources_and_guessing(
    client: httpx.AsyncClient, place: str
) -> None:
    headers = (await client.get(place)).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; ")
    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"


async def test_the_policy_allows_the_pages_own_style_and_script(client: httpx.AsyncClient) -> None:
    page = await client.get("/")
    for element in ("style", "script"):
        found = re.search(f"<{element}>(.*?)</{element}>", page.text, re.DOTALL)
        assert found
        digest = base64.b64encode(hashlib.sha256(found[1].encode()).digest()).decode()
        assert f"{element}-src 'sha256-{digest}'" in page.headers["content-security-policy"]
    assert " style=" not in page.text
    assert " onclick=" not in page.text


@pytest.mark.parametrize(
    ("said", "healthy", "ready"),
    [
        pytest.param(
            Health(healthy=True, ready=True),
            (200, "Healthy: reading 3 partitions, 12 records behind, event time 64 s ago\n"),
            (200, "Ready: reading 3 partitions, 12 records behind, event time 64 s ago\n"),
            id="well",
        ),
        pytest.param(
            STARTING,
            (
                200,
                "Healthy: reading 3 partitions, 12 records behind, event time 64 s ago\n"
                + STARTING.lines[0]
                + "\n",
            ),
            (503, "Not ready: the judgments are still being read\n"),
            id="starting",
        ),
        pytest.param(
            SILENT,
            (503, "Unhealthy: the broker does not answer\nsince 5 minutes\n"),
            (503, "Unhealthy: the broker does not answer\nsince 5 minutes\n"),
            id="silent",
        ),
    ],
)
async def test_health_is_a_status_code_and_words(
    client: httpx.AsyncClient,
    view: MadeUpView,
    said: Health,
    healthy: tuple[int, str],
    ready: tuple[int, str],
) -> None:
    view.said = said
    for place, (code, words) in (("/-/healthy", healthy), ("/-/ready", ready)):
        response = await client.get(place)
        assert (response.status_code, response.text) == (code, words)
        assert response.headers["content-type"] == "text/plain; charset=utf-8"


async def test_before_anything_was_read_the_words_say_so(client: httpx.AsyncClient, view: MadeUpView) -> None:
    view.status = replace(STATUS, partitions=0, lag=0, event_time_age=None)
    text = (await client.get("/-/ready")).text
    assert text == "Ready: reading no partition, no record behind, no event time yet\n"
