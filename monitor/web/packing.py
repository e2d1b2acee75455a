"""Answers that are compressed where the client takes that."""

import gzip
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from monitor.web.delivery import InChunks

COMPRESSION = 1
"""Of a large scrape: in half of the time that 5 takes, with a ninth more bytes."""

Pack = Callable[[bytes], bytes]
"""Compresses, or not: `bytes` or `gzipped`."""


def gzipped(body: bytes) -> bytes:
    return gzip.compress(body, COMPRESSION, mtime=0)


def packing(request: Request) -> Pack:
    """What the client takes."""
    return gzipped if accepts_gzip(", ".join(request.headers.getlist("accept-encoding"))) else bytes


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


def answer_packed(body: bytes, content_type: str, pack: Pack, vary: str = "Accept-Encoding") -> Response:
    """An answer whose body was packed already."""
    # The header is set as it is: Starlette would add a charset to it.
    headers = {"Vary": vary, "Content-Type": content_type}
    if pack is gzipped:
        headers["Content-Encoding"] = "gzip"
    return InChunks(body, headers=headers)
