"""A real Alertmanager that sends what it gets to a webhook of the test."""

import json
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support.ports import free_port
from tests.support.programs import program, running


class Webhook:
    """Keeps the notifications that were sent to it: groups of alerts, and the alerts."""

    def __init__(self) -> None:
        self.notifications: list[dict[str, Any]] = []

    @property
    def alerts(self) -> list[dict[str, Any]]:
        """The alerts of all notifications."""
        return [alert for notification in list(self.notifications) for alert in notification["alerts"]]

    def sent_to(self, receiver: str, **labels: str) -> list[dict[str, Any]]:
        """The notifications for a receiver whose group has those labels."""
        return [
            notification
            for notification in list(self.notifications)
            if notification["receiver"] == receiver and labels.items() <= notification["groupLabels"].items()
        ]

    def firing(self, name: str) -> list[dict[str, Any]]:
        """The alerts of this name that arrived as firing."""
        return [a for a in self.alerts if a["labels"]["alertname"] == name and a["status"] == "firing"]


@contextmanager
def webhook() -> Iterator[tuple[Webhook, str]]:
    """Listen on a free port; what arrives, and the address."""
    received = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.notifications.append(json.loads(body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature is http.server's
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield received, f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def at_once(receiver: str) -> dict[str, Any]:
    """Settings with which every alert is sent to a webhook at once."""
    route = {"receiver": "test", "group_by": ["..."], "group_wait": "0s", "group_interval": "1s"}
    return {"route": route, "receivers": [{"name": "test", "webhook_configs": [{"url": receiver}]}]}


def post(address: str, alerts: Sequence[Mapping[str, str]]) -> None:
    """Give Alertmanager alerts with these labels, as Prometheus does."""
    given = [{"labels": labels, "annotations": {"summary": labels["alertname"]}} for labels in alerts]
    httpx.post(f"http://{address}/api/v2/alerts", json=given).raise_for_status()


@contextmanager
def alertmanager(folder: Path, settings: Mapping[str, Any]) -> Iterator[str]:
    """Start Debian's Alertmanager with these settings; its address."""
    binary = program("prometheus-alertmanager", "prometheus-alertmanager")
    home = folder / "alertmanager"
    home.mkdir()
    (home / "alertmanager.yml").write_text(yaml.safe_dump(dict(settings)))
    address = f"127.0.0.1:{free_port()}"
    command = [
        binary,
        f"--config.file={home / 'alertmanager.yml'}",
        f"--storage.path={home / 'data'}",
        f"--web.listen-address={address}",
        "--cluster.listen-address=",
    ]
    with running(command, home / "alertmanager.log"):
        _wait_until_ready(f"http://{address}/-/ready", home / "alertmanager.log")
        yield address


def _wait_until_ready(url: str, log: Path) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            if httpx.get(url).status_code == 200:
                return
        except httpx.TransportError:
            pass
        if time.monotonic() > deadline:
            raise AssertionError(f"Alertmanager is not ready:\n{log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)
