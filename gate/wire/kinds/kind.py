"""What the room has to know of a kind to read it, and to record it without its secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, Generic, TypeVar

from msgspec import Struct

from gate.core.frozen import dataclass
from gate.core.model.objects import Watched, Workload
from gate.core.rollout.observations import Kind

Value_co = TypeVar("Value_co", bound=Watched, covariant=True)


@dataclass(frozen=True, slots=True)
class RecordedFields:
    """What a recording keeps of a kind, beyond what it keeps of every known kind.

    `entered` are names of fields whose contents the API defines, `kept` those whose text is no
    secret, `maps` those that are kept whole; `annotations` are the kind's own. What stands in its
    `status` under a name that is `left_out` is not recorded at all.
    """

    entered: frozenset[str] = frozenset()
    kept: frozenset[str] = frozenset()
    annotations: frozenset[str] = frozenset()
    maps: frozenset[str] = frozenset()
    left_out: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class WatchedKind(Generic[Value_co]):
    """One watched kind.

    `shape` is its JSON, tagged with the kind's name, and `build` makes the core's `value` of it:
    ValueError if it cannot.
    """

    kind: Kind
    api_version: str
    shape: type[Struct]
    value: type[Value_co]
    build: Callable[[Any], Value_co]
    recorded: RecordedFields = field(default_factory=RecordedFields)


@dataclass(frozen=True, slots=True)
class WorkloadFormat:
    """A kind whose rollouts are judged; `children` are the kinds that it owns, without Pods.

    `header_key` is the key under which the header of a recording has the name of such a workload,
    "" if the header has kind and name under `workload`.
    """

    watched: WatchedKind[Workload]
    children: tuple[WatchedKind[Watched], ...] = ()
    header_key: str = ""

    def header(self, name: str) -> Mapping[str, Any]:
        """Return how the header of a recording names a workload of this kind."""
        if self.header_key:
            return {self.header_key: name}
        return {"workload": {"kind": str(self.watched.kind), "name": name}}
