"""Records from Kafka: event partitions shared out by a consumer group, judgments read whole by everyone."""

from monitor.sources.kafka.source import KafkaSource

__all__ = ["KafkaSource"]
