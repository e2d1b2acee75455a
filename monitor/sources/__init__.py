"""Where records come from: Kafka, a file, the simulator. The engine does not know which."""
