"""The commands by name, each with its line of help; a module of this room bears each name."""

from __future__ import annotations

from typing import Final

PROGRAM: Final = "rollout-gate"

COMMANDS: Final = {
    "apply": "Apply manifests, judge the rollout, roll back where it fails.",
    "preflight": "Do all that apply does before its first write.",
    "verify": "Judge a rollout that another tool started; write nothing.",
    "status": "Show the tree of a Deployment, and why each pod is as it is.",
    "history": "Show the revisions, and the one that a failure would return to.",
    "undo": "Return to the version before, or to a revision.",
    "pause": "Pause the rollout.",
    "resume": "Resume the rollout and follow it.",
    "restart": "Restart the pods as a rollout and follow it.",
    "replay": "Judge a recording.",
    "rehearse": "Try a manifest and its gate against failures, in a sandbox.",
    "demo": "Watch a bad version being caught and undone, in a sandbox.",
    "sandbox": "Run a cluster in this process, for kubectl and for the gate.",
    "schema": "Print the JSON Schema of the configuration or of the result.",
    "version": "Print the version.",
}
