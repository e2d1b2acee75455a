"""Logging: lines for people or JSON, ours at the configured level and others only when something is wrong."""

import json
import logging

import pytest

from monitor.config import LogConfig
from monitor.logs import JsonFormatter, set_up

LOG = logging.getLogger("monitor.somewhere")


@pytest.fixture
def stderr(capsys):
    """Reads what was written to standard error; the loggers are put back as they were."""
    root, ours = logging.getLogger(), logging.getLogger("monitor")
    before = root.handlers[:], root.level, ours.level
    root.handlers[:] = []

    def written():
        for handler in root.handlers:
            handler.flush()
        return capsys.readouterr().err

    yield written
    for handler in root.handlers:
        handler.close()
    root.handlers[:], level, ours_level = before
    root.setLevel(level)
    ours.setLevel(ours_level)


def test_text_is_one_line_with_time_level_and_name(stderr):
    set_up(LogConfig())
    LOG.info("listening on %s", "here")
    assert stderr().endswith(" INFO    monitor.somewhere: listening on here\n")


def test_json_is_one_object_a_line(stderr):
    set_up(LogConfig(format="json"))
    LOG.warning('a "quoted"\nword')
    (line,) = stderr().splitlines()
    found = json.loads(line)
    assert found.pop("time").endswith("+00:00")
    assert found == {"level": "warning", "logger": "monitor.somewhere", "message": 'a "quoted"\nword'}


def test_an_exception_is_in_the_json_object_too(stderr):
    set_up(LogConfig(format="json"))
    try:
        int("what happened")
    except ValueError:
        LOG.exception("failed")
    (line,) = stderr().splitlines()
    assert json.loads(line)["exception"].endswith("'what happened'")


def test_the_time_of_a_message_is_in_utc():
    record = logging.LogRecord("monitor", logging.INFO, "", 0, "hello", None, None)
    record.created = 1_767_225_600.25
    assert json.loads(JsonFormatter().format(record))["time"] == "2026-01-01T00:00:00.250+00:00"


@pytest.mark.parametrize(
    ("level", "shown"), [("debug", "DIWE"), ("info", "IWE"), ("warning", "WE"), ("error", "E")]
)
def test_our_messages_are_shown_from_the_configured_level_on(stderr, level, shown):
    set_up(LogConfig(level=level))
    for say, letter in ((LOG.debug, "D"), (LOG.info, "I"), (LOG.warning, "W"), (LOG.error, "E")):
        say(letter)
    assert "".join(line[-1] for line in stderr().splitlines()) == shown


def test_libraries_speak_up_only_when_something_is_wrong(stderr):
    set_up(LogConfig(level="debug"))
    library = logging.getLogger("somebody.else")
    library.info("hello")
    library.warning("help")
    written = stderr()
    assert written.count("\n") == 1
    assert "help" in written


def test_setting_up_again_replaces_what_was_set_up_before(stderr):
    set_up(LogConfig())
    set_up(LogConfig())
    LOG.info("once")
    assert stderr().count("once") == 1
