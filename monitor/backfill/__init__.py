"""Backfill: what the daemon would have exported for events of the past, as blocks for Prometheus."""
