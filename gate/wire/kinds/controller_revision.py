"""apps/v1 ControllerRevision of a StatefulSet or a DaemonSet: its JSON, and the core's value."""

from __future__ import annotations

from typing import Final

from msgspec import Raw, Struct
from msgspec.json import Decoder

from gate.core.kinds import controller_revision as core
from gate.core.kinds.daemon_set.objects import BOOKKEEPING, TEMPLATE_GENERATION
from gate.core.model.body import Body
from gate.core.model.objects import Template
from gate.wire import build, shapes
from gate.wire.kinds.kind import RecordedFields, WatchedKind

HASH_LABEL: Final = "controller-revision-hash"
"""The label by which pods name their revision; a DaemonSet's revisions carry it too."""


_NAMES: Final = {
    "change_cause": "kubernetes.io/change-cause",
    "template_generation": TEMPLATE_GENERATION,
}


class Annotations(Struct, rename=_NAMES, gc=False):
    """The annotations that are read; controllers copy them from the workload."""

    change_cause: str | None = None
    template_generation: str | None = None


class Labels(Struct, rename={"pod_hash": HASH_LABEL}, gc=False):
    """The one label that is read, of a DaemonSet's revisions."""

    pod_hash: str | None = None


class Meta(shapes.Meta):
    """ObjectMeta, with what the controllers write into it."""

    annotations: Annotations | None = None
    labels: Labels | None = None


class DataSpec(shapes.Shape):
    """The part of the workload's spec that is kept."""

    template: Raw = Raw()


class Data(shapes.Shape):
    """A patch of the workload (`getPatch` of both controllers); other owners keep other things."""

    spec: DataSpec | None = None


class ControllerRevision(shapes.Shape, tag_field="kind", tag="ControllerRevision"):
    """apps/v1 ControllerRevision."""

    metadata: Meta
    data: Raw = Raw()
    revision: int | None = None


_DATA: Final = Decoder(Data)
_NO_TEMPLATE: Final = Template(Body.of({}), ())


def build_controller_revision(found: ControllerRevision) -> core.ControllerRevision:
    """Build an apps/v1 ControllerRevision; one that keeps something else has an empty template."""
    meta = found.metadata
    name, annotations = build.line(meta.name), meta.annotations or Annotations()
    return core.ControllerRevision(
        name=name,
        namespace=build.line(meta.namespace),
        uid=meta.uid or "",
        resource_version=meta.resource_version or "",
        owner_uid=build.owner_uid(meta),
        revision=found.revision,
        deleting=meta.deletion_timestamp is not None,
        created_at=build.line(meta.creation_timestamp),
        change_cause=build.line(annotations.change_cause),
        template=_template(bytes(found.data)),
        template_generation=build.number(annotations.template_generation),
        label_value=build.line((meta.labels or Labels()).pod_hash) or name,
    )


def _template(data: bytes) -> Template:
    try:
        spec = _DATA.decode(data).spec
        return build.template(bytes(spec.template), HASH_LABEL) if spec else _NO_TEMPLATE
    except ValueError:
        return _NO_TEMPLATE


CONTROLLER_REVISION: Final = WatchedKind(
    core.CONTROLLER_REVISION,
    "apps/v1",
    ControllerRevision,
    core.ControllerRevision,
    build_controller_revision,
    RecordedFields(
        entered=frozenset({"data"}),
        annotations=BOOKKEEPING,
    ),
)
