"""The row of a pod: what its containers do, in one word (`printers/internalversion` printPod)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sandbox.json import JSON, dig
from sandbox.objects.conditions import is_true

NONE = "<none>"
ENDED = ("Succeeded", "Failed")


@dataclass(frozen=True, slots=True)
class _Tally:
    """What a group of containers adds to the row; `reason` empty where they say nothing."""

    ready: int = 0
    restarts: int = 0
    restarted_at: str = ""
    reason: str = ""


def read_pod(pod: JSON, now: datetime) -> list[Any]:
    """Return the cells of a pod but for its name and age."""
    sidecars = _sidecars(pod)
    starting = _starting(pod, sidecars)
    shown = starting
    if not starting.reason or is_true(pod, "Initialized"):
        statuses = dig(pod, "status", "initContainerStatuses") or []
        beside = [status for status in statuses if status.get("name") in sidecars]
        shown = _running(pod, beside, starting.ready, starting.reason)
    total = len(dig(pod, "spec", "containers") or []) + len(sidecars)
    row = [f"{shown.ready}/{total}", _reason(pod, shown), _restarts(shown, now)]
    addresses = dig(pod, "status", "podIPs") or [{}]
    node, nominated = dig(pod, "spec", "nodeName"), dig(pod, "status", "nominatedNodeName")
    place = [addresses[0].get("ip") or NONE, node or NONE, nominated or NONE]
    gates = [gate.get("conditionType", "") for gate in dig(pod, "spec", "readinessGates") or []]
    open_gates = sum(is_true(pod, gate) for gate in gates)
    return [*row, *place, f"{open_gates}/{len(gates)}" if gates else NONE]


def row_conditions(pod: JSON) -> list[JSON]:
    """Return the marks by which kubectl tells pods that have ended."""
    phase = dig(pod, "status", "phase")
    if phase not in ENDED:
        return []
    failed = "The pod failed."
    message = "The pod has completed successfully." if phase == "Succeeded" else failed
    return [{"type": "Completed", "status": "True", "reason": phase, "message": message}]


def _starting(pod: JSON, sidecars: set[str]) -> _Tally:
    """Walk the init containers up to the first that holds the pod up; it names the reason."""
    statuses = dig(pod, "status", "initContainerStatuses") or []
    ready = 0
    for position, status in enumerate(statuses):
        seen = statuses[: position + 1]
        if dig(status, "state", "terminated", "exitCode") == 0:
            continue
        if status.get("name") in sidecars and status.get("started"):
            ready += bool(status.get("ready"))
            continue
        reason = _init_reason(pod, position, status)
        return _Tally(ready, _sum(seen), _last_end(seen), reason)
    return _Tally(ready, _sum(statuses), _last_end(statuses))


def _init_reason(pod: JSON, position: int, status: JSON) -> str:
    ended = dig(status, "state", "terminated")
    waiting = dig(status, "state", "waiting", "reason") or "PodInitializing"
    if ended is not None:
        return f"Init:{_end(ended)}"
    if waiting != "PodInitializing":
        return f"Init:{waiting}"
    return f"Init:{position}/{len(dig(pod, 'spec', 'initContainers') or [])}"


def _running(pod: JSON, sidecars: Sequence[JSON], ready: int, reason: str) -> _Tally:
    """Look at the containers, last to first: the first of them that is in trouble has the word."""
    statuses = dig(pod, "status", "containerStatuses") or []
    runs = 0
    for status in reversed(statuses):
        trouble = _trouble(status)
        if trouble:
            reason = trouble
        elif status.get("ready") and dig(status, "state", "running") is not None:
            runs += 1
    if reason == "Completed" and runs:
        reason = "Running" if is_true(pod, "Ready") else "NotReady"
    counted = [*sidecars, *statuses]
    return _Tally(ready + runs, _sum(counted), _last_end(counted), reason)


def _trouble(status: JSON) -> str:
    waiting = dig(status, "state", "waiting", "reason")
    if waiting:
        return str(waiting)
    ended = dig(status, "state", "terminated")
    return "" if ended is None else _end(ended)


def _end(ended: JSON) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"ExitCode:{ended.get('exitCode', 0)}"


def _reason(pod: JSON, shown: _Tally) -> str:
    phase, given = dig(pod, "status", "phase") or "", dig(pod, "status", "reason")
    if dig(pod, "metadata", "deletionTimestamp") and phase not in ENDED:
        return "Terminating"
    return shown.reason or str(given or phase)


def _restarts(shown: _Tally, now: datetime) -> str:
    if not shown.restarts or not shown.restarted_at:
        return str(shown.restarts)
    return f"{shown.restarts} ({since(shown.restarted_at, now)} ago)"


def _sidecars(pod: JSON) -> set[str]:
    initial = dig(pod, "spec", "initContainers") or []
    return {str(each.get("name")) for each in initial if each.get("restartPolicy") == "Always"}


def _sum(statuses: Iterable[JSON]) -> int:
    return sum(int(status.get("restartCount", 0)) for status in statuses)


def _last_end(statuses: Iterable[JSON]) -> str:
    ends = (dig(status, "lastState", "terminated", "finishedAt") for status in statuses)
    return max((str(end) for end in ends if end), default="")


_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "y": 365 * 86400}
_FORMS = (
    *((120, "s", ""), (600, "m", "s"), (3 * 3600, "m", ""), (8 * 3600, "h", "m")),
    *((2 * 86400, "h", ""), (8 * 86400, "d", "h"), (730 * 86400, "d", "")),
    (8 * 365 * 86400, "y", "d"),
)
"""Up to which age which units are used (apimachinery `duration.HumanDuration`)."""


def since(timestamp: Any, now: datetime) -> str:
    """Return the time from an RFC 3339 timestamp until now; `<unknown>` where there is none."""
    if not timestamp:
        return "<unknown>"
    return human((now - datetime.fromisoformat(timestamp)).total_seconds())


def human(seconds: float) -> str:
    """Return a duration as people read it."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    whole = max(0, whole)
    _, large, small = next((each for each in _FORMS if whole < each[0]), (0, "y", ""))
    rest = whole % _UNITS[large] // _UNITS[small] if small else 0
    return f"{whole // _UNITS[large]}{large}" + (f"{rest}{small}" if rest else "")
