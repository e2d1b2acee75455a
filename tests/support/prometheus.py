"""A real Prometheus: scrapes what it is told, evaluates rules, and answers queries."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import yaml

from tests.support.ports import free_port
from tests.support.programs import program, running


class Prometheus:
    """A running server, asked over its HTTP API."""

    def __init__(self, url: str, log: Path) -> None:
        self.url = url
        self.log = log
        self._client = httpx.Client(base_url=url, timeout=30)

    def close(self) -> None:
        self._client.close()

    def ready(self) -> bool:
        try:
            return self._client.get("/-/ready").status_code == 200
        except httpx.TransportError:
            return False

    def get(self, path: str, **parameters: Any) -> Any:
        """What the API answers; a refusal fails the test in Prometheus's own words."""
        answer = self._client.get(f"/api/v1/{path}", params=parameters).json()
        assert answer["status"] == "success", f"{answer['error']}: {parameters}"
        return answer["data"]

    def query(self, expression: str, at: float | None = None) -> list[dict[str, Any]]:
        """The series of an instant query: each a `metric` and a `value`, which is [time, text]."""
        moment = {} if at is None else {"time": at}
        data = self.get("query", query=expression, **moment)
        assert data["resultType"] == "vector", f"not a vector: {expression}"
        series: list[dict[str, Any]] = data["result"]
        return series

    def query_range(self, expression: str, start: float, end: float, step: float) -> list[dict[str, Any]]:
        """The series of a range query: each a `metric` and `values`."""
        series: list[dict[str, Any]] = self.get(
            "query_range", query=expression, start=start, end=end, step=step
        )["result"]
        return series

    def value(self, expression: str, at: float | None = None) -> float:
        """The value of a query that has exactly one."""
        series = self.query(expression, at)
        assert len(series) == 1, f"{len(series)} series, not one: {expression}"
        return float(series[0]["value"][1])

    def label_values(self, label: str, selector: str) -> list[str]:
        values: list[str] = self.get(f"label/{label}/values", **{"match[]": selector})
        return values

    def alerts(self) -> list[dict[str, Any]]:
        """What is pending or firing."""
        active: list[dict[str, Any]] = self.get("alerts")["alerts"]
        return active

    def wait_for(self, condition: Callable[[], Any], seconds: float = 30.0, *, every: float = 0.2) -> Any:
        """Wait for something true and return it; a failure shows the end of the server's log."""
        deadline = time.monotonic() + seconds
        while not (found := condition()):
            if time.monotonic() > deadline:
                end = self.log.read_text(errors="replace")[-2000:]
                raise AssertionError(f"not true within {seconds:g} s: {condition}; Prometheus said:\n{end}")
            time.sleep(every)
        return found


@contextmanager
def prometheus(
    folder: Path,
    targets: Mapping[str, Sequence[str]],
    *,
    every: str = "1s",
    rules: Sequence[Path] = (),
    alertmanager: str = "",
    token_file: Path | None = None,
) -> Iterator[Prometheus]:
    """Start Debian's Prometheus on a free port; its settings, data and log lie in the folder.

    `targets` are addresses (host:port) by job, scraped as often as rules are evaluated. `alertmanager` is an
    address too. `token_file` has what it sends as a bearer token. In the folder of an earlier one it goes on
    with its data. Without the program the test is skipped.
    """
    binary = program("prometheus", "prometheus")
    home = folder / "prometheus"
    home.mkdir(exist_ok=True)
    (home / "prometheus.yml").write_text(_settings(targets, every, rules, alertmanager, token_file))
    address = f"127.0.0.1:{free_port()}"
    command = [
        binary,
        f"--config.file={home / 'prometheus.yml'}",
        f"--storage.tsdb.path={home / 'data'}",
        f"--web.listen-address={address}",
        "--log.level=warn",
    ]
    log = home / "prometheus.log"
    with running(command, log):
        server = Prometheus(f"http://{address}", log)
        try:
            server.wait_for(server.ready)
            yield server
        finally:
            server.close()


def _settings(
    targets: Mapping[str, Sequence[str]],
    every: str,
    rules: Sequence[Path],
    alertmanager: str,
    token_file: Path | None,
) -> str:
    authorization = {"authorization": {"credentials_file": str(token_file)}} if token_file else {}
    settings: dict[str, Any] = {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
        "rule_files": [str(path.resolve()) for path in rules],
        "scrape_configs": [
            {"job_name": job, "static_configs": [{"targets": list(addresses)}], **authorization}
            for job, addresses in targets.items()
        ],
    }
    if alertmanager:
        settings["alerting"] = {"alertmanagers": [{"static_configs": [{"targets": [alertmanager]}]}]}
    return yaml.safe_dump(settings)
