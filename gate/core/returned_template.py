"""The body that returns a Deployment to another ReplicaSet's pod template, all else as applied."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gate.core import ownership
from gate.core.effects import FIELD_MANAGER
from gate.core.events import LiveObject
from gate.core.objects import Template


def body_with_template(
    live: LiveObject, template: Template, take_over: Collection[str] = ()
) -> dict[str, Any]:
    """Return what our manager applies by now, `take_over` included, with another pod template.

    An apply of the template alone would reset replicas and deadline to their defaults. A pause is
    left out: it would hold back the return.
    """
    managed = live.managed.thaw()["managedFields"]
    taken = ownership.take_over(managed, (*take_over, FIELD_MANAGER)) or managed
    body = ownership.restoration(live.body.thaw(), taken, taken, forced=False)
    spec = {key: value for key, value in body.get("spec", {}).items() if key != "paused"}
    return {**body, "spec": {**spec, "template": _without_null(template)}}


def _without_null(template: Template) -> dict[str, Any]:
    """Return a template without the null that servers before 1.34 write into it."""
    body = template.body.thaw()
    metadata = body.get("metadata") or {}
    kept = {key: value for key, value in metadata.items() if value is not None}
    return {**body, "metadata": kept}
