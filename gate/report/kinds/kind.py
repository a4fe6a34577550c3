"""What a report has to know of a kind of workload: its words, and those of its own reasons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gate.core.model.outcome import AnyReason


@dataclass(frozen=True, slots=True)
class WorkloadWords:
    """A kind whose rollouts are judged.

    `name` and `version` are the API's names of the kind and of the objects that keep its versions.
    `parts` are the resources that `kubectl get` shows of what belongs to it. `ends` say of reasons
    of completion, where that is not plainly the new version, what `{name}` is. Of its own reasons,
    `hindrances` keep any version from starting, `steps` say what to do about each (a sentence and a
    command, as in `FIXED_STEPS`), and `limits` are the classes of `--fail-fast` that decide them.
    """

    name: str
    version: str
    parts: str
    ends: Mapping[str, str] = field(default_factory=dict)
    hindrances: frozenset[AnyReason] = frozenset()
    steps: Mapping[AnyReason, tuple[str, str]] = field(default_factory=dict)
    limits: Mapping[AnyReason, str] = field(default_factory=dict)

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
