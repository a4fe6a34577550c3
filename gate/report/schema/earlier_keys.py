"""Makes `workloads` of the `deployments` that a document of an earlier version has instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gate.report.kinds import registry

DEFAULT_KIND: Final = registry.DEFAULT.name
"""What every entry was while there was no `kind`."""


def add_workloads(document: Any) -> None:
    """Give a document `workloads`, and take away `deployments`; other shapes are left as they are.

    In a document that has both, `deployments` only repeats.
    """
    if not isinstance(document, dict):
        return
    entries = document.pop("deployments", None)
    if "workloads" not in document and isinstance(entries, list):
        document["workloads"] = [_workload(one) for one in entries]


def _workload(entry: Any) -> Any:
    if not isinstance(entry, dict):
        return entry
    found = {"kind": DEFAULT_KIND, **entry}
    for version in ("baseline", "new"):
        if version in entry:
            found[version] = _rename(entry[version], "replicaset", "name")
    if isinstance(entry.get("trees"), list):
        found["trees"] = [_rename(tree, "replicasets", "revisions") for tree in entry["trees"]]
    return found


def _rename(value: Any, earlier: str, name: str) -> Any:
    """Return an object with one key under its present name, anything else as it is."""
    if not isinstance(value, Mapping) or earlier not in value:
        return value
    rest = {key: part for key, part in value.items() if key != earlier}
    return {**rest, name: value[earlier]}
