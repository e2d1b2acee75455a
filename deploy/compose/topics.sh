#!/bin/sh
# Creates the three topics as docs/producing.md describes them; again is no error.   topics.sh BOOTSTRAP_SERVERS
set -eu
create() {
    topic=$1
    shift
    /opt/kafka/bin/kafka-topics.sh --bootstrap-server "$servers" --create --if-not-exists --topic "$topic" "$@"
}
servers=$1
create search-impressions --partitions 6 --config retention.ms=604800000 --config message.timestamp.type=LogAppendTime
create search-interactions --partitions 6 --config retention.ms=604800000 --config message.timestamp.type=LogAppendTime
create search-judgments --partitions 1 --config cleanup.policy=compact --config min.compaction.lag.ms=86400000
