#!/bin/sh
# Builds what tests/integration/test_deploy.py checks the deployment files with, where it is missing and Go is there:
# helm, and the Compose Specification's own validator (the loader of `docker compose config`). Once, into .cache/bin.
set -eu
cd "$(dirname "$0")/../.."
HELM=v3.22.0
COMPOSE_GO=v2.9.1
bin=$PWD/.cache/bin
mkdir -p "$bin"

# Unoptimised: they run for a second, and compile in half the time.
build() { GOBIN=$bin GOFLAGS=-mod=mod go install -trimpath -ldflags='-s -w' -gcflags='all=-N -l' "$1"; }

if ! command -v helm >/dev/null && [ ! -x "$bin/helm" ]; then
    echo "building helm $HELM: some minutes, once"
    build "helm.sh/helm/v3/cmd/helm@$HELM"
fi
if ! docker compose version >/dev/null 2>&1 && [ ! -x "$bin/compose-spec" ]; then
    echo "building the validator of the Compose Specification, $COMPOSE_GO"
    build "github.com/compose-spec/compose-go/v2/cmd@$COMPOSE_GO"
    mv "$bin/cmd" "$bin/compose-spec"
fi
