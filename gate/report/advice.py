"""What to do next: for each reason the advice and, where there is one, the command to copy.

Reads the result document alone, so that a report that is rendered again says the same.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from gate.cluster_name import ClusterName
from gate.core.outcome import Outcome, Reason
from gate.report.object_advice import immutable_objects, object_advice
from gate.report.result import DeploymentResult, Result

_SAYS_LITTLE = (Reason.PROGRESS_DEADLINE_EXCEEDED, Reason.TIMEOUT, Reason.CRASH_LOOP)
_INIT_CONTAINER = "init container "
"""How a cause calls one (`gate.core.causes`)."""
_MANAGER = re.compile(r'conflicts? with "([^"]+)"')
"""How the API server names a field manager in the answer to a server-side apply."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; `command` is "" where there is none to run."""

    text: str
    command: str = ""


def next_steps(result: Result) -> tuple[Step, ...]:
    """Return what a person should do now, the cluster's state first; at most four steps."""
    if result["exit_code"] is None:
        return ()  # a recording without an end says nothing of what runs since
    worst = worst_deployment(result)
    if worst is None:
        steps = [*_of_attempt(result)]
    else:
        steps = [*_for_state(result, worst), *_for_reason(result, worst)]
        if not steps and result["reason"] == Reason.APPLY_REJECTED:
            steps = [*_of_attempt(result)]
    return (*steps, *(Step(text, command) for text, command in object_advice(result)))


def worst_deployment(result: Result) -> DeploymentResult | None:
    """Return the Deployment that gave the attempt its end, None where there is none."""
    ranked = sorted(
        result["deployments"],
        key=lambda d: (
            d["outcome"] != result["outcome"],
            d["reason"] != result["reason"],
            not d["evidence"],
        ),
    )
    return next(iter(ranked), None)


def cluster_of(result: Result) -> ClusterName:
    """Return how a command names the run's cluster."""
    return ClusterName(result["context"], result["kubeconfig"])


def _place(result: Result, worst: DeploymentResult) -> list[str]:
    return cluster_of(result).flags(worst["namespace"])


def telling_reason(deployment: DeploymentResult) -> str:
    """Return what was wrong underneath where the rule that decided says little itself."""
    causes = deployment["causes"]
    if deployment["reason"] in _SAYS_LITTLE and causes:
        return causes[0]["reason"]
    return deployment["reason"]


def _of_attempt(result: Result) -> Iterator[Step]:
    if result["outcome"] == Outcome.LOST_CONTACT:
        yield Step("once the API server answers, apply again: it goes on from what runs")
        return
    worst = worst_deployment(result)
    flags = shlex.join(cluster_of(result).flags(worst["namespace"] if worst is not None else ""))
    for step in _ALONE.get(result["reason"], ()):
        yield replace(step, command=f"{step.command} {flags}".rstrip()) if step.command else step


_ASK_ALONE = (Step("ask the checks by themselves, step by step:", "rollout-gate checks --explain"),)
_ALONE: dict[str, tuple[Step, ...]] = {
    Reason.INTERNAL_ERROR: (Step("this is a bug of rollout-gate: report it, with this run's log"),),
    Reason.USAGE: (Step("correct the command, the configuration or the manifest"),),
    Reason.LOCKED: (Step("let the other attempt come to its end, then apply again"),),
    Reason.FORBIDDEN: (
        Step(
            "ask for the rights that are missing; of a manifest, this prints the Role:",
            "rollout-gate preflight --rbac -f PATH",
        ),
    ),
    Reason.UNAUTHORIZED: (Step("get fresh credentials: the API server does not take these"),),
    Reason.UNREACHABLE: (Step("check the server's address, the network and the kubeconfig"),),
    Reason.GITOPS_MANAGED: (
        Step("judge what the other tool rolls out instead:", "rollout-gate verify NAME"),
        Step("or apply all the same with --allow-managed"),
    ),
    Reason.PROTECTED: (Step("this target is protected on purpose: check context and namespace"),),
    Reason.NOT_FOUND: (Step("check name, namespace and context"),),
    Reason.PAUSED: (Step("when whoever paused it agrees, --resume resumes it with the apply"),),
    Reason.APPLY_REJECTED: (Step("mend what the server names, then apply again"),),
    Reason.REJECTED: (Step("mend what the server names, then apply again"),),
    Reason.CONFLICT: (Step("look at what the other manager changed before you --take-over it"),),
    Reason.CHECK_FAILED: _ASK_ALONE,
    Reason.CHECK_INCONCLUSIVE: _ASK_ALONE,
    Reason.CHECK_ERROR: _ASK_ALONE,
}
"""Advice for runs that ended before any Deployment was followed."""


def _for_state(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    """Iterate what the state of the cluster asks for, whatever led to it."""
    match result["outcome"]:
        case Outcome.ROLLBACK_FAILED:
            yield _step(result, worst, "look at it now:", "status")
            rollback = result["rollback"]
            if rollback is not None and not rollback["written_at"]:
                yield from _undo(result, worst, "once its cause is gone, go back again:")
        case Outcome.LOST_CONTACT:
            yield _step(result, worst, "once the API server answers, look:", "status")
            yield Step("then apply again: it goes on from what runs")
        case Outcome.INTERRUPTED:
            yield _step(result, worst, "judge what goes on without the gate:", "verify")
            yield from _after_interrupt(result, worst)
        case Outcome.FAILED | Outcome.OBSERVED if worst["outcome"] == Outcome.FAILED:
            yield from _for_bad_version(result, worst)
        case _:
            return


def _after_interrupt(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    """Lead on or back from what a signal left; without a lock there is nothing to recover."""
    rollback = result["rollback"]
    if result["recoverable"]:
        text = "or finish what this run left, forward if it is complete, back if not:"
        yield _step(result, worst, text, "recover")
    elif rollback is not None and rollback["written_at"]:
        yield Step("or apply again what is to run: it goes on from there")
    elif worst["changed"]:
        yield from _undo(result, worst, "or return to what served before:")
        yield Step("or apply again: it goes on from what runs")


def _for_bad_version(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    if worst["baseline"] is None and worst["running"] not in ("none", "other"):
        text = "no version is known that served before; what there is:"
        yield _step(result, worst, text, "history")
    else:
        yield from _undo(result, worst, "to return to what served before:")


def _undo(result: Result, worst: DeploymentResult, text: str) -> Iterator[Step]:
    baseline = worst["baseline"]
    if baseline is None or immutable_objects(result):
        return
    is_itself = baseline["replicaset"] == worst["new"]["replicaset"]
    if baseline["revision"] is None or is_itself:
        yield _step(result, worst, text, "undo")
    else:
        yield _step(result, worst, text, "undo", "--to-revision", str(baseline["revision"]))


def _step(result: Result, worst: DeploymentResult, text: str, verb: str, *more: str) -> Step:
    words = ["rollout-gate", verb, worst["name"], *_place(result, worst), *more]
    return Step(text, shlex.join(words))


def _for_reason(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    reason = telling_reason(worst)
    if worst["outcome"] == Outcome.ROLLBACK_FAILED and reason != Reason.GITOPS_REVERTED:
        return
    if worst["outcome"] == Outcome.VERIFIED:
        if reason == Reason.VACUOUS:
            yield Step("--require-pods refuses a Deployment without pods")
    elif reason in _DERIVED:
        yield from _DERIVED[reason](result, worst)
    elif reason in _STANDING:
        text, command = _STANDING[reason]
        name, place = shlex.quote(worst["name"]), shlex.join(_place(result, worst))
        cluster = shlex.join(cluster_of(result).flags())
        yield Step(text, command.format(name=name, place=place, cluster=cluster).rstrip())


_STATUS = "rollout-gate status {name} {place}"
_HISTORY = "rollout-gate history {name} {place}"
_STANDING: dict[str, tuple[str, str]] = {
    Reason.OUT_OF_MEMORY: ("raise that container's memory limit, or find what made it grow", ""),
    Reason.CONTAINER_CONFIG: (
        "create the ConfigMap, Secret or key that the message names:",
        "kubectl get configmaps,secrets {place}",
    ),
    Reason.AVAILABILITY_LOST: (
        "its pods were ready and are not any more: see which, and whether what they need is there:",
        _STATUS,
    ),
    Reason.READINESS_LOST: (
        "readiness comes and goes: check the probe's time limits and the load",
        "",
    ),
    Reason.NOT_READY: (
        "the containers run and their readiness probe does not pass: check both",
        "",
    ),
    Reason.UNSCHEDULABLE: (
        "no node takes the pods: compare their requests, selectors and tolerations with:",
        "kubectl describe nodes {cluster}",
    ),
    Reason.REPLICA_SET_CREATE_ERROR: (
        "mend what the controller could not create, then apply again",
        "",
    ),
    Reason.CONTROLLER_NOT_OBSERVING: (
        "kube-controller-manager does not act on Deployments: ask who runs the cluster",
        "",
    ),
    Reason.SET_INCOMPLETE: (
        "restore by hand what could not be returned; it is named among the causes",
        "",
    ),
    Reason.SIBLING_FAILED: (
        "nothing was found against it: mend the Deployment that failed, then apply again",
        "",
    ),
    Reason.PROGRESS_DEADLINE_EXCEEDED: ("see what it waits for:", _STATUS),
    Reason.TIMEOUT: (
        "if it is merely slow, raise --timeout; see what it waits for:",
        _STATUS,
    ),
    Reason.SUPERSEDED: ("see what runs, and apply again if yours is to win:", _HISTORY),
    Reason.DELETED: ("somebody deleted it: apply again if it is still wanted", ""),
    Reason.PAUSED: (
        "when whoever paused it agrees, resume it:",
        "rollout-gate resume {name} {place}",
    ),
    Reason.REJECTED: ("mend what the server names, then apply again", ""),
    Reason.IRREVERSIBLE: (
        "give the object a new name in the manifest, so that the old one stays to return to",
        "",
    ),
    Reason.APPLY_REJECTED: ("mend what the server names, then apply again", ""),
    Reason.GITOPS_REVERTED: ("another tool applies the failed version: go back at its source", ""),
    Reason.LOCKED: ("let the other attempt come to its end, then apply again", ""),
    Reason.NOT_RESTORED: (
        "find out what alters it on its way in:",
        "kubectl get mutatingwebhookconfigurations {cluster}",
    ),
}


def _crash(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    """Lead to what the container said that crashes; where it said nothing, do not claim so."""
    name = worst["causes"][0]["message"].partition(":")[0] if worst["causes"] else ""
    container = name.removeprefix(_INIT_CONTAINER)
    called = name if name != container else f"container {name}" if name else "its container"
    pieces = [p for p in worst["evidence"] if p["pod"] and p["container"] in (container, "")]
    if any(piece["kind"] == "log" for piece in pieces):
        text = f"read the end of the log of {called}, mend what it names, then apply again"
    elif any(piece["kind"] == "termination" and "\n" in piece["text"] for piece in pieces):
        text = f"read what {called} said as it ended, mend that, then apply again"
    else:
        text = f"find out why {called} ended: neither a log nor a last word of it could be read"
    yield Step(text)
    if pieces and worst["running"] in ("new", "mixed"):
        words = [
            *_place(result, worst),
            pieces[0]["pod"],
            "-c",
            container or pieces[0]["container"],
        ]
        yield Step("more of its log:", shlex.join(["kubectl", "logs", "--previous", *words]))


def _image(_: Result, worst: DeploymentResult) -> Iterator[Step]:
    served = worst["baseline"]["images"] if worst["baseline"] is not None else []
    changed = [image for image in worst["new"]["images"] if image not in served]
    command = shlex.join(["docker", "manifest", "inspect", changed[0]]) if changed else ""
    yield Step("check that the tag exists and that the pull secret may read it:", command)


def _denied(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    if any("quota" in cause["message"] for cause in worst["causes"]):
        command = shlex.join(["kubectl", "describe", "resourcequota", *_place(result, worst)])
        yield Step("a rollout needs room for maxSurge: raise the quota or ask for less:", command)
    else:
        yield Step("the message names the policy or webhook that refuses the pods")


def _conflict(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    managers = _MANAGER.findall(" ".join(cause["message"] for cause in worst["causes"]))
    if not managers:
        yield _step(
            result, worst, "it changed while it was applied: look, then apply again:", "history"
        )
        return
    flags = [word for name in dict.fromkeys(managers) for word in ("--take-over", name)]
    yield Step("to take their fields over for good, apply with:", shlex.join(flags))
    yield Step("to overwrite their values this once, apply with:", "--force-conflicts")


def _checks(result: Result, worst: DeploymentResult) -> Iterator[Step]:
    """Lead to the numbers; what went back is no version that could be asked about any more."""
    if worst["outcome"] == Outcome.REFUSED:
        return
    gone = worst["running"] in ("baseline", "none")
    text = "ask the same of what runs now" if gone else "ask the checks again, step by step"
    yield _step(result, worst, f"{text} (with this run's check flags):", "checks", "--explain")
    if worst["outcome"] == Outcome.INCONCLUSIVE:
        yield from _undo(result, worst, "if it is bad after all, return to what served before:")


def _unreachable(_: Result, worst: DeploymentResult) -> Iterator[Step]:
    if worst["outcome"] == Outcome.REFUSED:
        yield from _ALONE[Reason.UNREACHABLE]


_DERIVED: dict[str, Callable[[Result, DeploymentResult], Iterator[Step]]] = {
    Reason.CRASH_LOOP: _crash,
    Reason.IMAGE_PULL: _image,
    Reason.POD_CREATE_DENIED: _denied,
    Reason.CONFLICT: _conflict,
    Reason.UNREACHABLE: _unreachable,
    Reason.CHECK_FAILED: _checks,
    Reason.CHECK_INCONCLUSIVE: _checks,
    Reason.CHECK_ERROR: _checks,
}
