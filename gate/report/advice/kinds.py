"""What to do about the reasons of one kind of workload, in the words of that kind."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.cluster_name import ClusterName
from gate.core.model.remedy import Remedy
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.kinds.kind import Advice
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.object_names import is_gone_at_end
from gate.report.words.single_run import is_left_open, stage_of

_SUBJECT = "{subject}"


def kind_advice(reason: str, result: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Yield what the workload's kind says about a reason; nothing if it says no more than others.

    Advice about the object that stands in the way is left out if no single one does.
    """
    subject, remedy = _subject(reason, worst), _remedy(reason, worst)
    words = registry.of_entry(worst)
    is_gone = words.runs_once and is_gone_at_end(result, worst)
    for advice in words.steps.get(reason, ()):
        if advice.is_for_gone != is_gone:
            continue
        has_subject = subject or _SUBJECT not in f"{advice.text}{advice.command}"
        if has_subject and advice.remedy in (Remedy.NONE, remedy):
            yield _fill_in(advice, result, worst, subject)


def advise_on_left_runs(result: Result) -> Iterator[Step]:
    """Say what to do about what runs once and is left before its end."""
    for one in filter(is_left_open, result["workloads"]):
        words = registry.of_entry(one).stages
        stage = stage_of(one)
        for advice in words[stage].steps if stage is not None else ():
            yield _fill_in(advice, result, one)


def _fill_in(advice: Advice, result: Result, about: WorkloadResult, subject: str = "") -> Step:
    cluster = ClusterName(result["context"], result["kubeconfig"])
    called = registry.of_entry(about).call(about["name"])
    words = advice.command.format(
        name=shlex.quote(registry.argument_of(about)),
        bare=shlex.quote(about["name"]),
        called=shlex.quote(called),
        place=shlex.join(cluster.flags(about["namespace"])),
        cluster=shlex.join(cluster.flags()),
        subject=shlex.quote(subject),
    )
    return Step(advice.text.format(subject=subject, called=called), words.rstrip())


def _remedy(reason: str, worst: WorkloadResult) -> Remedy:
    """Return what it takes for pods to be replaced, by how the workload ended or by a cause."""
    if reason == worst["reason"] and worst["remedy"] not in (Remedy.NONE, Remedy.UNDO):
        return worst["remedy"]
    found = (cause["remedy"] for cause in worst["causes"] if cause["reason"] == reason)
    return next(found, Remedy.NONE)


def _subject(reason: str, worst: WorkloadResult) -> str:
    """Return the object that a cause is about, "" if it is about no single one."""
    found = (cause["subject"] for cause in worst["causes"] if cause["reason"] == reason)
    return next(found, "")
