#!/bin/sh
# Helm rolls out, the gate judges: helm.sh RELEASE CHART NAMESPACE
set -eu

helm upgrade --install "$1" "$2" --namespace "$3"

# A signal ends a shell that waits, and not what it waits for: it is handed on, and the verdict awaited.
rollout-gate verify --selector "app.kubernetes.io/instance=$1" --namespace "$3" --timeout 15m &
gate=$!
code=127
trap 'heard=yes; kill -s TERM "$gate" 2>/dev/null || true' HUP INT TERM
until
  heard=
  ended=0
  wait "$gate" || ended=$?
  # 127: it had ended when the signal came, and its code is known.
  [ "$ended" -eq 127 ] || code=$ended
  [ -z "$heard" ]
do :; done
if [ "$code" -eq 6 ]; then helm rollback "$1" --namespace "$3"; fi
exit "$code"
