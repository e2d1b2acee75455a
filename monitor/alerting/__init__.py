"""Alert rules for Prometheus, rendered from one block of values."""
