"""What is said while records are read again after a restart."""

import logging

import pytest

from monitor.rereading import Rereading


@pytest.fixture
def said(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.INFO)
    return caplog


def test_it_says_how_much_how_far_and_about_how_long(said: pytest.LogCaptureFixture) -> None:
    rereading = Rereading()
    for left, now in ((0, 90.0), (412_000, 100.0), (400_000, 101.0), (312_000, 110.0), (212_000, 120.0)):
        rereading.look(left, now)
    rereading.look(0, 141.2)
    rereading.look(0, 142.0)
    assert said.messages == [
        "reading again 412,000 records that were counted before, without counting them",
        "reading again: 312,000 records left, about 31 s",
        "reading again: 212,000 records left, about 21 s",
        "read again 412,000 records in 41.2 s: counting goes on",
    ]


def test_a_task_that_is_taken_over_meanwhile_begins_it_anew(said: pytest.LogCaptureFixture) -> None:
    rereading = Rereading()
    rereading.look(100, 0.0)
    rereading.look(5_000, 1.0)
    assert said.messages[-1].startswith("reading again 5,000 records")


def test_without_any_progress_there_is_no_estimate(said: pytest.LogCaptureFixture) -> None:
    rereading = Rereading()
    rereading.look(100, 0.0)
    rereading.look(100, 60.0)
    assert said.messages[-1] == "reading again: 100 records left, none read yet"
