"""What `checks` is about: the checks that are meant, their workloads, and the version that runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from gate.app.preflight.check_subjects import named_by
from gate.app.preflight.manifest_reading import read_manifest
from gate.app.preflight.single_questions import BEGUN_SECONDS_AGO
from gate.app.runtime.live_state import Live
from gate.app.runtime.workload_names import workload_ref
from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.spec import Check, share_alpha
from gate.core.kinds.check_variables import is_measured, variables_of
from gate.core.model.objects import Ref, Revision


def choose_checks(settings: Settings, names: Sequence[str]) -> tuple[Check, ...]:
    """Return the checks; if workloads are named, without those about others.

    They share alpha with all others of a rollout.
    """
    everything = share_alpha(all_checks(settings))
    if not names or settings.file:
        return everything
    refs = [workload_ref("", name) for name in names]
    return tuple(one for one in everything if any(map(one.is_about, refs)))


def list_refs(
    settings: Settings, names: Sequence[str], wanted: Sequence[Check], stdin: BinaryIO
) -> list[Ref]:
    """Return the manifest's workloads and those named, or else those that checks name.

    Their namespace is "" while nothing has set it.
    """
    listed = read_manifest(settings, stdin, "").workloads if settings.file else ()
    refs = [item.ref for item in listed if is_measured(item.ref)]
    there = {(ref.kind, ref.name) for ref in refs}
    named = [workload_ref("", name) for name in names]
    refs += [ref for ref in named if (ref.kind, ref.name) not in there]
    if not refs:
        refs = [workload_ref("", one.deployment) for one in wanted if one.deployment]
    return list(dict.fromkeys(refs))


def names_a_namespace(settings: Settings, wanted: Sequence[Check]) -> bool:
    """Tell whether the namespace has to come from the cluster's configuration."""
    return settings.namespace is None and any("namespace" in named_by(one) for one in wanted)


def with_namespaces(refs: Sequence[Ref], namespace: str) -> list[Ref]:
    """Return the workloads, those without a namespace in this one."""
    placed = (replace(ref, namespace=ref.namespace or namespace) for ref in refs)
    return list(dict.fromkeys(placed))


def nobody(namespace: str, at: float) -> Subject:
    """Return the subject of a check that is about no workload."""
    return Subject(
        namespace,
        "",
        Version(),
        at - BEGUN_SECONDS_AGO,
        first_available_at=-math.inf,
        variables=variables_of(()),
    )


def subject_of(live: Live, at: float) -> Subject:
    """Return the live version as the new one, and another with available pods as the baseline.

    The window is the full one, however long the pods have existed.
    """
    current, other = live.snapshot.current(), _other(live)
    return Subject(
        namespace=live.object.ref.namespace,
        workload=live.object.ref.name,
        new=_version(current) or Version(),
        started_at=at - BEGUN_SECONDS_AGO,
        baseline=_version(other),
        revision=live.workload.revision,
        first_available_at=-math.inf,
        variables=variables_of((live.object.ref,)),
    )


def list_serving(live: Live, at: float) -> list[Subject]:
    """Return a subject for each version that has available pods; the live one alone if none has.

    Each has its version as the new one.
    """
    subject, snapshot = subject_of(live, at), live.snapshot
    serving = [one for one in snapshot.list_owned() if snapshot.count_pods(one).available]
    return [replace(subject, new=Version(one.name, one.label_value)) for one in serving] or [
        subject
    ]


def _version(revision: Revision | None) -> Version | None:
    if revision is None:
        return None
    return Version(revision.name, revision.label_value)


def _other(live: Live) -> Revision | None:
    current = live.snapshot.current()
    serving = [
        one
        for one in live.snapshot.list_owned()
        if live.snapshot.count_pods(one).available and (current is None or one.uid != current.uid)
    ]
    return max(serving, key=lambda one: one.revision or 0, default=None)
