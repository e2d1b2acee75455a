"""The judgment table under load: ten times the judgments cost about ten times the time, not a hundred."""

import gc
import time
import tracemalloc

import numpy as np
import pytest

from monitor.config import build
from monitor.events import Impression
from monitor.stream import intake
from monitor.stream.judgments import JudgmentTable
from monitor.stream.plan import make_plan
from monitor.stream.score import score

FEW, MANY = 2_000, 20_000
STALL_SECONDS = 1.0

SHAPES = {
    "many assessors of one document": lambda i: (1, 1, i, 1000.0 + i / 100, float(i % 4)),
    "many documents of one query": lambda i: (1, i, 7, 1000.0 + i / 100, float(i % 4)),
    "many queries": lambda i: (i, 1, 7, 1000.0 + i / 100, float(i % 4)),
    "one judgment that is regraded": lambda i: (1, 1, 7, 1000.0 + i / 100, float(i % 4)),
    "one judgment that is regraded backwards": lambda i: (1, 1, 7, 9000.0 - i / 100, float(i % 4)),
    "one judgment that is given and withdrawn": lambda i: (1, 1, 7, 1000.0 + i, 1.0 if i % 2 else None),
    "assessors who judge and withdraw": lambda i: (1, 1, i // 2, 1000.0 + i, None if i % 2 else 1.0),
}


def hashed(judgment):
    """As the engine has them: hashes are all over the place."""
    query, key, assessor, *rest = judgment
    return (hash(f"q{query}"), hash(f"k{key}"), hash(f"a{assessor}"), *rest)


def seconds(work) -> float:
    """How long some work takes, undisturbed by the collector; the best of two."""
    taken = []
    for _ in range(2):
        gc.collect()
        gc.disable()
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
        gc.enable()
    return min(taken)


@pytest.mark.parametrize("shape", SHAPES)
def test_to_take_a_judgment_in_costs_the_same_however_many_there_are(shape):
    def apply(count):
        judgments = [hashed(SHAPES[shape](i)) for i in range(count)]

        def work():
            table = JudgmentTable("mean", 10_000_000)
            for judgment in judgments:
                table.apply(*judgment)

        return seconds(work)

    few, many = apply(FEW), apply(MANY)
    assert many < 4 * (MANY / FEW) * few + 0.05
    assert many < MANY * 100e-6


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("combine", ["mean", "median"])
def test_judgments_among_the_deadlines_of_their_own_query_do_not_hold_it_up(shape, combine):
    table = JudgmentTable(combine, 10_000_000)
    for i in range(MANY):
        table.apply(*hashed(SHAPES[shape](i)))
    # A batch of impressions of this query, a judgment or more between the deadlines of any two.
    queries = np.full(500, hash("q1"))
    deadlines = np.linspace(1100.0, 1400.0, 500)
    assert seconds(lambda: table.at_deadlines(queries, deadlines)) < STALL_SECONDS


def test_reading_after_each_change_costs_no_more_than_a_glance_at_every_judgment():
    table = JudgmentTable("mean", 10_000_000)
    for i in range(MANY):
        table.apply(*hashed((1, 1, i, 1000.0, 1.0)))

    def work():
        for i in range(20):
            table.apply(*hashed((1, 1, i, 1001.0 + time.process_time(), 2.0 + i % 2)))
            table.at(hash("q1"), 1e9)

    assert seconds(work) < 20 * 0.05


def test_impressions_of_a_query_with_very_many_judged_documents_are_scored_at_once():
    """The ideal order of each would have 100,000 grades: 4,000 of them side by side are 3 GB."""
    table = JudgmentTable("mean", 10_000_000)
    for i in range(100_000):
        table.apply(*hashed((1, i, 7, 1000.0, float(i % 4))))
    engine_plan = make_plan(build({"metrics": ["ndcg@10", "recall@10", "ap@100"]}))
    [stage] = [stage for stage in engine_plan.stages if stage.maturity == "1m"]
    events = [Impression(f"i{i}", "q1", 1000.0, [f"k{i}", f"k{i + 1}"]) for i in range(4000)]
    shown, _ = intake.impressions(events, intake.ids_of(events), [0] * 4000, keep_embeddings=False)
    tracemalloc.start()
    began = time.process_time()
    scored = score(stage, shown, table)
    taken = time.process_time() - began
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert scored.judged.all()
    assert taken < STALL_SECONDS
    assert peak < 200e6


def test_a_measure_without_a_cut_off_takes_them_in_parts():
    table = JudgmentTable("mean", 10_000_000)
    for i in range(100_000):
        table.apply(*hashed((1, i, 7, 1000.0, float(i % 4))))
    [stage] = [s for s in make_plan(build({"metrics": ["ndcg"]})).stages if s.maturity == "1m"]
    events = [Impression(f"i{i}", "q1", 1000.0, [f"k{i}"]) for i in range(100)]
    shown, _ = intake.impressions(events, intake.ids_of(events), [0] * 100, keep_embeddings=False)
    tracemalloc.start()
    scored = score(stage, shown, table)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert scored.judged.all()
    assert peak < 250e6
