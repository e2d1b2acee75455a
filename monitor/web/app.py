"""The HTTP side: metrics, health, the API and the page, over a view of the running monitor."""

import asyncio
import time
from functools import partial
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from monitor.durations import in_words
from monitor.shared import SharedRendering
from monitor.stream.plan import make_plan
from monitor.web.api import BadQuery, answer, read_query
from monitor.web.packing import answer_packed, packing
from monitor.web.page import content_security_policy, render_page
from monitor.web.scrapes import SCRAPE_HEADER, Scraped, acknowledges, has_token, scrape_timeout
from monitor.web.turns import Turns
from monitor.web.view import Health, View
from monitor.web.words import progress, trouble

PLACES = "/, /metrics, /-/healthy, /-/ready, /api/v1/windows"
ANSWERS_PER_SECOND, PROBES_PER_SECOND = 20, 100
"""To all clients without a token together; browsers and probes ask far less often."""
ANSWERS_BURST = 25
LONGEST_TURN_SECONDS = 4.0
"""So a Prometheus without a token has its answer within its 10 s, whoever else asks. The longer this is, the
more clients can be kept to the answers of a second."""


def create_app(view: View) -> Starlette:
    """The application; all it shows comes from the view."""
    handlers = Handlers(view)
    app = Starlette(
        routes=[
            Route("/", handlers.page),
            Route("/metrics", handlers.metrics),
            Route("/-/healthy", handlers.healthy),
            Route("/-/ready", handlers.ready),
            Route("/api/v1/windows", handlers.windows),
        ],
        middleware=[Middleware(SecurityHeaders)],
        exception_handlers={HTTPException: handlers.refused, BadQuery: _bad_query},
    )
    app.router.redirect_slashes = False
    return app


class Handlers:
    """One method for each address."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._plan = make_plan(view.config)
        self._rendering = SharedRendering()
        self._turns = Turns(
            per_second=ANSWERS_PER_SECOND, burst=ANSWERS_BURST, longest_seconds=LONGEST_TURN_SECONDS
        )
        self._probes = Turns(per_second=PROBES_PER_SECOND, burst=PROBES_PER_SECOND // 2)

    async def metrics(self, request: Request) -> Response:
        view, accept, pack = self._view, ", ".join(request.headers.getlist("accept")), packing(request)
        if not has_token(request, view.config):
            await self._turn(self._turns)
        if acknowledges(request, view.config):
            return Scraped(view, accept, pack, scrape_timeout(request))
        # A Prometheus that does not count must see no counter go down either, as live ones can.
        scrapes = view.config.commit == "scrape" and SCRAPE_HEADER in request.headers
        body, content_type = await (view.shown if scrapes else view.render)(accept, pack)
        return answer_packed(body, content_type, pack, vary="Accept, Accept-Encoding")

    async def healthy(self, _: Request) -> Response:
        await self._turn(self._probes)
        health, status = self._view.health(), self._view.facts()
        return _words(health, f"Healthy: {progress(status)}" if health.healthy else None)

    async def ready(self, _: Request) -> Response:
        await self._turn(self._probes)
        health, status = self._view.health(), self._view.facts()
        return _words(health, f"Ready: {progress(status)}" if health.healthy and health.ready else None)

    async def windows(self, request: Request) -> Response:
        await self._turn(self._turns)
        view, pack = self._view, packing(request)
        items = request.query_params.multi_items()
        query = read_query(items, view.config, self._plan)

        async def render() -> bytes:
            work = partial(answer, query, list(view.windows()), view.label_names, list(view.label_sets))
            # Hours of windows take a while to write, and the event loop is the consumer's as well.
            return await asyncio.to_thread(lambda: pack(_json(work())))

        body = await self._rendering.get(("windows", frozenset(items), pack), render)
        return answer_packed(body, "application/json", pack)

    async def page(self, request: Request) -> Response:
        await self._turn(self._turns)
        view, pack = self._view, packing(request)
        sizes = {in_words(size): size for size in view.config.windows}
        wanted = request.query_params.get("window", next(iter(sizes), None))
        if wanted is not None and wanted not in sizes:
            raise BadQuery(f'window must be one of {", ".join(sizes)}, not "{wanted[:60]}"')
        size = sizes[wanted] if wanted else None

        async def render() -> bytes:
            parts = (view.health(), view.facts(), list(view.windows()), list(view.label_sets))
            return await asyncio.to_thread(
                lambda: pack(render_page(view.config, self._plan, *parts, size).encode())
            )

        body = await self._rendering.get(("page", size, pack), render)
        return answer_packed(body, "text/html; charset=utf-8", pack)

    async def refused(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        await self._turn(self._turns)
        message = error.detail
        if error.status_code == HTTPStatus.NOT_FOUND:
            message = f"nothing here; there are {PLACES}"
        elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
            message = f"{request.method} is not allowed; use GET"
        return _error(message, error.status_code, error.headers)

    async def _turn(self, turns: Turns) -> None:
        """Wait for one's turn: answering takes time from the reading of records."""
        if (seconds := turns.take(time.monotonic())) > 0:
            await asyncio.sleep(seconds)


class SecurityHeaders:
    """Says with every answer that nothing else may be loaded, framed, guessed or kept."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": content_security_policy(),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        await self._app(scope, receive, send_with_headers)


def _words(health: Health, good: str | None) -> Response:
    lines = [good, *health.lines] if good else [trouble(health), *health.lines[1:]]
    status = HTTPStatus.OK if good else HTTPStatus.SERVICE_UNAVAILABLE
    return PlainTextResponse("".join(f"{line}\n" for line in lines), status)


async def _bad_query(_: Request, error: Exception) -> Response:
    return _error(str(error), HTTPStatus.BAD_REQUEST)


def _error(message: str, status: int, headers: Any = None) -> Response:
    return Response(_json({"error": message}) + b"\n", status, headers, "application/json")


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)
