"""Write the dashboards as JSON: `python -m grafana.build`."""

import argparse
import json
from pathlib import Path

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models import dashboard as models

from grafana.pipeline import pipeline
from grafana.quality import quality
from grafana.runbooks import URL

FOLDER = Path(__file__).parent / "dashboards"


def dashboards(runbooks: str = URL) -> dict[str, str]:
    """The JSON of every dashboard, by file name."""
    return {"quality.json": _text(quality(runbooks)), "pipeline.json": _text(pipeline(runbooks))}


def _text(board: models.Dashboard) -> str:
    return json.dumps(board, cls=JSONEncoder, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Write them all, into the folder that is committed or another one."""
    parser = argparse.ArgumentParser(description="Write the dashboards as JSON.")
    parser.add_argument("--runbooks", default=URL, help="where the runbooks are read (%(default)s)")
    parser.add_argument("--out", type=Path, default=FOLDER, help="folder to write to (%(default)s)")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, text in dashboards(options.runbooks).items():
        (options.out / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
