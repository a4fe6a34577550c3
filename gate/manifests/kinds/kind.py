"""What a manifest's reader has to know of a kind: a row of the table of kinds."""

from __future__ import annotations

import enum
from typing import Final

from gate.core.frozen import dataclass
from gate.manifests.kinds.rules import Rule

POD_TEMPLATE: Final = ("spec", "template", "spec")
"""Where workloads describe their pods."""


class Rank(enum.IntEnum):
    """The order of application: what others depend on comes first, what lets requests in last."""

    CLUSTER = enum.auto()
    LIMITS = enum.auto()
    IDENTITIES = enum.auto()
    CONFIGURATION = enum.auto()
    CUSTOM = enum.auto()
    SERVICES = enum.auto()
    JOBS = enum.auto()
    WORKLOADS = enum.auto()
    SCALING = enum.auto()
    ROUTES = enum.auto()
    ADMISSION = enum.auto()


@dataclass(frozen=True, slots=True)
class Workload:
    """A kind that is linted, by `rules` in the order of their warnings, and usually judged.

    One that `runs_once` comes before or after the other workloads as its annotation says, and can
    leave its name to the gate.
    """

    rules: tuple[Rule, ...]
    is_judged: bool = True
    runs_once: bool = False


@dataclass(frozen=True, slots=True)
class UpdateLimits:
    """What the server refuses to change in an object of a kind.

    `fixed_fields` are fields of `spec` that it never changes, `instead` says what else can be done.
    """

    fixed_fields: tuple[str, ...] = ()
    instead: str = ""


NO_UPDATE_LIMITS: Final = UpdateLimits()


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind; `versions` are those that supported servers serve, newest first.

    `pod_spec` is the path to the spec of the pods that an object of this kind makes, or empty.
    The rollout of a `workload` is followed to a verdict, unless that says otherwise.
    """

    group: str
    versions: tuple[str, ...]
    name: str
    plural: str
    rank: Rank
    namespaced: bool = True
    usual: bool = False
    pod_spec: tuple[str, ...] = ()
    update_limits: UpdateLimits = NO_UPDATE_LIMITS
    workload: Workload | None = None

    @property
    def is_judged(self) -> bool:
        """Whether its rollouts are followed to a verdict."""
        return self.workload is not None and self.workload.is_judged

    @property
    def runs_once(self) -> bool:
        """Whether its objects run to an end."""
        return self.workload is not None and self.workload.runs_once

    @property
    def api_version(self) -> str:
        """The newest version, as objects name it."""
        return f"{self.group}/{self.versions[0]}".removeprefix("/")


def usual(
    api_version: str,
    name: str,
    plural: str,
    rank: Rank,
    *pod_spec: str,
    older: tuple[str, ...] = (),
) -> Kind:
    """Return a kind that a manifest may hold without `--allow-kind`."""
    group, _, version = api_version.rpartition("/")
    return Kind(group, (version, *older), name, plural, rank, usual=True, pod_spec=pod_spec)
