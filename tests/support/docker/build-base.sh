#!/bin/sh
# Makes a base image for deploy/docker/Dockerfile where none can be pulled: Debian, its Python 3.11, and the certificate
# authorities that this machine trusts. Needs root, debootstrap and a Docker daemon that answers.
#   tests/support/docker/build-base.sh [NAME]
set -eu
name=${1:-python-for-tests}
root=$(mktemp -d)
chmod 755 "$root"
trap 'rm -rf --one-file-system "$root"' EXIT
debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates bookworm "$root"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/var/lib/apt/lists/* "$root"/usr/share/doc "$root"/usr/share/locale
tar -C "$root" --exclude=./proc --exclude=./sys -c . \
    | docker import --change 'ENV LC_ALL=C.UTF-8' --change 'ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt' - "$name"
