"""From numbers to Prometheus: every family once, and the collector that fills them."""
