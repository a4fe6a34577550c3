"""How a report names objects: with the namespace only if the run is about more than one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from gate.report.kinds import registry
from gate.report.schema.result import ObjectResult, Result, WorkloadResult

_MOST_COLUMNS: Final = 90


def workload_name(result: Result, workload: WorkloadResult) -> str:
    """Return `deployment/web`, or `deployment/web in shop`."""
    called = registry.of_entry(workload).call(workload["name"])
    return f"{called}{_where(result, workload['namespace'])}"


def list_own_objects(result: Result, workload: WorkloadResult) -> list[ObjectResult]:
    """Return what the run says of the object of a workload; at most one, none if it had none."""
    kind = registry.of_entry(workload).name
    place = (kind, workload["namespace"], workload["name"])
    return [
        one for one in result["objects"] if (one["kind"], one["namespace"], one["name"]) == place
    ]


def is_kept_otherwise(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether the server kept fields of a workload with other values than were applied."""
    return any(one["kept_otherwise"] for one in list_own_objects(result, workload))


def is_gone_at_end(result: Result, workload: WorkloadResult) -> bool:
    """Tell whether the object of a workload was gone at the last look."""
    return any(one["action"] == "gone" for one in list_own_objects(result, workload))


def kinds_of(workloads: Iterable[WorkloadResult]) -> str:
    """Return what several workloads are together, as `workloads`."""
    return registry.name_kinds(map(registry.of_entry, workloads))


def namespaces_of(result: Result) -> list[str]:
    """Return the namespaces of a run: its workloads', or its objects' if it has none."""
    named = result["workloads"] or result["objects"]
    return list(dict.fromkeys(item["namespace"] for item in named if item["namespace"]))


def object_name(result: Result, item: ObjectResult) -> str:
    """Return `configmap/settings`, or `configmap/settings in shop`."""
    return f"{item['kind'].lower()}/{item['name']}{_where(result, item['namespace'])}"


def fitting_names(names: Sequence[str], most_columns: int) -> str:
    """Return the first names that fit, at least one, and how many more there are."""
    count = len(names)
    while count > 1 and len(", ".join(names[:count])) > most_columns:
        count -= 1
    return _name_first(names, count)


def some_names(names: Sequence[str], most: int) -> str:
    """Return the first names, at most `most`, and how many more there are.

    Of one more the name is there, too, where all of them fit into a line.
    """
    is_short = len(names) == most + 1 and len(", ".join(names)) <= _MOST_COLUMNS
    return _name_first(names, len(names) if is_short else most)


def _name_first(names: Sequence[str], most: int) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _where(result: Result, namespace: str) -> str:
    places = {item["namespace"] for item in (*result["workloads"], *result["objects"])} - {""}
    return f" in {namespace}" if namespace and len(places) > 1 else ""
