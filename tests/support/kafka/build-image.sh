#!/bin/sh
# Builds an image for the Kafka fixture where no image can be pulled: Debian, its Java 17, Kafka's jars.
# Needs root, debootstrap and a Docker daemon that answers; run from the top of the repository after the jars
# are in .cache/kafka (`make kafka`).   tests/support/kafka/build-image.sh [NAME]
set -eu
name=${1:-kafka-for-tests}
root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase --include=openjdk-17-jre-headless bookworm "$root"
mkdir -p "$root/opt/kafka/libs"
cp .cache/kafka/*/libs/*.jar "$root/opt/kafka/libs/"
tar -C "$root" --exclude=./proc --exclude=./sys -c . | docker import --change 'ENV LC_ALL=C' - "$name"
