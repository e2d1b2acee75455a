"""The dashboards that are committed are the ones that the code builds."""

from grafana.build import FOLDER, dashboards


def test_the_committed_dashboards_are_what_the_builders_write() -> None:
    committed = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.json")}
    assert committed == dashboards(), "run `make dashboards` and commit what it wrote"
