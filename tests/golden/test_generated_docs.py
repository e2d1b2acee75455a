"""The generated pages of the documentation are what the code says today; `make docs` writes them."""

from pathlib import Path

import pytest
import yaml

from monitor.config import Config
from monitor.metrics import METRICS
from monitor.reference import configuration_page, main, metrics_page

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"metrics.md": metrics_page, "configuration.md": configuration_page}


@pytest.mark.parametrize(("name", "page"), PAGES.items(), ids=PAGES)
def test_the_page_in_the_repository_is_the_one_that_would_be_generated(name, page):
    assert (DOCS / name).read_text(encoding="utf-8") == page(), "run `make docs`"


def test_generating_writes_every_page(tmp_path):
    main(tmp_path)
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {
        name: page() for name, page in PAGES.items()
    }


def test_every_metric_has_its_line_and_its_definition():
    page = metrics_page()
    for metric in METRICS.values():
        assert f"\n### {metric.name}\n" in page
        assert f"\n| `{metric.name}{'@k' if metric.takes_k else ''}` | " in page


def test_the_defaults_as_a_file_are_the_defaults():
    text = configuration_page().partition("```yaml\n")[2].partition("```")[0]
    assert Config.model_validate(yaml.safe_load(text)) == Config()


def test_the_environment_of_whoever_generates_the_page_is_not_in_it(monkeypatch):
    before = configuration_page()
    monkeypatch.setenv("RANKING_MONITOR__LISTEN", "0.0.0.0:1")
    assert configuration_page() == before
