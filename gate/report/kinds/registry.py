"""The workload kinds; whoever adds one adds its line to `WORKLOADS`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from gate.core.model.objects import Ref
from gate.report.kinds import daemon_set, deployment, job, stateful_set
from gate.report.kinds.kind import WorkloadWords

WORKLOADS: Final[tuple[WorkloadWords, ...]] = (
    deployment.DEPLOYMENT,
    stateful_set.STATEFUL_SET,
    daemon_set.DAEMON_SET,
    job.JOB,
)

DEFAULT: Final = deployment.DEPLOYMENT
"""What a name alone means, and an entry of a document of before, without `kind`."""

FAILURES: Final = frozenset().union(*(one.failures for one in WORKLOADS))
"""The reasons of kinds that are a version's own fault."""

LIMITS: Final[Mapping[str, str]] = {
    reason: limit for one in WORKLOADS for reason, limit in one.limits.items()
}
"""The classes of `--fail-fast` that decide the reasons of kinds."""

ENDS: Final = frozenset().union(*(one.ends for one in WORKLOADS))
"""The reasons of kinds with which a rollout has come to the end that was asked for."""

_BY_NAME: Final = {one.name: one for one in WORKLOADS}


def of_ref(ref: Ref) -> WorkloadWords:
    """Return the kind of a workload that was followed."""
    return _BY_NAME[ref.kind]


def of_entry(entry: Mapping[str, Any]) -> WorkloadWords:
    """Return the kind of a workload by its entry in a document, which a later version may know."""
    name = entry["kind"]
    return _BY_NAME.get(name) or WorkloadWords(name, version="revision", parts="pods")


def argument_of(entry: Mapping[str, Any]) -> str:
    """Return what names a workload on the gate's command line: its kind unless a name means it."""
    kind, name = of_entry(entry), str(entry["name"])
    return name if kind is DEFAULT else kind.call(name)


def is_workload(kind: str) -> bool:
    """Tell whether objects of a kind are judged, by the kind's name in a document."""
    return kind in _BY_NAME


def name_kinds(kinds: Iterable[WorkloadWords]) -> str:
    """Return the plural of the one kind that there is, or what several kinds are together."""
    found = {one.plural for one in kinds}
    return found.pop() if len(found) == 1 else "workloads"
