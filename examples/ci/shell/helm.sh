#!/bin/sh
# Helm rolls out, the gate judges: helm.sh RELEASE CHART NAMESPACE
set -eu

helm upgrade --install "$1" "$2" --namespace "$3"
code=0
rollout-gate verify --selector "app.kubernetes.io/instance=$1" --namespace "$3" --timeout 15m || code=$?
if [ "$code" -eq 6 ]; then helm rollback "$1" --namespace "$3"; fi
exit "$code"
