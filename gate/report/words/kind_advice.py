"""What to do about the reasons of one kind of workload, in the words of that kind."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.cluster_name import ClusterName
from gate.report.kinds import registry
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.attempt_advice import Step

_SUBJECT = "{subject}"


def kind_advice(reason: str, result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Yield what the workload's kind says about a reason; nothing if it says no more than others.

    Advice about the object that stands in the way is left out if no single one does.
    """
    cluster = ClusterName(result["context"], result["kubeconfig"])
    subject, message = _subject(reason, worst), _message(reason, worst)
    for advice in registry.of_entry(worst).steps.get(reason, ()):
        if not subject and _SUBJECT in f"{advice.text}{advice.command}":
            continue
        if advice.said not in message:
            continue
        words = advice.command.format(
            name=shlex.quote(registry.argument_of(worst)),
            bare=shlex.quote(worst["name"]),
            place=shlex.join(cluster.flags(worst["namespace"])),
            cluster=shlex.join(cluster.flags()),
            subject=shlex.quote(subject),
        )
        yield Step(advice.text.format(subject=subject), words.rstrip())


def _message(reason: str, worst: WorkloadResult) -> str:
    """Return what is said of a reason: that with which the workload ended, or one of its causes."""
    if reason == worst["reason"]:
        return worst["message"]
    found = (cause["message"] for cause in worst["causes"] if cause["reason"] == reason)
    return next(found, "")


def _subject(reason: str, worst: WorkloadResult) -> str:
    """Return the object that a cause is about, "" if it is about no single one."""
    found = (cause["subject"] for cause in worst["causes"] if cause["reason"] == reason)
    return next(found, "")
