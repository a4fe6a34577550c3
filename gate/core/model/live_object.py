"""An object as the API server has it, with what the rollout is judged by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from gate.core.frozen import dataclass
from gate.core.model.body import Body
from gate.core.model.fact import Fact
from gate.core.model.objects import Ref, Workload
from gate.core.model.readiness import UNJUDGED, Readiness


@dataclass(frozen=True, slots=True)
class LiveObject:
    """An object as a read or a write returned it.

    `body` is the whole object without status; `managed` is its `metadata.managedFields` under
    the key "managedFields"; `workload` is set for kinds that are judged. `readiness` is what its
    status says of it, and no part of what the object is.
    """

    ref: Ref
    uid: str
    resource_version: str
    body: Body
    managed: Body
    workload: Workload | None = None
    readiness: Readiness = field(default=UNJUDGED, compare=False)

    @property
    def is_paused(self) -> bool:
        """Whether it is a workload whose rollout is paused."""
        return self.workload is not None and self.workload.paused

    def thaw_managed_fields(self) -> list[dict[str, Any]]:
        """Return `metadata.managedFields`, for the caller to change."""
        entries: list[dict[str, Any]] = self.managed.thaw().get("managedFields") or []
        return entries


LiveFacts = Mapping[Ref, Fact[LiveObject]]
"""Objects as they were read, as far as that is known."""
