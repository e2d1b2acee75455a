"""An alerting rule, before it is rendered."""

from collections.abc import Mapping
from dataclasses import dataclass, field

QUALITY, PIPELINE = "ranking-quality", "ranking-pipeline"
"""The uids of the dashboards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alerting rule; rules of one name differ in their labels."""

    name: str
    expr: str
    severity: str
    summary: str
    description: str
    wait: int = 0
    """How long the condition must hold before it fires."""
    keep_firing_for: int
    labels: Mapping[str, str] = field(default_factory=dict)
    dashboard: str = QUALITY
    chosen: str | None = None
    """The label whose value the dashboard should show."""
