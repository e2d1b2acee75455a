"""Logging to standard error: lines for people, or one JSON object a line."""

import json
import logging
import sys
from datetime import UTC, datetime

from monitor.config import LogConfig


class JsonFormatter(logging.Formatter):
    """One JSON object for each message."""

    def format(self, record: logging.LogRecord) -> str:
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            fields["exception"] = self.formatException(record.exc_info)
        return json.dumps(fields)


def set_up(config: LogConfig) -> None:
    """Log as configured; libraries speak up only when something is wrong."""
    handler = logging.StreamHandler(sys.stderr)
    if config.format == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("monitor").setLevel(config.level.upper())
