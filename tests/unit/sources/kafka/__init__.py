"""Parts of the Kafka source that need no broker."""
