#!/bin/sh
# A deployment from any place that has a shell: deploy.sh [PATH]
set -u

code=0
rollout-gate apply -f "${1:-deploy}" --lock --timeout 15m --report html=gate-report.html || code=$?
case $code in
  0) echo "the new version runs, verified" ;;
  4) echo "it failed, and the version before runs again, verified" ;;
  7) echo "the new version runs, but its checks could not tell" ;;
  137) rollout-gate recover || code=$? ;;
  *) echo "exit $code: gate-report.html says what runs" ;;
esac
exit "$code"
