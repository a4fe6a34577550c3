"""What a document of an earlier version has under other keys, or what follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gate.core.endings.coverage import Coverage
from gate.core.kinds import configuration
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


def add_coverage(document: Any) -> None:
    """Say of each object how much the outcome covers it, by the name of its kind alone."""
    objects = document.get("objects") if isinstance(document, dict) else None
    for item in objects if isinstance(objects, list) else ():
        if isinstance(item, dict):
            is_stored = item.get("kind") in configuration.NAMES
            other = Coverage.APPLIED if is_stored else Coverage.NOT_JUDGED
            found = Coverage.JUDGED if item.get("judged") is True else other
            item.setdefault("coverage", found.value)


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
