"""`ranking-monitor score`: retrieved passages against gold texts."""

import json
from pathlib import Path
from typing import Annotated

import typer

from monitor.cli.errors import UserError
from monitor.cli.output import writable
from monitor.evaluation.files.passage_files import read_gold, read_predictions
from monitor.evaluation.passages import score_passages

RULER = "=" * 50


def score(
    predictions: Annotated[Path, typer.Argument(help='JSON: [{"query", "retrieved_passages": [...]}].')],
    gold: Annotated[Path, typer.Argument(help='JSON: {"tests": [{"query", "snippets": [{"answer"}]}]}.')],
    k: Annotated[int, typer.Option(help="Passages that recall and nDCG look at.")] = 10,
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the scores as JSON.")] = None,
) -> None:
    """Score retrieved passages against gold texts: exact match, token F1, recall and nDCG."""
    if k < 1:
        raise UserError(f"--k: {k} is not allowed; give 1 or more")
    writable(output)
    scores = score_passages(read_predictions(predictions), read_gold(gold), k).as_dict()
    print("Evaluation Results:")
    print(RULER)
    for name, value in scores.items():
        print(f"{name}: {value}" if isinstance(value, int) else f"{name}: {value:.4f}")
    print(RULER)
    if output:
        output.write_text(json.dumps(scores, indent=2) + "\n", encoding="utf-8")
