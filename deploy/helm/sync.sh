#!/bin/sh
# Copies the default rules and the dashboards into the chart, which can only ship what lies in its folder.
set -eu
cd "$(dirname "$0")/../.."
files=deploy/helm/ranking-monitor/files
mkdir -p $files/dashboards
rm -f $files/dashboards/*.json
cp grafana/dashboards/*.json $files/dashboards/
cp deploy/prometheus/rules.yaml $files/rules.yaml
