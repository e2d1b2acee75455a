"""The HTTP side: metrics, health, the API and the page, over a view of the running monitor."""

import asyncio
import gzip
import secrets
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
from monitor.stream.plan import make_plan
from monitor.web.api import BadQuery, answer, read_query
from monitor.web.delivery import is_there, send_whole
from monitor.web.page import content_security_policy, render_page
from monitor.web.view import Health, View
from monitor.web.words import progress, trouble

PLACES = "/, /metrics, /-/healthy, /-/ready, /api/v1/windows"
SCRAPE_HEADER = "x-prometheus-scrape-timeout-seconds"
"""What Prometheus, and what scrapes as it does, sends with every scrape."""
SCRAPE_SECONDS = 60.0
"""A scrape that takes longer has failed, whatever it says; Prometheus allows 10 s, if not told otherwise."""
IN_TIME = 0.9
"""Of the time that a scrape has, for it began a little before we were asked."""
COMPRESSION = 1
"""Of a large scrape: in half of the time that 5 takes, with a ninth more bytes."""


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
        exception_handlers={HTTPException: _refused, BadQuery: _bad_query},
    )
    app.router.redirect_slashes = False
    return app


class Handlers:
    """One method for each address."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._plan = make_plan(view.config)

    async def metrics(self, request: Request) -> Response:
        accept = ", ".join(request.headers.getlist("accept"))
        if self._acknowledges(request):
            return Scraped(self._view, accept, gzipped=_wants_gzip(request), seconds=_timeout(request))
        # A Prometheus that does not count must see no counter go down either, as live ones can.
        scrapes = self._view.config.commit == "scrape" and SCRAPE_HEADER in request.headers
        body, content_type = await (self._view.shown if scrapes else self._view.render)(accept)
        response = await _compressed(request, body, content_type)
        response.headers["Vary"] = "Accept, Accept-Encoding"
        return response

    def _acknowledges(self, request: Request) -> bool:
        """Whether what this request is shown counts as seen by Prometheus."""
        config = self._view.config
        if config.commit != "scrape" or request.method != "GET":
            return False
        if config.commit_token:
            given = request.query_params.get("commit_token", "")
            return secrets.compare_digest(given.encode(), config.commit_token.encode())
        return SCRAPE_HEADER in request.headers

    async def healthy(self, _: Request) -> Response:
        health, status = self._view.health(), self._view.facts()
        return _words(health, f"Healthy: {progress(status)}" if health.healthy else None)

    async def ready(self, _: Request) -> Response:
        health, status = self._view.health(), self._view.facts()
        return _words(health, f"Ready: {progress(status)}" if health.healthy and health.ready else None)

    async def windows(self, request: Request) -> Response:
        view = self._view
        query = read_query(request.query_params.multi_items(), view.config, self._plan)
        work = partial(answer, query, list(view.windows()), view.label_names, list(view.label_sets))
        # Hours of windows take a while to write, and the event loop is the consumer's as well.
        body = await asyncio.to_thread(lambda: _json(work()))
        return await _compressed(request, body, "application/json")

    async def page(self, request: Request) -> Response:
        view = self._view
        sizes = {in_words(size): size for size in view.config.windows}
        wanted = request.query_params.get("window", next(iter(sizes), None))
        if wanted is not None and wanted not in sizes:
            raise BadQuery(f'window must be one of {", ".join(sizes)}, not "{wanted[:60]}"')
        parts = (view.health(), view.facts(), list(view.windows()), list(view.label_sets))
        size = sizes[wanted] if wanted else None
        text = await asyncio.to_thread(render_page, view.config, self._plan, *parts, size)
        return await _compressed(request, text.encode(), "text/html; charset=utf-8")


class Scraped(Response):
    """The answer to a scrape that acknowledges, when it has arrived, what it showed."""

    def __init__(self, view: View, accept: str, *, gzipped: bool, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds
        self._view = view
        self._accept = accept
        self._gzipped = gzipped

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        deadline = time.monotonic() + self._seconds * IN_TIME
        pack = partial(gzip.compress, compresslevel=COMPRESSION, mtime=0) if self._gzipped else bytes
        scrape = await self._view.scrape(self._accept, pack, partial(is_there, scope, deadline))
        headers = {"Content-Type": scrape.content_type, "Vary": "Accept, Accept-Encoding"}
        if self._gzipped:
            headers["Content-Encoding"] = "gzip"
        if await send_whole(Response(scrape.body, headers=headers), scope, send, deadline):
            await self._view.acknowledge(scrape.version)


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


async def _compressed(request: Request, body: bytes, content_type: str) -> Response:
    headers = {"Vary": "Accept-Encoding"}
    if _wants_gzip(request):
        body = await asyncio.to_thread(gzip.compress, body, COMPRESSION, mtime=0)
        headers["Content-Encoding"] = "gzip"
    # The header is set as it is: Starlette would add a charset to it.
    return Response(body, headers={**headers, "Content-Type": content_type})


def _timeout(request: Request) -> float:
    """When the scrape will have failed, as it says itself."""
    try:
        return min(float(request.headers[SCRAPE_HEADER]), SCRAPE_SECONDS)
    except (KeyError, ValueError):
        return SCRAPE_SECONDS


def _wants_gzip(request: Request) -> bool:
    return accepts_gzip(", ".join(request.headers.getlist("accept-encoding")))


def accepts_gzip(header: str) -> bool:
    """Whether an Accept-Encoding header names gzip and does not weigh it 0.

    >>> [accepts_gzip(h) for h in ("gzip", "deflate, GZip;q=0.5", "gzip;q=0", "identity", "")]
    [True, True, False, False, False]
    """
    for part in header.lower().split(","):
        coding, *parameters = [piece.strip() for piece in part.split(";")]
        if coding == "gzip":
            return not any(p.startswith("q=") and not p[2:].strip("0.") for p in parameters)
    return False


def _words(health: Health, good: str | None) -> Response:
    lines = [good, *health.lines] if good else [trouble(health), *health.lines[1:]]
    status = HTTPStatus.OK if good else HTTPStatus.SERVICE_UNAVAILABLE
    return PlainTextResponse("".join(f"{line}\n" for line in lines), status)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = error.detail
    if error.status_code == HTTPStatus.NOT_FOUND:
        message = f"nothing here; there are {PLACES}"
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        message = f"{request.method} is not allowed; use GET"
    return _error(message, error.status_code, error.headers)


async def _bad_query(_: Request, error: Exception) -> Response:
    return _error(str(error), HTTPStatus.BAD_REQUEST)


def _error(message: str, status: int, headers: Any = None) -> Response:
    return Response(_json({"error": message}) + b"\n", status, headers, "application/json")


def _json(value: object) -> bytes:
    return msgspec.json.encode(value)
