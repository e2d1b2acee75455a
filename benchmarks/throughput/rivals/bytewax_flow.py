"""Bytewax: one worker, batches of a thousand, and its stateful operator with the join in dicts.

Its windowing operators keep event time for each key alone, and the key of an impression never comes again: a
window would close by the clock or at the end of all. So it is kept for each partition here, as in the rest.
"""

from typing import Any

import orjson
from bytewax import operators as op
from bytewax.connectors.kafka import KafkaSource, KafkaSourceMessage
from bytewax.dataflow import Dataflow
from bytewax.operators import StatefulBatchLogic
from bytewax.testing import TestingSink, run_main

from benchmarks.throughput.rivals.job import Job, Stopwatch, read_job
from benchmarks.throughput.rivals.join import Join
from benchmarks.throughput.rivals.judged import read_judgments
from benchmarks.throughput.rivals.quality import Quality

BATCH = 1000
"""What the connector's documentation takes for throughput."""


class Partition(StatefulBatchLogic[Any, None, None]):  # type: ignore[misc] # is not in the development lock
    """The join of one partition number."""

    def __init__(self, job: Job, watch: Stopwatch, quality: Quality, read: list[int]) -> None:
        self._topics = [job.topics["impressions"], job.topics["interactions"]]
        self._join = Join(quality, self._topics)
        self._job, self._watch, self._quality, self._read = job, watch, quality, read

    def on_batch(self, values: list[KafkaSourceMessage[Any, Any]]) -> tuple[list[None], bool]:
        self._watch.start()
        newest = dict.fromkeys(self._topics, 0.0)
        for message in values:
            event = orjson.loads(message.value)
            assert message.topic is not None
            newest[message.topic] = event["ts"]
            if event["type"] == "impression":
                self._join.impression(
                    event["impression_id"],
                    event["ts"],
                    event["query_id"],
                    event["ranked"],
                    event.get("labels") or {},
                )
            elif event["type"] == "click":
                self._join.click(event["impression_id"], event["position"])
        for topic, ts in newest.items():
            self._join.advance(topic, ts)
        self._read[0] += len(values)
        if self._read[0] == self._job.events_total:
            self._watch.finish(self._read[0], self._quality.result())
        return [], StatefulBatchLogic.RETAIN

    def snapshot(self) -> None:
        """Nothing: recovery is off, as it is by default."""


def main() -> None:
    job, watch, quality = read_job(), Stopwatch(), Quality()
    read_judgments(job, quality)
    read = [0]
    topics = [job.topics["impressions"], job.topics["interactions"]]
    source = KafkaSource(
        [job.bootstrap_servers],
        topics,
        tail=False,
        batch_size=BATCH,
        add_config={"check.crcs": "true"},
    )
    flow = Dataflow("quality")
    messages = op.input("kafka", flow, source)
    keyed = op.key_on("partition", messages, lambda message: str(message.partition))
    decided = op.stateful_batch("join", keyed, lambda _: Partition(job, watch, quality, read))
    op.output("nowhere", decided, TestingSink([]))
    run_main(flow)


if __name__ == "__main__":
    main()
