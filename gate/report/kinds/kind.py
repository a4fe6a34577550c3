"""What a report has to know of a kind of workload: its words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkloadKind:
    """A kind whose rollouts are judged.

    `name` and `version` are the API's names of the kind and of the objects that keep its versions.
    `parts` are the resources that `kubectl get` shows of what belongs to it.
    """

    name: str
    version: str
    parts: str

    @property
    def plural(self) -> str:
        """Return several of them in a sentence."""
        return f"{self.name}s"

    def call(self, name: str) -> str:
        """Return what people call a workload of this kind, as in `deployment/web`."""
        return f"{self.name.lower()}/{name}"

    def call_version(self, name: str) -> str:
        """Return what people call what keeps a version of it, as in `replicaset/web-5d4`."""
        return f"{self.version.lower()}/{name}"
