"""The whole way: a bad deploy in a simulated search becomes an alert at a webhook; a steady one does not."""

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import yaml

from tests.support.alertmanager import alertmanager, at_once, webhook
from tests.support.daemon import command
from tests.support.grafana import Choice, answer, filled_in, targets
from tests.support.kafka import Broker
from tests.support.prometheus import Prometheus, prometheus
from tests.support.waiting import wait_until
from tests.support.watched_search import VALUES, watched_search

pytestmark = [pytest.mark.kafka, pytest.mark.prometheus]
DEPLOY_SECONDS = 20.0
NOT_HERE = {"Clock skew", "How late the late ones are", "Impressions that are missing for a verdict"}
"""Panels without data: producers write the timestamps, nothing is late, and there is enough traffic."""


async def rules(folder: Path, job: str) -> Path:
    """The shipped rules for one job, in shortened time."""
    values, rendered = folder / f"{job}-values.yaml", folder / f"{job}-rules.yaml"
    values.write_text(yaml.safe_dump({**VALUES, "job": job}))
    code, _, errors = await command("rules", "--values", str(values), "--output", str(rendered))
    assert code == 0, errors
    return rendered


def every_panel_answers(server: Prometheus) -> None:
    """Ask every query of every dashboard for the bad search; comparisons with yesterday, seconds ago."""
    chosen: dict[str, Choice] = {"job": ["bad"], "maturity": ["10s"], "k": ["10"], "baseline": "control"}
    for target in targets():
        if target.panel["title"] in NOT_HERE:
            continue
        expression = re.sub(r"offset 1[dw]", "offset 3s", filled_in(target, chosen))
        server.wait_for(lambda: answer(server, target, expression), 30)  # noqa: B023 - asked at once


async def test_a_bad_deploy_arrives_at_a_webhook_with_its_variant_and_a_steady_search_stays_silent(
    kafka: Broker, tmp_path: Path
) -> None:
    async with AsyncExitStack() as running:
        bad = await running.enter_async_context(
            watched_search(kafka, tmp_path, "bad-deploy", DEPLOY_SECONDS, 150)
        )
        steady = await running.enter_async_context(watched_search(kafka, tmp_path, "steady", 0, 150))
        received, address = running.enter_context(webhook())
        manager = running.enter_context(alertmanager(tmp_path, at_once(address)))
        scraped = {"bad": [bad.url.removeprefix("http://")], "steady": [steady.url.removeprefix("http://")]}
        rendered = [await rules(tmp_path, job) for job in scraped]
        server = running.enter_context(prometheus(tmp_path, scraped, rules=rendered, alertmanager=manager))
        await wait_until(lambda: received.firing("VectorNDCGRegression"), 120, every=0.5)
        (alert, *_) = received.firing("VectorNDCGRegression")
        assert alert["labels"]["job"] == "bad"
        assert alert["labels"]["variant"] == "candidate"
        assert alert["annotations"]["runbook_url"].endswith("VectorNDCGRegression.md")
        await asyncio.to_thread(every_panel_answers, server)
        # The steady search is watched for as long, by the same rules, with as much traffic, and some more.
        judged = await bad.total("vector_ndcg_avg_count", k="10", maturity="10s")

        async def as_much_was_judged() -> bool:
            return await steady.total("vector_ndcg_avg_count", k="10", maturity="10s") > judged + 1000

        await wait_until(as_much_was_judged, 60, every=0.5)
        assert [a for a in received.alerts if a["labels"].get("job") == "steady"] == []
