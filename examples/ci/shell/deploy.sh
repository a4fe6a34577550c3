#!/bin/sh
# A deployment from any place that has a shell: deploy.sh [PATH]
#
# `exec`: the shell becomes the gate. A signal to a shell that waits ends the shell alone, and the gate
# would run on unseen. So this is the last command, and the gate's exit code is the script's:
#   0  the new version runs, verified
#   4  it failed, and what ran before runs again, as verified as it was; nothing, if nothing ran
#   7  the new version runs, but its checks could not tell
# and gate-report.html says of every other what runs. After 137 (killed: out of memory, a host that
# lost patience) run it again, or `rollout-gate recover`: either finishes first what was left.
set -u

exec rollout-gate apply -f "${1:-deploy}" --timeout 15m --report html=gate-report.html
