"""What the documents say is so: examples decode, names exist, links lead somewhere, timelines happen."""

import json
import math
import re
import shutil
import subprocess
import tomllib
from datetime import datetime
from pathlib import Path

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from monitor.config import Config
from monitor.events import Reason, Rejected, decode
from monitor.export.catalogue import Kind, families
from monitor.sources.jsonl import Line
from monitor.stream.books import FATES
from monitor.stream.engine import Engine
from monitor.stream.plan import make_plan
from monitor.stream.records import Chunk, Role, Start
from tests.support.documents import ROOT, blocks, documents, prose, text

PAGES = [str(path.relative_to(ROOT)) for path in documents()]
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
SELECTOR = re.compile(r"\b((?:vector|ranking_monitor)_[a-z0-9_]+)(?:\{([^}]*)\})?")
QUERIES = [(page, query) for page in PAGES for query in blocks(page, "promql")]
SERIES = {
    series: family
    for family in families(make_plan(Config()).columns, Config().labels).values()
    for series in (
        [f"{family.name}_{part}" for part in ("bucket", "sum", "count")]
        if family.kind is Kind.HISTOGRAM
        else [family.name]
    )
}


@pytest.mark.parametrize("line", "".join(blocks("docs/events.md", "json")).splitlines())
def test_an_example_of_an_event_is_one(line: str) -> None:
    event = decode(line.encode(), math.inf)
    assert not isinstance(event, Rejected)
    assert type(event).__name__.lower() == json.loads(line)["type"]


def test_every_reason_and_every_fate_is_explained() -> None:
    page = prose("docs/events.md")
    explained = set(re.findall(r"^\|[^|]*?`(\w+)`", page, re.MULTILINE))
    assert {reason.value for reason in Reason} <= explained
    fates = set(re.findall(r"^\| [^|]*\| `(\w+)` \|", page, re.MULTILINE))
    assert fates == {fate for fates in FATES.values() for fate in fates}


def test_every_dependency_has_its_line() -> None:
    project = tomllib.loads(text("pyproject.toml"))
    extras = project["project"]["optional-dependencies"]["eval"]
    wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"], *extras]
    words = set(re.findall(r"[\w-]+", text("docs/dependencies.md")))
    assert {re.split(r"[^\w-]", requirement)[0] for requirement in wanted} <= words


def test_the_sample_of_the_readme_names_what_is_exported() -> None:
    (sample,) = [block for block in blocks("README.md", "text") if block.startswith("vector_")]
    shown = [s for family in text_string_to_metric_families(sample) for s in family.samples]
    assert len(shown) == len(sample.splitlines())
    for one in shown:
        family = SERIES[one.name]
        assert set(one.labels) - {"le"} == set(family.labels), one


@pytest.mark.parametrize(("page", "query"), QUERIES)
def test_a_query_selects_one_k_and_one_maturity(page: str, query: str) -> None:
    selectors = SELECTOR.findall(query)
    assert selectors
    for name, matchers in selectors:
        assert name in SERIES, f"{page}: {name} is not exported"
        chosen = set(re.findall(r'(\w+)="', matchers))
        assert {"k", "maturity", "window"} & set(SERIES[name].labels) <= chosen | {"window"}, (
            f"{page}: {name}"
        )


@pytest.mark.prometheus
@pytest.mark.skipif(not shutil.which("promtool"), reason="no promtool: install prometheus")
def test_prometheus_understands_every_query(tmp_path: Path) -> None:
    rules = [{"record": f"query:{i}", "expr": query} for i, (_, query) in enumerate(QUERIES)]
    path = tmp_path / "rules.yaml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "documents", "rules": rules}]}))
    checked = subprocess.run(
        ["promtool", "check", "rules", path], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target, anchor in LINK.findall(prose(page)):
        there = (ROOT / page).parent / target if target else ROOT / page
        assert there.exists(), f"{page}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", there.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {_anchor(heading) for heading in headings}, f"{page}: {target}#{anchor}"


def _anchor(heading: str) -> str:
    """As GitHub makes it: letters, digits, hyphens and underscores, spaces as hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_timeline_of_the_watermark_happens_as_drawn() -> None:
    """Feeds the impressions of the drawing to the engine, and compares each line."""
    row = re.compile(r"^ +([a-e]) +(\S+) +\S+ +(\d\d:\d\d:\d\d) +(.+)$", re.MULTILINE)
    rows = row.findall(text("docs/semantics.md"))
    assert len(rows) == 5
    engine = Engine(Config(), {"events": Role.EVENTS})
    engine.assign({("events", 0): Start(0, "", fresh=True, from_beginning=True)}, now=2e9)
    held = late = 0
    for offset, (name, ts, watermark, happens) in enumerate(rows):
        event = {
            "type": "impression",
            "impression_id": name,
            "query_id": "q",
            "ts": _time(ts),
            "ranked": ["d"],
        }
        engine.ingest(Chunk("events", 0, [Line(json.dumps(event).encode(), offset)]), now=2e9)
        engine.advance(now=2e9)
        held += f"{name} is held" in happens
        late += '"late"' in happens
        snapshot = engine.snapshot()
        assert snapshot.watermarks[0] == _time(watermark)
        assert snapshot.open_impressions == held
        assert snapshot.fates["impression", "late"] == late
        observed = next(i for i, c in enumerate(snapshot.columns) if c.family == "vector_results")
        assert snapshot.cells.counts[0, observed] == (2 if name in "de" else 0)


def _time(clock: str) -> float:
    return datetime.fromisoformat(f"2026-01-31T{clock}Z").timestamp()
