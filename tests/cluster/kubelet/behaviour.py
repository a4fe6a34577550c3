"""How a pod is asked to behave: the grammar of one annotation.

    rollout-gate.test/behaviour: crash=0.5;container=web;only=1, slow-termination=3

Clauses stand between commas. Each is a kind, for some kinds `=SECONDS`, and options after
semicolons: `container=NAME` (else the pod's first container, or its first init container for
`init-crash`), `only=N` (the first N pods of their ReplicaSet; the others are fine), `why=CAUSE`
(of a failed pull) and `code=N` (exit code of a crash). What no clause names is ready at once.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

ANNOTATION = "rollout-gate.test/behaviour"


class Kind(enum.StrEnum):
    """Everything that a container, or the last four: a pod, can be asked to do."""

    READY = "ready"
    NEVER_READY = "never-ready"
    FLAPPING = "flapping"
    IMAGE_PULL = "image-pull"
    IMAGE_PULL_TRANSIENT = "image-pull-transient"
    INVALID_IMAGE_NAME = "invalid-image-name"
    NEVER_PULL = "never-pull"
    CONFIG_ERROR = "config-error"
    CRASH = "crash"
    OOM = "oom"
    INIT_CRASH = "init-crash"
    READY_THEN_CRASH = "ready-then-crash"
    RESTART_ONCE = "restart-once"
    COMPLETE = "complete"
    UNSCHEDULABLE = "unschedulable"
    MOUNT_ERROR = "mount-error"
    EVICTED = "evicted"
    SLOW_TERMINATION = "slow-termination"


POD_KINDS = frozenset({Kind.UNSCHEDULABLE, Kind.MOUNT_ERROR, Kind.EVICTED, Kind.SLOW_TERMINATION})


class PullFailure(enum.StrEnum):
    """Why a registry does not give an image, as `why=` names it."""

    NOT_FOUND = "not-found"
    DENIED = "denied"
    RATE_LIMIT = "rate-limit"
    TIMEOUT = "timeout"


class BehaviourError(ValueError):
    """The annotation asks for something that does not exist."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that one container, or the pod, is asked to do."""

    kind: Kind
    seconds: float | None = None
    container: str | None = None
    only: int | None = None
    why: PullFailure = PullFailure.NOT_FOUND
    code: int = 1

    def applies_to(self, ordinal: int) -> bool:
        """Whether the pod that came as number `ordinal` of its ReplicaSet, from 0, is meant."""
        return self.only is None or ordinal < self.only


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All clauses that apply to one pod."""

    clauses: tuple[Clause, ...] = ()

    def of_pod(self, kind: Kind) -> Clause | None:
        """Return the pod's clause of `kind`, one of `POD_KINDS`."""
        return next((clause for clause in self.clauses if clause.kind is kind), None)

    def of_container(self, name: str, *, is_first: bool, is_init: bool) -> Clause | None:
        """Return the clause of one container; `is_first` among its like, init or not."""
        for clause in self.clauses:
            if clause.kind in POD_KINDS:
                continue
            unnamed = is_first and is_init == (clause.kind is Kind.INIT_CRASH)
            if clause.container == name or (clause.container is None and unnamed):
                return clause
        return None


def parse(annotation: str, ordinal: int = 0) -> Behaviour:
    """Return what the annotation asks of the pod with this ordinal; raises `BehaviourError`."""
    clauses = [_clause(text.strip()) for text in annotation.split(",") if text.strip()]
    return Behaviour(tuple(clause for clause in clauses if clause.applies_to(ordinal)))


def _clause(text: str) -> Clause:
    head, *options = (part.strip() for part in text.split(";"))
    name, _, seconds = head.partition("=")
    try:
        clause = Clause(Kind(name), float(seconds) if seconds else None)
        for option in options:
            clause = _with_option(clause, option)
    except ValueError as error:
        raise BehaviourError(f"{ANNOTATION}: {text!r}: {error}") from error
    return clause


def _with_option(clause: Clause, option: str) -> Clause:
    match option.partition("=")[::2]:
        case "container", container:
            return replace(clause, container=container)
        case "only", count:
            return replace(clause, only=int(count))
        case "why", why:
            return replace(clause, why=PullFailure(why))
        case "code", code:
            return replace(clause, code=int(code))
        case name, _:
            raise ValueError(f"no such option: {name}")
