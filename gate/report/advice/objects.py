"""What to do about objects that are not as the run left them, or that it left behind."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.cluster_name import ClusterName
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.outcome import LOCK_REASONS, Outcome, Reason
from gate.report.advice.takeover import TAKEN_OVER_UNASKED, take_over_flags
from gate.report.kinds import registry
from gate.report.schema.result import ObjectResult, Result
from gate.report.words.found_at_end import is_changed_by_others
from gate.report.words.object_names import (
    list_own_objects,
    object_name,
    some_names,
    workload_name,
)

_MOST_NAMED = 3
_DATA = ("ConfigMap", "Secret")
_STAYING = ("changed", "kept")
_LEFT_TO_RECOVER = (Reason.UNREACHABLE, Reason.UNAUTHORIZED)
"""Why an object did not go back that a `recover` sends again."""


def object_advice(result: Result) -> Iterator[tuple[str, str]]:
    """Yield texts, each with a command to copy or ""."""
    yield from _replacement(result)
    yield from _lists_of_others(result)
    yield from _after_part_of_a_return(result)
    going = _going(result)
    staying = [item for item in result["objects"] if item["namespace"] not in going]
    leftover = [item for item in staying if _is_leftover(result, item)]
    if leftover:
        theirs = "if yours should win, or apply the configuration that belongs to theirs"
        again = "what is to stand" if result["reason"] == Reason.DELETED else theirs
        names = _name_objects(result, leftover)
        yield f"{names}: still as this run wrote it; apply again {again}", ""
    stuck = [item for item in result["objects"] if item["action"] == "deleting"]
    if stuck:
        text = f"{_name_objects(result, stuck)}: see what its finalizers wait for:"
        yield text, _look_at(result, stuck[0])
    meddled = [item for item in staying if _is_meddled_with(item) and not _find_lists(item)]
    if meddled and not leftover:
        done = "apply again if yours should win"
        managers = dict.fromkeys(name for item in meddled for name in writers_of(item))
        if managers:
            done += f", with {shlex.join(take_over_flags(managers))}"
        yield f"{_name_objects(result, meddled)}: find out who did that; {done}", ""
    yield from _before_the_next_apply(result, [item for item in staying if item not in meddled])


def immutable_objects(result: Result) -> list[ObjectResult]:
    """Return what a failed attempt made immutable and could not take back.

    Every apply and `undo` of the version before is refused as long as it exists. Other objects
    that cannot go back are left out: deleting them would lose what they hold.
    """
    if result["outcome"] not in (Outcome.ROLLBACK_FAILED, Outcome.FAILED):
        return []
    return [
        item
        for item in result["objects"]
        if item["irreversible"] and item["kind"] in _DATA and item["action"] in _STAYING
    ]


def _replacement(result: Result) -> Iterator[tuple[str, str]]:
    """Advise how to return to a version if an object of it has to be deleted and created again."""
    found = immutable_objects(result)
    if not found:
        return
    cluster = ClusterName(result["context"], result["kubeconfig"])
    namespace = found[0]["namespace"]
    names = [_name_with_kind(item) for item in found if item["namespace"] == namespace]
    text = (
        f"{_name_objects(result, found)}: immutable now, no undo and no apply can change it;"
        " delete it:"
    )
    yield text, cluster.command("kubectl", "delete", *names, namespace=namespace)
    text = "then apply the whole manifest of the version that should run:"
    yield text, cluster.command("rollout-gate", "apply", "-f", "PATH", namespace=namespace)


def _lists_of_others(result: Result) -> Iterator[tuple[str, str]]:
    """Advise to mend the lists beside whose items of others the server rejects what is applied.

    An apply leaves those items there, whatever it takes over.
    """
    for item in result["objects"]:
        if lists := _find_lists(item):
            where, who = ", ".join(lists), ", ".join(writers_of(item))
            text = (
                f"{object_name(result, item)}: {who} changed {where}, and the server rejects what"
                f" is applied beside that; first make {where} as it should be:"
            )
            place = ClusterName(result["context"], result["kubeconfig"]).flags(item["namespace"])
            yield text, shlex.join(["kubectl", "edit", _name_with_kind(item), *place])


def _find_lists(item: ObjectResult) -> list[str]:
    """Return the lists with items of others, or without ours, of what the server rejected.

    The path of a list's item ends with a bracket; what differs within one, a take-over mends.
    """
    at_end = item["at_end"]
    if at_end is None or item["not_restored"] != Reason.REJECTED or not writers_of(item):
        return []
    items = (path for path in at_end["fields"] if path.endswith("]"))
    return list(dict.fromkeys(path.rpartition("[")[0] for path in items))


def _after_part_of_a_return(result: Result) -> Iterator[tuple[str, str]]:
    """Name what did not go back with its workload, and advise how to get one version of all.

    The warnings say why each did not.
    """
    if result["outcome"] != Outcome.ROLLBACK_FAILED:
        return
    own = [item for one in result["workloads"] for item in list_own_objects(result, one)]
    left = [
        item
        for item in result["objects"]
        if item["not_restored"] and not item["irreversible"] and item not in own
    ]
    if result["recoverable"]:
        left = [item for item in left if item["not_restored"] not in _LEFT_TO_RECOVER]
    if not left:
        return
    cluster = ClusterName(result["context"], result["kubeconfig"])
    worst = next(iter(result["workloads"]), None)
    namespace = worst["namespace"] if worst is not None else ""
    names = _name_objects(result, left)
    if worst is not None and all(item["not_restored"] == Reason.FORBIDDEN for item in left):
        are = "is" if len(left) == 1 else "are"
        text = f"{names} {are} still as written, because a right was missing: grant it, then undo:"
        yield (
            text,
            cluster.command(
                "rollout-gate", "undo", registry.argument_of(worst), namespace=namespace
            ),
        )
        return
    text = (
        f"{names}: not returned, and not as it was verified; apply the whole manifest of the"
        " version that should run:"
    )
    yield text, cluster.command("rollout-gate", "apply", "-f", "PATH", namespace=namespace)


def writers_of(item: ObjectResult) -> list[str]:
    """Return the managers that changed an object since: an apply conflicts with their fields."""
    at_end = item["at_end"]
    if at_end is None or at_end["state"] not in ("as-written", "changed", "recreated"):
        return []
    return [name for name in at_end["managers"] if name != FIELD_MANAGER]


def _before_the_next_apply(result: Result, items: list[ObjectResult]) -> Iterator[tuple[str, str]]:
    """Name the flags without which an apply after a rollback is refused for others' sake."""
    if result["outcome"] != Outcome.ROLLED_BACK:
        return
    held = [item for item in items if _list_obstacles(item) and not _is_scaled_alone(item)]
    owned = {name: None for item in held for name in _list_obstacles(item)}
    if owned:
        flags = shlex.join(take_over_flags(owned))
        yield f"{_name_objects(result, held)}: others wrote it; the next apply takes {flags}", ""
    numbers = [object_name(result, item) for item in items if _is_scaled_alone(item)]
    kept = [one for one in result["workloads"] if one["scaled_meanwhile"]]
    scaled = list(dict.fromkeys([*numbers, *(workload_name(result, one) for one in kept)]))
    if scaled:
        names = some_names(scaled, _MOST_NAMED)
        yield f"{names}: others scaled it; the next apply takes --replicas keep, or apply", ""
    paused = [workload_name(result, one) for one in result["workloads"] if one["paused"]]
    if paused:
        names = some_names(paused, _MOST_NAMED)
        yield f"{names}: ask whoever paused it; the next apply takes --resume", ""


def _list_obstacles(item: ObjectResult) -> list[str]:
    """Return the managers for whose fields the next apply takes a flag."""
    return [name for name in writers_of(item) if name not in TAKEN_OVER_UNASKED]


def _is_scaled_alone(item: ObjectResult) -> bool:
    """Tell whether others changed nothing of an object since but its number of replicas."""
    at_end = item["at_end"]
    return at_end is not None and at_end["fields"] == ["spec.replicas"]


def _is_leftover(result: Result, item: ObjectResult) -> bool:
    """Tell whether an object is still as this run wrote it while others changed a workload."""
    at_end, ours = item["at_end"], item["action"] in ("created", "changed")
    is_beside = result["outcome"] == Outcome.SUPERSEDED and not registry.is_workload(item["kind"])
    if not (is_beside and ours and at_end is not None and at_end["state"] == "as-written"):
        return False
    return any(
        one["outcome"] == Outcome.SUPERSEDED
        and one["reason"] != Reason.SCALED_TO_ZERO
        and (one["reason"] not in LOCK_REASONS or is_changed_by_others(result, one))
        for one in result["workloads"]
    )


def _going(result: Result) -> set[str]:
    """Return the namespaces that are being deleted, or are gone, with all that is in them."""
    seen = [(one["namespace"], one["deletion"]) for one in result["workloads"]]
    return {namespace for namespace, deletion in seen if deletion and deletion["namespace_goes"]}


def _is_meddled_with(item: ObjectResult) -> bool:
    at_end = item["at_end"]
    is_workload = registry.is_workload(item["kind"])
    if at_end is None or is_workload or item["action"] in ("deleted", "deleting"):
        return False
    return at_end["state"] in ("changed", "deleted", "being-deleted", "recreated")


def _name_objects(result: Result, items: list[ObjectResult]) -> str:
    return some_names([object_name(result, item) for item in items], _MOST_NAMED)


def _name_with_kind(item: ObjectResult) -> str:
    return f"{item['kind'].lower()}/{item['name']}"


def _look_at(result: Result, item: ObjectResult) -> str:
    named = _name_with_kind(item)
    place = ClusterName(result["context"], result["kubeconfig"]).flags(item["namespace"])
    return shlex.join(["kubectl", "get", named, *place, "-o", "yaml"])
