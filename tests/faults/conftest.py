"""The stage on which the scenarios of this folder run, and the figures that they measured."""

from collections.abc import Iterator

import pytest

from tests.faults.figures import FIGURES
from tests.faults.stage import Stage
from tests.support.kafka import Broker
from tests.support.programs import program


@pytest.fixture(scope="session")
def stage(
    request: pytest.FixtureRequest, kafka: Broker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Stage]:
    program("prometheus", "prometheus")
    functions = [getattr(item, "function", None) for item in request.session.items]
    chosen = [function.scenario for function in functions if hasattr(function, "scenario")]
    running = Stage(kafka, tmp_path_factory.mktemp("faults"), chosen)
    request.config.stash[FIGURES] = running.figures
    yield running
    running.close()
