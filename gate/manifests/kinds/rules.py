"""The rules of the lint: those of pods and replicas, which kinds of workload share."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.manifests.body import containers_at, value_at
from gate.manifests.image_reference import is_pinned
from gate.manifests.source import escape_line


class LintCode(enum.StrEnum):
    """The warnings, by the name that silences them."""

    MUTABLE_TAG = "mutable-tag"
    NO_READINESS_PROBE = "no-readiness-probe"
    NO_MIN_READY_SECONDS = "no-min-ready-seconds"
    ONE_REPLICA = "one-replica"
    TIMEOUT_BEFORE_DEADLINE = "timeout-before-deadline"
    LONE_JOB = "lone-job"

    @property
    def of_several(self) -> str:
        """What it says of several workloads of which it has different things to say."""
        return _OF_SEVERAL[self]


_OF_SEVERAL: Final[Mapping[LintCode, str]] = {
    LintCode.MUTABLE_TAG: (
        "some of their images can become another one: name a version or a digest"
    ),
    LintCode.NO_READINESS_PROBE: (
        "containers without a readiness probe: a pod counts as ready once it runs"
    ),
    LintCode.NO_MIN_READY_SECONDS: "minReadySeconds is not set",
    LintCode.ONE_REPLICA: "one replica, or no number of them: one node takes the service down",
    LintCode.TIMEOUT_BEFORE_DEADLINE: (
        "--timeout may end a stuck rollout as Timeout before progressDeadlineSeconds finds it stuck"
        " (ProgressDeadlineExceeded): give --timeout more than 5 s on top of that"
    ),
    LintCode.LONE_JOB: "a Job of another name, as of the next version, may run beside them",
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A workload that is linted, with the path to its pods' spec.

    `timeout_seconds` None is auto; `is_scaled` is whether an autoscaler sets its replicas,
    `is_alone` whether all of its manifest runs once.
    """

    body: Mapping[str, Any]
    pod_spec: tuple[str, ...]
    timeout_seconds: float | None
    is_scaled: bool
    is_alone: bool

    def containers(self, *, init: bool = True) -> list[dict[str, Any]]:
        """Return the containers of its pods, with init containers unless `init` is false."""
        return containers_at(self.body, self.pod_spec, init=init)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule; `find` returns its warning, "" if there is nothing to warn of."""

    code: LintCode
    find: Callable[[Subject], str]


def _find_mutable_tags(subject: Subject) -> str:
    images = [str(container.get("image") or "") for container in subject.containers()]
    mutable = sorted({escape_line(image) for image in images if image and not is_pinned(image)})
    if not mutable:
        return ""
    return f"{', '.join(mutable)} can become another image: name a version or a digest"


def _describe_unprobed(subject: Subject) -> str:
    names = [
        escape_line(container["name"], 80)
        for container in subject.containers(init=False)
        if not container.get("readinessProbe")
    ]
    if not names:
        return ""
    return f"no readiness probe on {', '.join(names)}: a pod counts as ready once it runs"


def _find_haste(subject: Subject) -> str:
    if value_at(subject.body, "spec", "minReadySeconds"):
        return ""
    return "minReadySeconds is 0: a pod that crashes a moment later counts as available"


def _find_lonely_pod(subject: Subject) -> str:
    if subject.is_scaled:
        return ""
    replicas = value_at(subject.body, "spec", "replicas")
    if replicas is None:
        return "replicas is not set: one pod, unless something scales it"
    return "one replica: its node takes the service down" if replicas == 1 else ""


MUTABLE_TAGS: Final = Rule(LintCode.MUTABLE_TAG, _find_mutable_tags)
READINESS_PROBES: Final = Rule(LintCode.NO_READINESS_PROBE, _describe_unprobed)
MIN_READY_SECONDS: Final = Rule(LintCode.NO_MIN_READY_SECONDS, _find_haste)
SEVERAL_REPLICAS: Final = Rule(LintCode.ONE_REPLICA, _find_lonely_pod)
