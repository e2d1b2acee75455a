"""Watches the ranking quality of a search backend: Kafka in, Prometheus out."""

from importlib.metadata import version

__version__ = version("ranking-monitor")
