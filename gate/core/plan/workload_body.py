"""The bodies of writes to a workload that depend on its kind: another template, its pause."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Final

from gate.core.kinds.registry import is_workload, kind_of, kind_of_body
from gate.core.model.body import Body
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Container, Ref, Template
from gate.core.ssa import managed_fields

_DEFAULT_STRATEGY: Final = "RollingUpdate"
"""The `updateStrategy.type` of a StatefulSet or a DaemonSet that names none."""


def body_with_template(
    live: LiveObject, template: Template, take_over: Collection[str] = ()
) -> dict[str, Any]:
    """Return what our manager applies, with what it takes over, and with a revision's pod template.

    An apply of the template alone would reset replicas and deadline to their defaults. A pause is
    left out: it would block the return.
    """
    managed = live.thaw_managed_fields()
    taken = managed_fields.take_over(managed, (*take_over, FIELD_MANAGER)) or managed
    body = managed_fields.restoration(live.body.thaw(), taken, taken, forced=False)
    unpaused = without_pause(body)
    return {**body, "spec": {**unpaused.get("spec", {}), "template": _without_null(template)}}


def has_same_strategy(member: Body, live: LiveObject) -> bool:
    """Tell whether a body asks for the update strategy that a workload has.

    What the server defaults in it does not count.
    """
    asked, found = (
        (one.thaw().get("spec") or {}).get("updateStrategy") or {} for one in (member, live.body)
    )
    if asked.get("type", _DEFAULT_STRATEGY) != found.get("type", _DEFAULT_STRATEGY):
        return False
    named = asked.get("rollingUpdate") or {}
    return named.items() <= (found.get("rollingUpdate") or {}).items()


def without_pause(value: dict[str, Any]) -> dict[str, Any]:
    """Return a body without the pause of a workload; that of another kind stays as it is.

    No controller rolls out a version that returns together with a pause.
    """
    kind = kind_of_body(value)
    if kind is None or kind.pause_field not in value.get("spec", {}):
        return value
    spec = {key: entry for key, entry in value["spec"].items() if key != kind.pause_field}
    return {**value, "spec": spec}


def pause_body(ref: Ref) -> Body | None:
    """Return the merge patch that pauses a workload, None for what cannot be paused."""
    field = kind_of(ref).pause_field if is_workload(ref) else ""
    return Body.of({"spec": {field: True}}) if field else None


def resume_body(ref: Ref) -> Body:
    """Return the merge patch that resumes a paused workload."""
    return Body.of({"spec": {kind_of(ref).pause_field: None}})


def is_resumption(sent: object, ref: Ref) -> bool:
    """Tell whether what was sent for an object is the merge patch that resumes it."""
    return isinstance(sent, Body) and is_workload(ref) and sent == resume_body(ref)


def with_template(body: Body, source: Body) -> Body:
    """Return a body with the pod template of another one, itself if that has none."""
    value = body.thaw()
    template = (source.thaw().get("spec") or {}).get("template")
    if template is None:
        return body
    return Body.of({**value, "spec": {**value["spec"], "template": template}})


def _without_null(template: Template) -> dict[str, Any]:
    """Return a template without the null that servers before 1.34 write into it."""
    body = template.body.thaw()
    metadata = body.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if value is not None}
    return {**body, "metadata": kept}


def applied_template(body: Body, images: Iterable[CleanText]) -> Template | None:
    """Return the pod template as applied, of a workload without a revision that has its defaults.

    None for a body without one.
    """
    applied = body.thaw().get("spec", {}).get("template")
    containers = (Container(f"container {n}", image) for n, image in enumerate(images))
    return Template(Body.of(applied), tuple(containers)) if applied else None
