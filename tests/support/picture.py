"""The picture of the drop in the README: `python -m tests.support.picture docs/images/drop.svg`.

Runs the simulator's bad deploy through Kafka, the daemon and Prometheus, and draws what Prometheus answers.
"""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import yaml

from tests.support.daemon import command
from tests.support.kafka import own_broker
from tests.support.prometheus import Prometheus, prometheus
from tests.support.watched_search import VALUES, watched_search

SECONDS, DEPLOY_AFTER = 80.0, 40.0
WIDTH, HEIGHT, LEFT, TOP = 860, 300, 46, 34
MEAN = (
    'sum by (variant) (rate(vector_ndcg_avg_sum{k="10",maturity="10s"}[5s]))'
    ' / sum by (variant) (rate(vector_ndcg_avg_count{k="10",maturity="10s"}[5s]))'
)
COLOURS = {"control": "#2f6fde", "candidate": "#d1432f"}
Points = list[tuple[float, float]]


async def record(folder: Path) -> tuple[dict[str, Points], Points]:
    """What Prometheus says of NDCG for each variant, and when the alert fired, in seconds from the start."""
    with own_broker(folder) as kafka:
        async with watched_search(kafka, folder, "bad-deploy", DEPLOY_AFTER, SECONDS + 30) as daemon:
            values, rules = folder / "values.yaml", folder / "rules.yaml"
            values.write_text(yaml.safe_dump(VALUES))
            await command("rules", "--values", str(values), "--output", str(rules))
            targets = {"ranking-monitor": [daemon.url.removeprefix("http://")]}
            with prometheus(folder, targets, rules=[rules]) as server:
                start = time.time()
                await asyncio.sleep(SECONDS)
                means = {
                    name: _points(
                        server, f"{MEAN} and on (variant) vector_ndcg_avg_count{{variant='{name}'}}", start
                    )
                    for name in COLOURS
                }
                alert = 'ALERTS{alertname="VectorNDCGRegression",alertstate="firing",against="baseline"}'
                return means, _points(server, alert, start)


def _points(server: Prometheus, expression: str, start: float) -> Points:
    found = server.query_range(expression, start, start + SECONDS, 1)
    return [
        (at - start, float(value)) for series in found[:1] for at, value in series["values"] if value != "NaN"
    ]


def draw(means: dict[str, Points], firing: Points) -> str:
    """An SVG with a line for each variant and a band while the alert fires."""

    def x(seconds: float) -> float:
        return LEFT + seconds / SECONDS * (WIDTH - LEFT - 110)

    def y(value: float) -> float:
        return TOP + (1 - value) * (HEIGHT - TOP - 40)

    title = "NDCG@10 by variant, as Prometheus answered; simulated search, ten times the speed of time"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{title}</text>',
    ]
    for value in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        at = y(value)
        parts.append(f'<line x1="{LEFT}" x2="{x(SECONDS)}" y1="{at}" y2="{at}" stroke="#e3e6ea"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{at + 4}" text-anchor="end" fill="#667">{value:.1f}</text>')
    parts += [
        f'<text x="{x(second)}" y="{HEIGHT - 18}" text-anchor="middle" fill="#667">{second} s</text>'
        for second in range(0, int(SECONDS) + 1, 20)
    ]
    if firing:
        first, last = x(firing[0][0]), x(firing[-1][0])
        band = f'x="{first:.1f}" y="{TOP}" width="{last - first:.1f}" height="{y(0) - TOP}"'
        parts.append(f'<rect {band} fill="#d1432f" opacity="0.12"/>')
        parts.append(
            f'<text x="{first + 6:.1f}" y="{TOP + 14}" fill="#a02a1a">VectorNDCGRegression fires</text>'
        )
    for name, points in means.items():
        line = " ".join(f"{x(at):.1f},{y(value):.1f}" for at, value in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{COLOURS[name]}" stroke-width="2"/>')
        parts.append(
            f'<text x="{x(SECONDS) + 6}" y="{y(points[-1][1]) + 4:.1f}" fill="{COLOURS[name]}">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


def main(path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        means, firing = asyncio.run(record(Path(folder)))
    path.write_text(draw(means, firing), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
