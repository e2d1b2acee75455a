"""Durations in words, as they stand in labels."""

import pytest

from monitor.durations import in_words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0s"),
        (0.25, "0.25s"),
        (1, "1s"),
        (59, "59s"),
        (60.0, "1m"),
        (61, "61s"),
        (90, "90s"),
        (300, "5m"),
        (3600, "1h"),
        (5400, "90m"),
        (86400, "1d"),
        (90000, "25h"),
        (604800, "7d"),
    ],
)
def test_a_duration_has_the_shortest_exact_form(seconds, words):
    assert in_words(seconds) == words
