"""The routing example in a real Alertmanager: one bad deploy is one page, whatever fires with it."""

import subprocess
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from tests.support.alertmanager import Webhook, alertmanager, post, webhook
from tests.support.documents import ROOT, text
from tests.support.programs import program
from tests.support.waiting import wait_until

pytestmark = pytest.mark.prometheus
SHIPPED = "deploy/alertmanager/alertmanager.yml"
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
SPEED = 30
"""How many times as fast the waits of the example pass."""
DEPLOY = [
    {"alertname": f"Vector{metric}Regression", "k": "10", "severity": severity, **whose}
    for (metric, severity), whose in product(
        (("NDCG", "critical"), ("MRR", "critical"), ("CTR", "warning")),
        (
            {"against": "history"},
            {"against": "history", "variant": "candidate"},
            {"against": "history", "variant": "control"},
            {"against": "baseline", "variant": "candidate"},
        ),
    )
]
"""The alerts of one bad deploy."""


class Routing(NamedTuple):
    """A running Alertmanager, and what it sends."""

    address: str
    sent: Webhook

    def post(self, job: str, *alerts: dict[str, str]) -> None:
        """Alerts of a job."""
        post(self.address, [{**alert, "job": job} for alert in alerts])

    def pages(self, job: str) -> list[dict[str, Any]]:
        return self.sent.sent_to("pager", job=job)

    def tickets(self, job: str) -> list[dict[str, Any]]:
        return self.sent.sent_to("tickets", job=job)

    async def everything_before_was_sent(self) -> None:
        """Give other jobs a page and a ticket: they come after those of all alerts before them."""
        self.post("later-critical", DEPLOY[0])
        self.post("later-warning", DEPLOY[-1])
        await wait_until(lambda: self.pages("later-critical") and self.tickets("later-warning"), 60)


def quick(settings: Any) -> Any:
    """The same settings with shorter waits."""
    if isinstance(settings, list):
        return [quick(each) for each in settings]
    if not isinstance(settings, dict):
        return settings
    return {
        key: f"{max(1, int(value[:-1]) * SECONDS[value[-1]] // SPEED)}s"
        if key.endswith(("_wait", "_interval"))
        else quick(value)
        for key, value in settings.items()
    }


@pytest.fixture
def routing(tmp_path: Path) -> Iterator[Routing]:
    """The example, with webhooks for receivers."""
    settings = yaml.safe_load(text(SHIPPED))
    with webhook() as (sent, url):
        receivers = [
            {"name": one["name"], "webhook_configs": [{"url": url, "send_resolved": False}]}
            for one in settings["receivers"]
        ]
        route = quick(settings["route"])
        with alertmanager(tmp_path, {**settings, "route": route, "receivers": receivers}) as address:
            yield Routing(address, sent)


@pytest.mark.parametrize("name", [SHIPPED, "deploy/compose/alertmanager.yml"])
def test_amtool_accepts_the_file(name: str) -> None:
    amtool = program("amtool", "prometheus-alertmanager")
    checked = subprocess.run(
        [amtool, "check-config", ROOT / name], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


async def test_twelve_alerts_of_one_bad_deploy_are_one_page_and_no_ticket(routing: Routing) -> None:
    assert len(DEPLOY) == 12
    routing.post("search", *DEPLOY)
    await routing.everything_before_was_sent()
    (page,) = routing.pages("search")
    assert routing.tickets("search") == []
    critical = [alert for alert in DEPLOY if alert["severity"] == "critical"]
    assert len(page["alerts"]) == len(critical)
    # What is found later belongs to the same page.
    routing.post(
        "search", {"alertname": "VectorAbandonmentRise", "against": "history", "severity": "critical"}
    )
    await wait_until(lambda: len(routing.pages("search")) == 2, 60)
    later = routing.pages("search")[1]
    assert later["groupKey"] == page["groupKey"]
    assert len(later["alerts"]) == len(critical) + 1


async def test_jobs_are_paged_apart(routing: Routing) -> None:
    routing.post("search", *DEPLOY)
    routing.post("shop", *DEPLOY)
    await routing.everything_before_was_sent()
    assert [len(routing.pages(job)) for job in ("search", "shop")] == [1, 1]


async def test_warnings_alone_are_one_ticket_and_no_page(routing: Routing) -> None:
    routing.post("search", *({**alert, "severity": "warning"} for alert in DEPLOY))
    await routing.everything_before_was_sent()
    (ticket,) = routing.tickets("search")
    assert len(ticket["alerts"]) == len(DEPLOY)
    assert routing.pages("search") == []


async def test_a_monitor_that_does_not_work_inhibits_the_alerts_on_quality_of_its_job(
    routing: Routing,
) -> None:
    broken = ("RankingMonitorDown", "RankingMonitorNoEvents", "RankingMonitorWatermarkStuck")
    for name in broken:
        routing.post(f"job-of-{name}", {"alertname": name, "severity": "critical"})
        warnings = [{**alert, "severity": "warning"} for alert in DEPLOY]
        routing.post(f"job-of-{name}", *DEPLOY, *warnings)
    routing.post("job-that-lags", {"alertname": "RankingMonitorLagGrowing", "severity": "warning"}, *DEPLOY)
    await routing.everything_before_was_sent()
    for name in broken:
        (page,) = routing.pages(f"job-of-{name}")
        assert [alert["labels"]["alertname"] for alert in page["alerts"]] == [name]
        assert routing.tickets(f"job-of-{name}") == []
    assert len(routing.pages("job-that-lags")) == len(routing.tickets("job-that-lags")) == 1
