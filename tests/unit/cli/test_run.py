"""What `run` gives the source."""

import asyncio
import importlib
from typing import Any

import pytest

from monitor.config import Config
from monitor.sources.base import SourceError


def test_retention_is_asked_for_the_longest_delay_and_the_largest_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[Any] = []

    def source(*arguments: Any, **_: Any) -> None:
        given.extend(arguments)
        raise SourceError("seen")

    module = importlib.import_module("monitor.cli.serving")
    monkeypatch.setattr(module, "KafkaSource", source)
    config = Config.model_validate({"windows": [60, 600], "judgments": {"maturities": [5, 7200]}})
    with pytest.raises(SourceError, match="seen"):
        asyncio.run(module._serve(config))
    assert given == [config.kafka, config.idle_seconds, 7800.0]
