"""Tables, held against rows that a real server (v1.36.3) printed of the same objects."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox.failure import ApiError
from sandbox.json import JSON
from sandbox.kinds import RESOURCES
from sandbox.serving.tables.age import human, since
from sandbox.serving.tables.column import selector_text
from sandbox.serving.tables.pods import cells, row_conditions
from sandbox.serving.tables.table import LAYOUTS, layout_of, table, table_style
from tests.table import each

REAL: dict[str, JSON] = json.loads(Path(__file__).with_name("real_tables.json").read_text())
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def test_every_kind_has_a_layout_of_its_own() -> None:
    """No served kind falls back to name and age alone."""
    assert {resource.key for resource in RESOURCES} == set(LAYOUTS) == set(REAL)


@each("key", REAL)
def test_columns_are_the_real_ones(key: str) -> None:
    """Names, types, formats and priorities are a real server's, in its order."""
    columns = [column.definition() for column in layout_of(key).columns]
    shown = [[each[name] for name in ("name", "type", "format", "priority")] for each in columns]
    assert shown == REAL[key]["columns"]


@each(
    ("key", "row"),
    [(key, row) for key, kind in REAL.items() for row in kind["rows"]],
    ids=lambda case: f"{case[0]}-{case[1]['cells'][0]}",
)
def test_cells_are_the_real_ones(key: str, row: JSON) -> None:
    """An object is shown as the real server showed it at that moment."""
    now = datetime.fromisoformat(row["at"])
    assert layout_of(key).cells(row["object"], now) == row["cells"]
    if key == "pods":
        assert row_conditions(row["object"]) == row["conditions"]


@each(
    ("seconds", "shown"),
    [
        (-5, "<invalid>"),
        (-1, "0s"),
        (0.9, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (599, "9m59s"),
        (600, "10m"),
        (10799, "179m"),
        (10800, "3h"),
        (11100, "3h5m"),
        (28800, "8h"),
        (172799, "47h"),
        (172800, "2d"),
        (180000, "2d2h"),
        (8 * 86400, "8d"),
        (729 * 86400, "729d"),
        (730 * 86400, "2y"),
        (731 * 86400, "2y1d"),
        (9 * 365 * 86400, "9y"),
    ],
)
def test_ages_have_two_units_at_most(seconds: float, shown: str) -> None:
    """Ages lose their second unit as they grow."""
    assert human(seconds) == shown


def test_an_unknown_time_is_said_to_be_unknown() -> None:
    """No timestamp is no age."""
    assert since(None, NOW) == "<unknown>"
    assert since("2026-01-01T23:59:00Z", NOW) == "60s"


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
        (
            {"conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
            "SchedulingGated",
        ),
        ({"initContainerStatuses": [{"name": "once", "state": ended(2)}]}, "Init:ExitCode:2"),
        (
            {"initContainerStatuses": [{"name": "once", "state": ended(2, signal=9)}]},
            "Init:Signal:9",
        ),
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
        (
            {"initContainerStatuses": [{"name": "side", "state": {"running": {}}}]},
            "Init:0/2",
        ),
        ({"containerStatuses": [{"name": "a", "state": ended(3)}]}, "ExitCode:3"),
        ({"containerStatuses": [{"name": "a", "state": ended(0, signal=15)}]}, "Signal:15"),
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
    assert cells(pod(**status), NOW)[2] == reason


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
    assert cells(pod(**statuses), NOW)[1:4] == ["1/2", "Pending", "3 (10s ago)"]


def test_a_lost_node_makes_a_deleted_pod_unknown() -> None:
    """A pod that is being deleted is Terminating, unless nobody knows or it has ended."""
    lost = pod(reason="NodeLost")
    lost["metadata"]["deletionTimestamp"] = "2026-01-01T23:59:59Z"
    assert cells(lost, NOW)[2] == "Unknown"
    gone = pod(phase="Succeeded")
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T23:59:59Z"
    assert cells(gone, NOW)[2] == "Succeeded"


def test_selectors_are_sorted_by_their_keys() -> None:
    """All four operators and equality have their short forms."""
    expressions = [
        {"key": "d", "operator": "In", "values": ["y", "x"]},
        {"key": "c", "operator": "NotIn", "values": ["z"]},
        {"key": "b", "operator": "Exists"},
        {"key": "a", "operator": "DoesNotExist"},
    ]
    selector = {"matchLabels": {"e": "1"}, "matchExpressions": expressions}
    assert selector_text(selector) == "!a,b,c notin (z),d in (x,y),e=1"


def test_rows_carry_what_was_asked_for() -> None:
    """`includeObject` decides whether a row has the whole object, its metadata or nothing."""
    body = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "n"}, "spec": {}}
    layout = layout_of("namespaces")

    def shown(include: str) -> Any:
        made = table(layout, [body], {}, NOW + timedelta(0), table_style(include))
        return made["rows"][0]["object"]

    assert shown("Object") == body
    assert shown("None") is None
    assert shown("") == {
        "kind": "PartialObjectMetadata",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": {"name": "n"},
    }
    with pytest.raises(ApiError, match="includeObject: Invalid value"):
        table_style("Everything")
