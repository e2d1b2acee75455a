"""Publishing by cuts: what each scrape shows, and what is committed when."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from monitor.export.collector import ProcessStatus
from monitor.export.render import Exposition
from monitor.publish import Publisher
from monitor.stream.checkpoint import decode
from monitor.stream.records import Chunk, Start, TopicPartition
from tests.support.daemon import Series, series
from tests.support.waiting import wait_until
from tests.unit.stream.timeline import NOW, Timeline, click, impression, tick

SHOWN = "ranking_monitor_records_total"


class Group:
    """A source that owns its partitions and takes commits, or not."""

    def __init__(self) -> None:
        self.owns = True
        self.takes = True
        self.committed: dict[TopicPartition, tuple[int, str]] = {}
        self.commits = 0

    async def confirm(self) -> bool:
        return self.owns

    async def commit(self, offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:
        await asyncio.sleep(0)
        if self.takes:
            self.commits += 1
            self.committed.update(offsets)
        return self.takes


class Scene:
    """An engine, a group and what publishes."""

    def __init__(self, **settings: Any) -> None:
        self.line = Timeline(**settings)
        self.group = Group()
        source: Any = self.group
        self.now = 0.0
        self.step_seconds = 1.0
        """How much time passes whenever somebody looks at the clock."""
        self.publisher = Publisher(self.line.engine, source, lambda: ProcessStatus("1", "c"), self.clock)

    def clock(self) -> float:
        self.now += self.step_seconds
        return self.now

    async def scrape(self, *, arrives: bool = True) -> Series:
        scrape = await self.publisher.scrape("")
        if arrives:
            await self.publisher.acknowledge(scrape.version)
        return series(scrape.body.decode())

    async def records(self, *, arrives: bool = True) -> float:
        found = await self.scrape(arrives=arrives)
        return sum(value for (name, _), value in found.items() if name == SHOWN)

    def position(self, partition: int = 0) -> int | None:
        """P of a task, as it is committed."""
        stored = self.group.committed.get(("events", partition))
        return None if stored is None else decode(stored[1]).positions["events"]


async def test_the_first_scrape_is_all_zeros_and_the_next_shows_what_was_counted_before_it() -> None:
    scene = Scene()
    scene.line.bring(impression("i", 0), tick(1))
    assert await scene.records() == 0
    scene.line.bring(tick(2))
    assert await scene.records() == 2
    assert await scene.records() == 3
    assert await scene.records() == 3


async def test_nothing_is_rendered_or_packed_on_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def noting(work: Callable[..., Any]) -> Callable[..., Any]:
        def noted(*arguments: Any) -> Any:
            threads.append(threading.get_ident())
            return work(*arguments)

        return noted

    for name in ("counted", "render"):
        monkeypatch.setattr(Exposition, name, noting(getattr(Exposition, name)))
    publisher = Scene().publisher
    await publisher.scrape("", noting(bytes))
    await publisher.live("")
    await publisher.shown("")
    assert len(threads) > 5
    assert threading.get_ident() not in threads


async def test_what_a_scrape_has_shown_is_committed_and_nothing_more() -> None:
    scene = Scene()
    scene.line.bring(impression("i", 0), tick(1))
    await scene.scrape()
    assert scene.position() is None
    scene.line.bring(tick(2))
    await scene.scrape()
    assert scene.position() == 2
    await scene.scrape()
    assert scene.position() == 3


async def test_a_scrape_that_did_not_arrive_is_repeated_and_commits_nothing() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    for _ in range(3):
        scene.line.bring(tick(2))
        assert await scene.records(arrives=False) == 1
        assert scene.position() is None
    assert await scene.records() == 1
    assert scene.position() == 1
    # What had come before the cut was first shown is in the next one, what came later in the one after.
    assert await scene.records() == 2
    assert await scene.records() == 4


async def test_a_cut_is_not_shown_to_who_is_no_longer_there() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    scrape = await scene.publisher.scrape("", there=lambda: False)
    assert series(scrape.body.decode())[SHOWN, (("topic", "events"),)] == 0
    assert not scene.line.engine.cuts.is_shown
    assert await scene.records() == 1


async def test_while_a_commit_is_not_taken_the_same_is_shown_and_it_is_tried_again() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    scene.group.takes = False
    assert [await scene.records() for _ in range(3)] == [1, 1, 1]
    scene.group.takes = True
    assert await scene.records() == 1
    assert scene.position() == 1


async def test_a_series_is_shown_at_0_before_it_has_a_value() -> None:
    scene = Scene(labels=["variant"])
    seen: dict[Any, list[float]] = {}
    for at, variant in enumerate("abacbd"):
        scene.line.bring(impression(f"i{at}", at, labels={"variant": variant}), tick(at + 0.5))
        for key, value in (await scene.scrape()).items():
            if key[0] == "vector_results_count":
                seen.setdefault(key, []).append(value)
    await scene.scrape()
    assert len(seen) == 4
    assert all(values[0] == 0 for values in seen.values())
    assert max(values[-1] for values in seen.values()) > 0


async def test_a_label_set_that_comes_up_while_a_scrape_is_rendered_waits_for_the_next() -> None:
    scene = Scene(labels=["variant"])
    scene.line.bring(tick(0))
    rendering = asyncio.create_task(scene.scrape())
    await asyncio.sleep(0)
    scene.line.bring(impression("i", 1, labels={"variant": "new"}), tick(2))
    await rendering
    values = [(await scene.scrape()).get(("vector_results_count", (("variant", "new"),))) for _ in range(2)]
    assert values == [0, 1]


async def test_who_no_longer_owns_its_tasks_shows_nothing_new() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    scene.group.owns = False
    assert await scene.records() == 0
    assert scene.position() is None
    scene.group.owns = True
    assert await scene.records() == 1


async def test_a_task_that_is_lost_takes_along_what_no_scrape_has_shown() -> None:
    scene = Scene(partitions=2)
    scene.line.bring(tick(1))
    scene.line.bring(tick(1), tick(2), partition=1)
    await scene.scrape()  # all three are the next cut
    scene.line.engine.assign({("events", 0): Start(1, "", False, False, kept=True)}, NOW)
    assert await scene.records() == 1
    assert set(scene.group.committed) == {("events", 0)}


async def test_a_task_that_is_lost_while_the_group_is_asked_is_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(partitions=2)
    scene.line.bring(tick(1))
    scene.line.bring(tick(1), tick(2), partition=1)
    await scene.scrape()  # all three are the next cut
    asked = 0

    async def confirm() -> bool:
        nonlocal asked
        asked += 1
        if asked == 1:
            scene.line.engine.assign({("events", 0): Start(1, "", False, False, kept=True)}, NOW)
        return True

    monkeypatch.setattr(scene.group, "confirm", confirm)
    assert await scene.records() == 1
    assert asked == 2
    assert set(scene.group.committed) == {("events", 0)}


async def test_what_a_scrape_may_have_shown_of_a_lost_task_stays_and_is_not_counted_again() -> None:
    scene = Scene()
    scene.line.bring(impression("i", 0), click("i", 1))
    log = list(scene.line.log)
    await scene.scrape()
    assert await scene.records(arrives=False) == 2
    engine = scene.line.engine
    engine.assign({}, NOW)
    assert await scene.records() == 2
    assert not scene.group.committed
    engine.assign({("events", 0): Start(0, "", False, False)}, NOW)
    for topic, partition, record in log:
        engine.ingest(Chunk(topic, partition, [record]), NOW)
    scene.line.bring(tick(500))
    await scene.scrape()
    found = await scene.scrape()
    assert found[SHOWN, (("topic", "events"),)] == 3
    assert found["ranking_monitor_events_total", (("fate", "settled"), ("type", "impression"))] == 1
    assert found["ranking_monitor_events_total", (("fate", "joined"), ("type", "click"))] == 1


async def test_two_scrapes_at_once_show_the_same_and_confirm_it_once() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    one, other = await asyncio.gather(scene.publisher.scrape(""), scene.publisher.scrape(""))
    assert one.version == other.version
    await asyncio.gather(*(scene.publisher.acknowledge(scrape.version) for scrape in (one, other)))
    scene.line.bring(tick(2))
    assert [await scene.records(), await scene.records()] == [1, 2]


async def test_other_clients_see_all_at_once_and_acknowledge_nothing() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    body, _ = await scene.publisher.live("")
    assert series(body.decode())[SHOWN, (("topic", "events"),)] == 1
    assert await scene.records() == 0


async def test_a_cut_is_rendered_once_however_often_it_is_scraped(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene()
    rendered = []
    counted = scene.publisher._exposition.counted
    monkeypatch.setattr(scene.publisher._exposition, "counted", lambda *a: rendered.append(a) or counted(*a))
    for _ in range(3):
        await scene.scrape(arrives=False)
    assert len(rendered) == 1
    await scene.scrape()
    await scene.scrape()
    assert len(rendered) == 2


async def test_openmetrics_has_one_end() -> None:
    scene = Scene()
    body = (await scene.publisher.scrape("application/openmetrics-text;version=1.0.0")).body
    assert body.count(b"# EOF") == 1
    assert body.endswith(b"# EOF\n")


async def test_a_prometheus_that_does_not_count_sees_what_was_shown_and_nothing_go_down() -> None:
    scene = Scene(partitions=2)

    async def records() -> float:
        body, _ = await scene.publisher.shown("")
        return series(body.decode())[SHOWN, (("topic", "events"),)]

    scene.line.bring(tick(1), tick(2), partition=1)
    await scene.scrape()
    assert await records() == 0
    await scene.scrape()
    scene.line.bring(tick(3), tick(4), partition=1)
    assert await records() == 2
    scene.line.engine.assign({("events", 0): Start(0, "", False, False, kept=True)}, NOW)
    assert await records() == 2


async def test_at_the_end_a_scrape_on_its_way_is_waited_for_and_nothing_new_is_shown() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    scrape = await scene.publisher.scrape("")
    scene.line.bring(tick(2))
    ending = asyncio.create_task(scene.publisher.finish())
    await asyncio.sleep(0.05)
    assert not ending.done()
    await scene.publisher.acknowledge(scrape.version)
    await ending
    assert scene.position() == 1
    assert await scene.records() == 1
    assert scene.position() == 1


async def test_headers_of_all_sorts_keep_one_rendering_of_each_format() -> None:
    scene = Scene()
    for number in range(20):
        await scene.publisher.scrape(f"text/plain;q=0.{number}")
    assert len(scene.publisher._rendered) == 1


async def test_what_was_shown_never_goes_back_to_a_rendering_from_before_the_cut() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    scene.group.owns = False
    assert await scene.records() == 0  # rendered without the cut
    scene.group.owns = True
    assert await scene.records(arrives=False) == 1
    body, _ = await scene.publisher.shown("")
    assert series(body.decode())[SHOWN, (("topic", "events"),)] == 1


async def test_at_most_two_commits_a_second_however_fast_it_is_scraped() -> None:
    scene = Scene()
    await scene.scrape()
    scene.step_seconds, began, seen = 0.0, scene.now, []
    for _ in range(40):  # 20 a second, for two seconds
        scene.now += 0.05
        scene.line.bring(tick(scene.now))
        seen.append(await scene.records())
    assert scene.group.commits <= 2 * (scene.now - began)
    assert seen == sorted(seen)
    assert seen[-1] > 0
    # Nothing is lost by it: all that was shown is committed, and the next scrape has more.
    assert scene.position() == seen[-1]
    scene.now += 1
    assert await scene.records() > seen[-1]


async def test_a_commit_that_kafka_does_not_take_is_not_tried_more_than_twice_a_second() -> None:
    scene = Scene()
    scene.line.bring(tick(1))
    await scene.scrape()
    scene.group.takes, scene.step_seconds, tried = False, 0.0, 0
    commit = scene.group.commit

    async def counting(offsets: Mapping[TopicPartition, tuple[int, str]]) -> bool:
        nonlocal tried
        tried += 1
        return await commit(offsets)

    scene.group.commit = counting  # type: ignore[method-assign]
    scene.now += 1
    for _ in range(17):  # 16 a second, from one second to the next
        assert await scene.records() == 1
        scene.now += 1 / 16
    assert tried == 3
    scene.group.takes = True
    scene.now += 1
    assert await scene.records() == 1
    assert scene.position() == 1


async def test_what_others_see_is_rendered_once_a_second_however_many_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("monitor.shared.SHARED_SECONDS", 0.2)
    publisher, rendered = Scene().publisher, []
    render = publisher._exposition.render
    monkeypatch.setattr(publisher._exposition, "render", lambda *a: rendered.append(a) or render(*a))
    bodies = await asyncio.gather(*(publisher.live("") for _ in range(64)))
    assert len(rendered) == 1
    assert len({id(body) for body, _ in bodies}) == 1
    await asyncio.gather(*(publisher.shown("") for _ in range(64)))
    assert len(rendered) == 2
    await wait_until(lambda: not publisher._shared._results, 5)
    await publisher.live("")
    assert len(rendered) == 3
