"""Tables, held against rows that a real server (v1.36.3) printed of the same objects."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sandbox.json import JSON
from sandbox.serving.pod_rows import human
from sandbox.serving.tables import LAYOUTS
from tests.table import each

NOW = datetime(2026, 1, 2, tzinfo=UTC)
REAL = json.loads(Path(__file__).with_name("real_tables.json").read_text(encoding="utf-8"))


@each("kind", [kind for kind in LAYOUTS if kind in REAL])
def test_rows_are_those_of_a_real_server(kind: str) -> None:
    """Each kind that has columns of its own has those of a real server, and its cells."""
    layout, real = LAYOUTS[kind], REAL[kind]
    shown = [[each.name, each.type, each.format, each.priority] for each in layout.columns]
    assert shown == real["columns"]
    for row in real["rows"]:
        assert layout.cells(row["object"], datetime.fromisoformat(row["at"])) == row["cells"]


@each(
    ("seconds", "shown"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (119, "119s"),
        (125, "2m5s"),
        (600, "10m"),
        (10800, "3h"),
        (11100, "3h5m"),
        (172799, "47h"),
        (180000, "2d2h"),
        (8 * 86400, "8d"),
        (731 * 86400, "2y1d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_ages_have_two_units_at_most(seconds: float, shown: str) -> None:
    """Ages lose their second unit as they grow."""
    assert human(seconds) == shown


def pod(**status: Any) -> JSON:
    """Return a pod of one container and one sidecar."""
    return {
        "kind": "Pod",
        "metadata": {"name": "p", "creationTimestamp": "2026-01-01T23:59:00Z"},
        "spec": {
            "containers": [{"name": "a"}],
            "initContainers": [{"name": "side", "restartPolicy": "Always"}, {"name": "once"}],
        },
        "status": {"phase": "Pending", **status},
    }


def ended(code: int, **fields: Any) -> JSON:
    """Return a state that has ended."""
    return {"terminated": {"exitCode": code, **fields}}


@each(
    ("status", "reason"),
    [
        ({}, "Pending"),
        ({"reason": "Evicted", "phase": "Failed"}, "Evicted"),
        ({"initContainerStatuses": [{"name": "once", "state": ended(2)}]}, "Init:ExitCode:2"),
        (
            {"initContainerStatuses": [{"name": "once", "state": ended(1, reason="Error")}]},
            "Init:Error",
        ),
        (
            {
                "initContainerStatuses": [
                    {"name": "side", "started": True, "ready": True, "state": {"running": {}}},
                    {"name": "once", "state": {"waiting": {"reason": "CrashLoopBackOff"}}},
                ]
            },
            "Init:CrashLoopBackOff",
        ),
        ({"initContainerStatuses": [{"name": "side", "state": {"running": {}}}]}, "Init:0/2"),
        ({"containerStatuses": [{"name": "a", "state": ended(3)}]}, "ExitCode:3"),
        (
            {
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [
                    {"name": "a", "state": ended(0, reason="Completed")},
                    {"name": "b", "ready": True, "state": {"running": {}}},
                ],
            },
            "Running",
        ),
        (
            {
                "containerStatuses": [
                    {"name": "a", "state": ended(0, reason="Completed")},
                    {"name": "b", "ready": True, "state": {"running": {}}},
                ]
            },
            "NotReady",
        ),
    ],
)
def test_the_one_word_for_a_pod(status: JSON, reason: str) -> None:
    """What holds a pod up is named, the first trouble first."""
    assert LAYOUTS["pods"].cells(pod(**status), NOW)[2] == reason


def test_restarts_tell_when_the_last_one_was() -> None:
    """Restarts of containers and sidecars are added up; those of init containers are over."""
    last = {"terminated": {"finishedAt": "2026-01-01T23:59:50Z"}}
    statuses = {
        "initContainerStatuses": [
            {"name": "side", "started": True, "ready": True, "restartCount": 1, "state": {}},
            {"name": "once", "restartCount": 7, "state": ended(0)},
        ],
        "containerStatuses": [
            {"name": "a", "restartCount": 2, "lastState": last, "state": {"running": {}}}
        ],
    }
    assert LAYOUTS["pods"].cells(pod(**statuses), NOW)[1:4] == ["1/2", "Pending", "3 (10s ago)"]
