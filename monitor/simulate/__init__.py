"""A small world to watch: a vector backend, users who click, judgments that come late."""
