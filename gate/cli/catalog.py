"""The commands by name, each with its line of help; a module of this room bears each name."""

from __future__ import annotations

from typing import Final

PROGRAM: Final = "rollout-gate"

COMMANDS: Final = {
    "apply": "Apply manifests, judge the rollout, roll back if it fails.",
    "preflight": "Do everything that apply does before its first write.",
    "verify": "Judge a rollout that another tool started; write nothing.",
    "checks": "Run every health check now, and show its result.",
    "status": "Show the tree of a workload, and why each pod is as it is.",
    "history": "Show the revisions, and which one a failure would return to.",
    "undo": "Return to the version that was verified before, or to a revision.",
    "pause": "Pause the rollout of a Deployment, or suspend a Job.",
    "resume": "Resume what is paused or suspended, and follow it.",
    "restart": "Restart the pods as a rollout and follow it.",
    "recover": "Finish what a killed gate left behind.",
    "locks": "Show who holds which lock; release one.",
    "replay": "Judge a recording.",
    "backtest": "Judge recordings under a changed policy.",
    "report": "Render a result or a recording, as text, a page, a test report.",
    "rehearse": "Try a manifest and its gate against failures, in a sandbox.",
    "demo": "Watch a bad version being caught and undone, in a sandbox.",
    "sandbox": "Run a cluster in this process, for kubectl and for the gate.",
    "schema": "Print the JSON Schema of the configuration or of a document.",
    "version": "Print the version.",
}
