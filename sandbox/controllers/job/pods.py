"""The pods of a Job: which have ended how, what a failure means, and those to create.

Rules of `pkg/controller/job` (`pod_failure_policy.go`, `indexed_job_utils.go`, `backoff_utils.go`).
Limits by index and success policies are not played.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from sandbox.controllers.pods import from_template, is_deleting, phase
from sandbox.json import JSON, dig

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"


def is_indexed(job: JSON) -> bool:
    """Say whether each completion has a number of its own."""
    return bool(job["spec"].get("completionMode") == "Indexed")


def is_tracked(pod: JSON) -> bool:
    """Say whether a pod is yet to be counted: its finalizer keeps it until then."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def replaces_ended_alone(job: JSON) -> bool:
    """Say whether a pod that is going has to be gone before it counts and is replaced."""
    spec = job["spec"]
    return "podFailurePolicy" in spec or spec.get("podReplacementPolicy") == "Failed"


def has_failed(job: JSON, pod: JSON) -> bool:
    """Say whether a pod counts as failed; one that is deleted does, unless it may yet succeed."""
    if phase(pod) == "Failed":
        return True
    gone = is_deleting(pod) and phase(pod) != "Succeeded"
    return gone and not replaces_ended_alone(job)


def index_of(job: JSON, pod: JSON) -> int | None:
    """Return the completion that a pod works for, None where there is none of that number."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX, "")
    index = int(text) if text.isdecimal() else -1
    return index if 0 <= index < job["spec"]["completions"] else None


def indexes(job: JSON, pods: Iterable[JSON]) -> set[int]:
    """Return the completions that pods work for."""
    return {index for pod in pods if (index := index_of(job, pod)) is not None}


def parse_indexes(text: str) -> set[int]:
    """Return the numbers of `status.completedIndexes`, as in `0,2-4`."""
    bounds = [each.partition("-") for each in text.split(",") if each]
    return {
        index for first, _, last in bounds for index in range(int(first), int(last or first) + 1)
    }


def print_indexes(found: Iterable[int]) -> str:
    """Return numbers as `status.completedIndexes` has them."""
    runs = groupby(enumerate(sorted(found)), key=lambda pair: pair[1] - pair[0])
    parts = []
    for _, run in runs:
        numbers = [number for _, number in run]
        ends = numbers[:1] if len(numbers) == 1 else [numbers[0], numbers[-1]]
        separator = "," if len(numbers) == 2 else "-"  # noqa: PLR2004 - a pair is no range
        parts.append(separator.join(map(str, ends)))
    return ",".join(parts)


def new_pods(job: JSON, count: int, pending: Iterable[int]) -> list[JSON]:
    """Return pods to create: for the first of the `pending` numbers, where the Job has some."""
    if is_indexed(job):
        return [_indexed_pod(job, index) for index in [*pending][:count]]
    return [_pod(job) for _ in range(count)]


def _pod(job: JSON) -> JSON:
    pod = from_template(job, job["spec"]["template"])
    finalizers = pod["metadata"].get("finalizers", [])
    pod["metadata"]["finalizers"] = [*finalizers, *([] if TRACKING in finalizers else [TRACKING])]
    return pod


def _indexed_pod(job: JSON, index: int) -> JSON:
    pod, number = _pod(job), str(index)
    metadata, host = pod["metadata"], f"{job['metadata']['name']}-{index}"
    metadata["generateName"] = f"{host}-"
    pod["spec"] = {**pod["spec"], "hostname": host}
    for part in ("annotations", "labels"):
        metadata[part] = {**metadata.get(part, {}), INDEX: number}
    field = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    spec, variable = pod["spec"], {"name": "JOB_COMPLETION_INDEX", "valueFrom": field}
    for kind in ("containers", "initContainers"):
        if kind in spec:
            spec[kind] = [_with_variable(each, variable) for each in spec[kind]]
    return pod


def _with_variable(container: JSON, variable: JSON) -> JSON:
    others = [each for each in container.get("env", ()) if each["name"] != variable["name"]]
    return {**container, "env": [*others, variable]}


def match_policy(job: JSON, pod: JSON) -> tuple[str, bool]:
    """Return what fails the Job in words, empty where nothing does, and whether a failure counts.

    As the first rule of its `podFailurePolicy` says that is about the pod.
    """
    for index, rule in enumerate(dig(job, "spec", "podFailurePolicy", "rules") or ()):
        action, about = rule["action"], f"matching {rule['action']} rule at index {index}"
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        container = _match_codes(pod, rule.get("onExitCodes"))
        condition = _match_conditions(pod, rule.get("onPodConditions") or ())
        if container is None and condition is None:
            continue
        if action != "FailJob":
            return "", action != "Ignore"
        if container is None:
            return f"Pod {name} has condition {condition} {about}", True
        code = container["state"]["terminated"]["exitCode"]
        failed = f"Container {container['name']} for pod {name} failed with exit code {code}"
        return f"{failed} {about}", True
    return "", True


def _match_codes(pod: JSON, wanted: JSON | None) -> JSON | None:
    """Return the status of the first container that ended with one of the codes."""
    status = pod.get("status") or {}
    for kind in ("containerStatuses", "initContainerStatuses") if wanted else ():
        for each in status.get(kind) or ():
            code = dig(each, "state", "terminated", "exitCode")
            is_meant = wanted and wanted.get("containerName", each["name"]) == each["name"]
            if (
                code
                and wanted
                and is_meant
                and (code in wanted["values"]) is (wanted["operator"] == "In")
            ):
                return dict(each)
    return None


def _match_conditions(pod: JSON, wanted: Iterable[JSON]) -> str | None:
    pairs = {(each["type"], each["status"]) for each in wanted}
    found = (pod.get("status") or {}).get("conditions") or ()
    return next((each["type"] for each in found if (each["type"], each["status"]) in pairs), None)


def ended_at(pod: JSON) -> str:
    """Return when a pod ended: with the last of its containers, as far as they tell."""
    status = pod.get("status") or {}
    ends = [
        dig(each, "state", "terminated", "finishedAt")
        for each in status.get("containerStatuses") or ()
    ]
    if ends and all(ends):
        return str(max(ends))
    for condition in status.get("conditions") or ():
        if condition["type"] == "Ready" and condition["status"] == "False":
            return str(condition["lastTransitionTime"])
    metadata = pod["metadata"]
    return str(metadata.get("deletionTimestamp") or metadata["creationTimestamp"])


def restarts(job: JSON, pods: Iterable[JSON]) -> int:
    """Return the restarts of containers that run, of a Job whose pods are restarted in place."""
    if job["spec"]["template"]["spec"]["restartPolicy"] != "OnFailure":
        return 0
    running = (pod["status"] for pod in pods if phase(pod) in {"Running", "Pending"})
    kinds = ("containerStatuses", "initContainerStatuses")
    return sum(
        each["restartCount"]
        for status in running
        for kind in kinds
        for each in status.get(kind) or ()
    )
