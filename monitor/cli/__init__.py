"""The commands: one small file each, parsing and printing only."""

import sys

import typer

from monitor import __version__
from monitor.cli.check_config import check_config
from monitor.cli.demo import demo
from monitor.cli.errors import USER_ERRORS, UsageError, in_one_line
from monitor.cli.load_judgments import load_judgments
from monitor.cli.metrics import metrics
from monitor.cli.replay import replay
from monitor.cli.rules import rules
from monitor.cli.run import run
from monitor.cli.schema import schema
from monitor.cli.simulate import simulate

app = typer.Typer(
    name="ranking-monitor",
    help="Watches the ranking quality of a search backend: Kafka in, Prometheus out.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for command in (demo, run, replay, simulate, load_judgments, check_config, schema, metrics, rules):
    app.command()(command)


def _version(asked: bool) -> None:
    if asked:
        print(f"ranking-monitor {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Watches the ranking quality of a search backend: Kafka in, Prometheus out."""


def main() -> None:
    """Run a command; a mistake of the user gets one line and exit code 2, never a traceback."""
    try:
        code = app(prog_name="ranking-monitor", standalone_mode=False)
    except USER_ERRORS as error:
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
