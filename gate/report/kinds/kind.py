"""What a report has to know of a kind of workload: its words, and those of its own reasons."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.remedy import Remedy

REPLICA_SET: Final = "ReplicaSet"


class Empty(enum.StrEnum):
    """Why a workload has no pod, in words."""

    SCALED_TO_ZERO = "scaled to 0"
    NO_NODE = "without a node to run on"


@dataclass(frozen=True, slots=True)
class Advice:
    """A sentence, and a command to copy or "".

    The command may hold `{name}`, the workload as the gate's commands take it, `{bare}`, its name
    alone, and the flags `{place}` and `{cluster}`. Either may hold `{called}`, the workload as
    people and kubectl call it, and `{subject}`, the object that stands in the way: advice with the
    latter is left out if no single one does. Advice with a `remedy` is for a reason that has it.
    Of what runs once, advice that `is_for_gone` is about one that is gone, the rest is not.
    """

    text: str
    command: str = ""
    remedy: Remedy = Remedy.NONE
    is_for_gone: bool = False


class Stage(enum.Enum):
    """How far something that runs once had come when it was last seen."""

    WAITING = enum.auto()
    """No container of it has run, and one may."""
    RUNNING = enum.auto()
    SUSPENDED = enum.auto()
    """Somebody has paused it: nothing of it runs, and it goes on once that ends."""
    ENDED = enum.auto()


@dataclass(frozen=True, slots=True)
class StageWords:
    """What is said of something that runs once and did not end well, at a stage.

    `did` is what it did, with `{did}` for whether it failed; `stays` is what of `{it}` stays, ""
    for nothing. `steps` say what to do about it where it is left so.
    """

    did: str
    stays: str = ""
    steps: tuple[Advice, ...] = ()


@dataclass(frozen=True, slots=True)
class WorkloadWords:
    """A kind whose rollouts are judged.

    `name` and `version` are the API's names of the kind and of the objects that keep its versions,
    which may be itself. `parts` are the resources that `kubectl get` shows of what belongs to it.

    Sentences about one workload: `ends` say by the reason with which it was not bad, where that is
    not plainly the new version, what `{name}` is; `{pods}` is how many pods run which revision.
    `stages` say how it did not end well, where it runs once and serves nothing.

    Of reasons: `failures` are the version's own fault, `steps` say what to do about each, in place
    of what holds for all kinds, and `limits` are the classes of `--fail-fast` that decide them.
    `end_of_pause` are the words after which kubectl ends a pause of `{called}`. `when_empty` is
    what one is that wants no pod, and has none.
    """

    name: str
    version: str
    parts: str
    ends: Mapping[str, str] = field(default_factory=dict)
    stages: Mapping[Stage, StageWords] = field(default_factory=dict)
    failures: frozenset[str] = frozenset()
    steps: Mapping[str, tuple[Advice, ...]] = field(default_factory=dict)
    limits: Mapping[str, str] = field(default_factory=dict)
    end_of_pause: tuple[str, ...] = ("rollout", "resume", "{called}")
    when_empty: Empty = Empty.SCALED_TO_ZERO

    @property
    def runs_once(self) -> bool:
        """Whether it comes to an end: nothing of it serves, and nothing takes back what it did."""
        return bool(self.stages)

    @property
    def has_surge(self) -> bool:
        """Whether new pods run beside the old ones where nobody has set `maxSurge`."""
        return self.version == REPLICA_SET

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

    def replica_set(self, version: str) -> str:
        """Return the name of what keeps a version if that is a ReplicaSet, else ""."""
        return version if self.version == REPLICA_SET else ""
