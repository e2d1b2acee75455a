"""Valid input, from which the mutations start."""

import json
from pathlib import Path

from monitor.stream.checkpoint import Checkpoint, Delays, encode

EVENTS = tuple(
    json.dumps(event).encode()
    for event in (
        {
            "type": "impression",
            "impression_id": "i1",
            "query_id": "q1",
            "ts": 1767225000.5,
            "ranked": ["d1", {"key": "d2", "score": 0.5}],
            "labels": {"variant": "control", "other": None},
            "session_id": "s",
            "latency_seconds": 0.25,
            "embeddings": [[1.0, 0.0], [0.5, 2]],
        },
        {"type": "impression", "impression_id": "i2", "query_id": "q2", "ts": 1767225001, "ranked": []},
        {
            "type": "click",
            "impression_id": "i1",
            "ts": "2026-01-01T00:00:00Z",
            "key": "d1",
            "dwell_seconds": 3,
        },
        {"type": "click", "impression_id": "i1", "ts": 1767225000000, "position": 2},
        {"type": "dwell", "impression_id": "i1", "ts": 1767225000.0, "dwell_seconds": 12.5, "position": 1},
        {"type": "outcome", "impression_id": "i1", "ts": 1767225000.0, "outcome": "successful"},
        {
            "type": "judgment",
            "query_id": "q1",
            "key": "d1",
            "ts": 1767225000.0,
            "grade": 2,
            "assessor": "a",
            "target": "t",
        },
        {"type": "judgment", "query_id": "q1", "key": "d1", "ts": 1767225000.0, "grade": None},
        ["q1", "d1", "a"],
    )
)
IMPRESSION = b'{"type": "impression", "impression_id": "i", "query_id": "q", "ts": %f, "ranked": ["d"]}'
CLICK = b'{"type": "click", "impression_id": "i", "ts": %f, "key": "d"}'
METADATA = tuple(
    encode(each).encode()
    for each in (
        Checkpoint(positions={"shown": 12, "clicks": 7}, watermark=1767225000.0, sequence=3),
        Checkpoint(
            positions={"shown": 2**40, "clicks": 0},
            watermark=1767225000.5,
            sequence=77,
            delays=Delays(300, (60, 3600)),
            apart={"clicks": 1767220000.0, "settled": None, "60": 1767224000.0},
            late={"shown": [3, 4, 5]},
        ),
        Checkpoint(positions={}),
    )
)
CONFIGS = (
    *(
        path.read_bytes()
        for path in sorted((Path(__file__).parents[1] / "unit" / "configs").iterdir())
        if path.stem != "two-problems"
    ),
    b"windows: &sizes [60.0, 300.0]\njudgments: {maturities: *sizes, combine: median, unjudged: condensed}\n",
    b"kafka: {topics: {impressions: [a], interactions: [b], judgments: [c]}, start: 2026-01-01T00:00:00Z}\n",
    b"limits: {open: 10, pending: 10, judgments: 10}\nlog: {level: debug, format: json}\nlabels: [a, b, c]\n",
)
FILES = (
    b"q1 Q0 d3 1 1.7 tag\nq1 Q0 d1 2 0.2 tag\nq3 Q0 d1 1 1 tag\n",
    b"q1 0 d3 2\nq1 0 d1 0\n\nq2 0 d1 1\n",
    b'{"q1": ["d3", "d1"], "q2": {"d9": 2, "d1": 1}}',
    b'{"q1": {"d3": 2, "d1": 0.5}, "q2": {"d1": null}}',
    b'[{"query_id": "q1", "key": "d3", "grade": 2, "assessor": "a", "target": "t", "ts": 1}]',
    b'[{"query": "a", "retrieved_passages": ["x", {"text": "y"}]}]',
    b'{"tests": [{"query": "a", "snippets": [{"answer": "x"}, {"span": "y", "file_path": "z"}]}]}',
    b"\n".join(EVENTS),
    b'{"query_id": "q1", "key": "d3", "grade": 2}\n{"query_id": "q1", "key": "d1", "grade": null}\n',
)
QUERIES = (
    b"metric=ndcg&k=10&window=1m&maturity=1m&variant=control&limit=5",
    b"window=5m",
    b"limit=10000&variant=",
    b"",
    b"metric=ctr&k=1&variant=%C3%A4%00%ff",
)
