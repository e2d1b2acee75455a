"""Turns of clients that ask again as soon as they have an answer, by a clock of our own."""

import heapq

import pytest

from monitor.web.app import ANSWERS_BURST, ANSWERS_PER_SECOND, LONGEST_TURN_SECONDS
from monitor.web.turns import Turns

BEGIN, SECONDS = 100.0, 60.0


def answers(clients: int) -> tuple[int, float]:
    """How many answers clients get within a minute, and the longest that one of them waited."""
    turns = Turns(per_second=ANSWERS_PER_SECOND, burst=ANSWERS_BURST, longest_seconds=LONGEST_TURN_SECONDS)
    asking, answered, longest = [BEGIN] * clients, 0, 0.0
    while asking[0] < BEGIN + SECONDS:
        now = heapq.heappop(asking)
        waited = turns.take(now)
        answered, longest = answered + 1, max(longest, waited)
        heapq.heappush(asking, now + waited)
    return answered, longest


def test_64_clients_get_20_answers_a_second_together():
    answered, _ = answers(64)
    assert 20 <= answered / SECONDS < 22


@pytest.mark.parametrize("clients", [1, 64, 256])
def test_nobody_waits_for_long_however_many_they_are(clients):
    _, longest = answers(clients)
    assert longest < 4.001
