"""Asks a Prometheus server over its HTTP API; every failure is one line that says what to do."""

import http.client
import json
import math
import socket
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import Request, urlopen

from monitor.mistakes import Mistake
from monitor.visible import one_line, short

TIMEOUT_SECONDS = 60.0
MAX_BYTES = 256 << 20
"""The largest answer that is read."""
EXAMPLE = "http://prometheus:9090"


class PrometheusError(Mistake):
    """Prometheus cannot be asked, or refuses to answer."""


class RangeSamples(NamedTuple):
    """One series of a range query."""

    labels: dict[str, str]
    values: dict[int, float]
    """By time, in Unix seconds."""


class PrometheusApi:
    """The HTTP API of one server."""

    def __init__(self, address: str, timeout: float = TIMEOUT_SECONDS) -> None:
        self.address = _checked(address)
        self._timeout = timeout

    def query_range(self, expression: str, start: int, end: int, step: int) -> list[RangeSamples]:
        """The series of an expression, from start to end."""
        data = self._get("query_range", {"query": expression, "start": start, "end": end, "step": step})
        try:
            return [
                RangeSamples(
                    {str(name): str(value) for name, value in series["metric"].items()},
                    {int(float(at)): float(value) for at, value in series["values"]},
                )
                for series in data["result"]
            ]
        except (KeyError, TypeError, ValueError, AttributeError):
            raise self._no_prometheus("an answer without series") from None

    def label_names(self, selector: str, start: int, end: int) -> list[str]:
        """The labels that series had."""
        return self._names("labels", selector, start, end)

    def label_values(self, label: str, selector: str, start: int, end: int) -> list[str]:
        """The values that series had of a label."""
        return self._names(f"label/{quote(label)}/values", selector, start, end)

    def _names(self, path: str, selector: str, start: int, end: int) -> list[str]:
        data = self._get(path, {"match[]": selector, "start": start, "end": end})
        if not isinstance(data, list):
            raise self._no_prometheus("an answer without names")
        return [str(name) for name in data]

    def _get(self, path: str, parameters: Mapping[str, str | int]) -> Any:
        url = f"{self.address}/api/v1/{path}?{urlencode(parameters)}"
        request = Request(url, headers={"Accept": "application/json"})  # noqa: S310 - http or https: _checked
        deadline = time.monotonic() + self._timeout
        try:
            try:
                with urlopen(request, timeout=self._timeout) as response:  # noqa: S310
                    status, body = response.status, self._read(response, deadline)
            except HTTPError as error:  # Prometheus refuses a query with a status and its reason
                with error:
                    status, body = error.code, self._read(error, deadline)
        except TimeoutError:
            raise self._too_slow() from None
        except URLError as error:
            if isinstance(error.reason, TimeoutError):
                raise self._too_slow() from None
            raise self._unreachable(error.reason) from None
        except http.client.HTTPException:
            raise self._no_prometheus("something that is not HTTP") from None
        except OSError as error:
            raise self._unreachable(error) from None
        return self._data(status, body)

    def _read(self, response: Any, deadline: float) -> bytes:
        parts, size = [], 0
        while part := response.read1(1 << 20):
            parts.append(part)
            size += len(part)
            if size > MAX_BYTES:
                raise PrometheusError(
                    f"{self.address} answers with more than {MAX_BYTES >> 20} MB; give fewer --weeks, "
                    "or a label with fewer values in --values"
                )
            if time.monotonic() > deadline:
                raise TimeoutError
        return b"".join(parts)

    def _data(self, status: int, body: bytes) -> Any:
        try:
            answer = json.loads(body, parse_constant=lambda _: math.nan)
        except (ValueError, RecursionError):
            answer = None
        match answer:
            case {"status": "success", "data": data}:
                return data
            case {"status": "error", "error": str(reason)}:
                raise PrometheusError(one_line(f"{self.address} refuses a query: {reason}"))
        if status in (401, 403):
            raise PrometheusError(
                f"{self.address} wants a login (HTTP {status}), which --calibrate cannot give; use an "
                "address of Prometheus that needs none, for example through a port-forward"
            )
        raise self._no_prometheus(f"HTTP {status} and no JSON of Prometheus")

    def _unreachable(self, reason: object) -> PrometheusError:
        if isinstance(reason, socket.gaierror):
            text = "there is no such host"
        else:
            text = reason.strerror or str(reason) if isinstance(reason, OSError) else str(reason)
        return PrometheusError(
            one_line(f"cannot reach {self.address}: {text}; check the address that --calibrate has")
        )

    def _no_prometheus(self, found: str) -> PrometheusError:
        return PrometheusError(
            f"{self.address} is no Prometheus: it answers with {found}; give --calibrate the address of "
            f"Prometheus itself, such as {EXAMPLE}"
        )

    def _too_slow(self) -> PrometheusError:
        return PrometheusError(
            f"{self.address} has not answered within {self._timeout:g} s; try again, or give fewer --weeks"
        )


def _checked(address: str) -> str:
    """Without the slash at its end."""
    try:
        parts = urlsplit(address)
        right = parts.scheme in ("http", "https") and parts.hostname and (parts.port is None or parts.port)
        right = right and address.isascii() and address.isprintable() and " " not in address
        user, more = parts.username or parts.password, parts.query or parts.fragment
    except ValueError:
        right, user, more = False, None, ""
    if not right or more:
        raise PrometheusError(
            one_line(
                f'--calibrate: "{short(address)}" is no address of Prometheus; give one such as {EXAMPLE}'
            )
        )
    if user:
        raise PrometheusError(
            "--calibrate: an address with a user or a password is not supported; use an address of "
            "Prometheus that needs no login, for example through a port-forward"
        )
    return address.rstrip("/")
