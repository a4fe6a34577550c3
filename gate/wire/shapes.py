"""The parts of the API's JSON that objects of several kinds share, as msgspec structs.

Names are those of the API. Unknown fields are skipped unread, managed fields among them, and
whatever the API may leave out or send as null may be None.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Shape(Struct, rename="camel", gc=False):
    """A part of an object, or an object."""


class Owner(Shape):
    """An entry of `metadata.ownerReferences`."""

    uid: str | None = None
    controller: bool | None = None


class Meta(Shape):
    """ObjectMeta."""

    name: str | None = None
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    generation: int | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    owner_references: list[Owner] | None = None


class Condition(Shape):
    """An entry of `status.conditions`, of any kind."""

    type: str | None = None
    status: str | None = None
    reason: str | None = None
    message: str | None = None
    last_transition_time: str | None = None
    last_update_time: str | None = None


class TemplateContainer(Shape):
    """Container, of a pod template."""

    name: str | None = None
    image: str | None = None


class PodSpec(Shape):
    """PodSpec, of a pod template."""

    init_containers: list[TemplateContainer] | None = None
    containers: list[TemplateContainer] | None = None


class TemplateMeta(Shape):
    """ObjectMeta, of a pod template."""

    labels: dict[str, str] | None = None


class PodTemplate(Shape):
    """PodTemplateSpec."""

    metadata: TemplateMeta | None = None
    spec: PodSpec | None = None


class NamedMeta(Shape):
    """What an object of any kind has to have, and who manages its fields."""

    name: str
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    managed_fields: list[dict[str, Any]] | None = None


class AnyObject(Shape):
    """An object of any kind."""

    api_version: str
    kind: str
    metadata: NamedMeta
