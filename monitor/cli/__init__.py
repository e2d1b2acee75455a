"""The commands: one small file each, parsing and printing only."""

import ast
import sys
from importlib import import_module
from pathlib import Path

import typer

from monitor import __version__
from monitor.cli.errors import UsageError, in_one_line
from monitor.mistakes import Mistake

COMMANDS = (
    *("demo", "run", "replay", "backfill", "simulate", "load_judgments"),
    *("evaluate", "compare", "score", "agreement"),
    *("check_config", "schema", "metrics", "rules"),
)
"""Each is a function in the module of its name."""


def main() -> None:
    """Run a command; a mistake of the user gets one line and exit code 2, never a traceback."""
    try:
        code = _application(sys.argv[1:])(prog_name="ranking-monitor", standalone_mode=False)
    except Mistake as error:
        lines = str(error).splitlines()
    except UsageError as error:
        if len(sys.argv) == 1:
            error.show()  # the help
            sys.exit(2)
        lines = [in_one_line(error)]
    except typer.Abort:
        sys.exit(1)
    else:
        sys.exit(code or 0)
    for line in lines:
        print(f"ranking-monitor: {line}", file=sys.stderr)
    sys.exit(2)


def _application(arguments: list[str]) -> typer.Typer:
    """The command that is asked for, else all of them to be listed: what is not used is not imported."""
    app = typer.Typer(
        name="ranking-monitor",
        help="Watches the ranking quality of a search backend: Kafka in, Prometheus out.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_options)
    asked = next((each for each in arguments if not each.startswith("-")), "").replace("-", "_")
    if asked in COMMANDS:
        app.command()(getattr(import_module(f"monitor.cli.{asked}"), asked))
    else:
        for name in COMMANDS:
            app.command(name.replace("_", "-"), help=_explanation(name))(_listed)
    return app


def _explanation(name: str) -> str | None:
    """The docstring of a command, read from its file."""
    module = ast.parse(Path(__file__).with_name(f"{name}.py").read_bytes())
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    return ast.get_docstring(functions[name])


def _listed() -> None:
    """Stands in the list for a command that nobody has asked for."""


def _version(asked: bool) -> None:
    if asked:
        print(f"ranking-monitor {__version__}")
        raise typer.Exit


def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Watches the ranking quality of a search backend: Kafka in, Prometheus out."""
