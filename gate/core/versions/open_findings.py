"""What was found of a pod template, and is not answered by pods that are ready."""

from __future__ import annotations

from gate.core.model.objects import Template
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest


def list_findings(history: History, template: Template) -> tuple[JudgedVersion, ...]:
    """Return how checks, and its own pods, left a pod template that was not verified since.

    They are the newest of each check, and of the pods, newest first.
    """
    digest = template_digest(template)
    newest: dict[str, JudgedVersion] = {}
    for one in reversed(history.versions):
        if one.template == digest and one.verified:
            break
        if one.template == digest and _is_open(one, history):
            newest.setdefault(one.check, one)
    return tuple(newest.values())


def _is_open(version: JudgedVersion, history: History) -> bool:
    """Tell whether a check left a version, or its pods failed that were never verified.

    What was verified just so has run well before: pods that are ready again are enough.
    """
    if not version.is_left_by_pods:
        return version.is_left_by_check
    same = (one for one in history.once_verified if one.template == version.template)
    return not any(version.members.items() <= one.members.items() for one in same)
