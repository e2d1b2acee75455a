"""Addresses that are no Prometheus, or one that cannot answer: one line each, exit code 2."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import create_server

import pytest

from monitor.alerting.prometheus_api import PrometheusApi, PrometheusError
from tests.support.daemon import command
from tests.support.ports import free_port


@contextmanager
def answering(status: int, body: bytes, kind: str = "application/json") -> Iterator[str]:
    """A web server that always says the same; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is http.server's
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def success(data: object) -> bytes:
    return json.dumps({"status": "success", "data": data}).encode()


NO_PROMETHEUS = " is no Prometheus: it answers with "
SILENT = "has not answered within 0.3 s; try again, or give fewer --weeks"
ANSWERS = {
    "a page": (200, b"<html>Grafana</html>", NO_PROMETHEUS + "HTTP 200 and no JSON of Prometheus"),
    "no such page": (404, b"not found", NO_PROMETHEUS + "HTTP 404 and no JSON of Prometheus"),
    "other JSON": (200, b'{"version": 1}', NO_PROMETHEUS + "HTTP 200 and no JSON of Prometheus"),
    "nested brackets": (200, b"[" * 100_000, NO_PROMETHEUS + "HTTP 200 and no JSON of Prometheus"),
    "series without values": (
        200,
        success({"result": [{"metric": {}}]}),
        NO_PROMETHEUS + "an answer without series",
    ),
    "a list": (200, success([]), NO_PROMETHEUS + "an answer without series"),
    "a login": (401, b"", " wants a login (HTTP 401), which --calibrate cannot give"),
    "a refusal": (
        422,
        json.dumps({"status": "error", "error": "query timed out\nin expression"}).encode(),
        " refuses a query: query timed out\ufffdin expression",
    ),
}


@pytest.mark.parametrize(("status", "body", "message"), ANSWERS.values(), ids=ANSWERS)
def test_an_answer_that_is_none_is_told(status: int, body: bytes, message: str) -> None:
    with answering(status, body) as address, pytest.raises(PrometheusError) as told:
        PrometheusApi(address).query_range("up", 0, 3600, 60)
    assert str(told.value).startswith(address + message)
    assert str(told.value).isprintable()


def test_names_that_are_no_list_are_no_answer() -> None:
    with answering(200, success({"a": 1})) as address, pytest.raises(PrometheusError, match="without names"):
        PrometheusApi(address).label_names("up", 0, 60)


def test_values_that_are_not_numbers_of_json_are_read() -> None:
    series = {"metric": {"a": "b"}, "values": [[60, "NaN"], [120.0, "+Inf"], [180, "0.5"]]}
    with answering(200, success({"result": [series]})) as address:
        (found,) = PrometheusApi(address + "/").query_range("up", 0, 3600, 60)
    assert found.labels == {"a": "b"}
    assert found.values.keys() == {60, 120, 180}
    assert found.values[180] == 0.5


def test_a_server_that_never_answers_is_given_up() -> None:
    with create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(PrometheusError, match=SILENT):
            PrometheusApi(address, timeout=0.3).label_names("up", 0, 60)


@contextmanager
def speaking(talk: Callable[[], Iterator[bytes]]) -> Iterator[str]:
    """A server that is no web server: it says something to whoever connects."""
    with create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                try:
                    for part in talk():
                        connection.sendall(part)
                except OSError:
                    return

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        thread.join(10)


def test_a_server_that_drips_is_given_up() -> None:
    over = threading.Event()

    def drip() -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
        while not over.wait(0.05):
            yield b" "

    with speaking(drip) as address:
        with pytest.raises(PrometheusError, match=SILENT):
            PrometheusApi(address, timeout=0.3).label_names("up", 0, 60)
        over.set()


def test_what_speaks_no_http_is_no_prometheus() -> None:
    with (
        speaking(lambda: iter([b"\x00\x00\x00\x10 kafka\r\n\r\n"])) as address,
        pytest.raises(PrometheusError, match="is no Prometheus: it answers with something that is not HTTP"),
    ):
        PrometheusApi(address, timeout=5).label_names("up", 0, 60)


ADDRESSES = {
    "no scheme": ("prometheus:9090", "is no address of Prometheus; give one such as http://prometheus:9090"),
    "a file": ("file:///etc/passwd", "is no address of Prometheus"),
    "no host": ("http://", "is no address of Prometheus"),
    "a port too large": ("http://localhost:99999", "is no address of Prometheus"),
    "a query": ("http://localhost:9090/?q=1", "is no address of Prometheus"),
    "a line break": ("http://local\nhost", "is no address of Prometheus"),
    "a space": ("http://local host", "is no address of Prometheus"),
    "a password": ("http://me:secret@localhost:9090", "a user or a password is not supported"),
}


@pytest.mark.parametrize(("address", "message"), ADDRESSES.values(), ids=ADDRESSES)
def test_an_address_that_cannot_be_is_refused(address: str, message: str) -> None:
    with pytest.raises(PrometheusError) as told:
        PrometheusApi(address)
    assert message in str(told.value)
    assert str(told.value).isprintable()
    assert "secret" not in str(told.value)


async def test_the_command_says_so_in_one_line_and_writes_nothing(tmp_path: Path) -> None:
    nobody, output = f"http://127.0.0.1:{free_port()}", tmp_path / "values.yaml"
    with answering(200, success([])) as empty:
        for arguments, message in (
            (["--calibrate", nobody], f"cannot reach {nobody}: Connection refused; check the address"),
            (
                ["--calibrate", empty],
                f"{empty}: no job has series of ranking-monitor in the last 14d; check that",
            ),
            (
                ["--calibrate", empty, "--weeks", "1"],
                f"{empty}: no job has series of ranking-monitor in the last 7d",
            ),
            (["--weeks", "3"], "--weeks is for --calibrate; give both or neither"),
            (
                ["--calibrate", "http://no.such.invalid"],
                "cannot reach http://no.such.invalid: there is no such host",
            ),
        ):
            code, printed, errors = await command("rules", *arguments, "--output", str(output))
            assert (code, printed) == (2, "")
            (line,) = errors.splitlines()
            assert line.startswith(f"ranking-monitor: {message}")
            assert not output.exists()


async def test_the_file_of_the_values_is_not_overwritten(tmp_path: Path) -> None:
    values = tmp_path / "values.yaml"
    values.write_text("job: search  # ours\n")
    with answering(200, success([])) as address:
        code, _, errors = await command(
            "rules", "--calibrate", address, "--values", str(values), "--output", str(values)
        )
    assert code == 2
    assert "--output is the file of --values" in errors
    assert values.read_text() == "job: search  # ours\n"
