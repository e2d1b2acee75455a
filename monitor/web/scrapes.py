"""Scrapes that acknowledge: who may, and the answer that they get."""

import math
import secrets
import time
from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from monitor.config import Config
from monitor.web.delivery import is_there, send_whole
from monitor.web.packing import Pack, answer_packed
from monitor.web.view import View

SCRAPE_HEADER = "x-prometheus-scrape-timeout-seconds"
"""What Prometheus, and what scrapes as it does, sends with every scrape."""
SCRAPE_SECONDS = 60.0
"""A scrape that takes longer has failed, whatever it says; Prometheus allows 10 s, if not told otherwise."""
IN_TIME = 0.9
"""Of the time that a scrape has, for it began a little before we were asked."""


def acknowledges(request: Request, config: Config) -> bool:
    """Whether what this request is shown counts as seen by Prometheus."""
    if config.commit != "scrape" or request.method != "GET":
        return False
    return has_token(request, config) if config.token else SCRAPE_HEADER in request.headers


def has_token(request: Request, config: Config) -> bool:
    """Whether a token is configured and the request carries it, as a header or as a parameter."""
    if not config.token:
        return False
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    offered = [request.query_params.get("commit_token", "").encode()]
    if scheme.lower() == "bearer":
        offered.append(credentials.strip().encode("latin-1"))
    return any(secrets.compare_digest(token, config.token.encode()) for token in offered)


def scrape_timeout(request: Request) -> float:
    """After how many seconds the scrape will have failed, as it says itself."""
    try:
        seconds = float(request.headers[SCRAPE_HEADER])
    except (KeyError, ValueError):
        return SCRAPE_SECONDS
    # Compared with NaN, every deadline would have passed.
    return SCRAPE_SECONDS if math.isnan(seconds) else min(seconds, SCRAPE_SECONDS)


class Scraped(Response):
    """The answer to a scrape that acknowledges, when it has arrived, what it showed."""

    def __init__(self, view: View, accept: str, pack: Pack, seconds: float) -> None:
        super().__init__()
        self._view = view
        self._accept = accept
        self._pack = pack
        self._deadline = time.monotonic() + seconds * IN_TIME

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        there = partial(is_there, scope, self._deadline)
        scrape = await self._view.scrape(self._accept, self._pack, there)
        vary = "Accept, Accept-Encoding"
        answer = answer_packed(scrape.body, scrape.content_type, self._pack, vary)
        if await send_whole(answer, scope, send, self._deadline):
            await self._view.acknowledge(scrape.version)
