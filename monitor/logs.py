"""Logging to standard error: lines for people, or one JSON object a line."""

import json
import logging
import sys
from datetime import UTC, datetime

from monitor.config import LogConfig
from monitor.log_queue import LogQueue


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


def set_up(config: LogConfig) -> LogQueue:
    """Log as configured, through a queue; libraries speak up only when something is wrong.

    Python flushes the queue at the end of the process; flush it before writing to standard error otherwise.
    """
    handler = LogQueue(sys.stderr)
    if config.format == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)-7s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("monitor").setLevel(config.level.upper())
    return handler
