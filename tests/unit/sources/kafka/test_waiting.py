"""One line when trouble begins, one every 30 seconds after, one when it is over."""

import logging

import pytest

from monitor.sources.kafka.waiting import Notices


def test_a_trouble_is_logged_once_in_thirty_seconds(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    now = 0.0
    notices = Notices(clock=lambda: now)
    for step in range(70):
        now = float(step)
        notices.say("broker", f"no broker at {step}")
        if step == 5:
            notices.say("topic", "no topic")
    notices.over("broker", "there it is")
    notices.over("broker", "there it is")
    assert [record.message for record in caplog.records] == [
        "no broker at 0",
        "no topic",
        "no broker at 30",
        "no broker at 60",
        "there it is",
    ]
