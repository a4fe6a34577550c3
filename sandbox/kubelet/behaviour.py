"""How a pod is asked to behave: the grammar of one annotation.

    sandbox.rollout-gate.dev/behaviour: crash=0.5;container=web;only=1, slow-termination=3s

Clauses stand between commas. Each is a kind, for some kinds `=T` (a duration), and options after
semicolons: `container=NAME` (else the pod's first container, or its first init container for
`init-crash`), `only=N` (the first N pods of their ReplicaSet, or of a revision of a StatefulSet or
DaemonSet; the others are fine), `node=NAME` (the pods on that node), `why=CAUSE` (of a failed pull)
and `code=N` (exit code of a crash). What no clause names is ready at once.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from sandbox.json import JSON
from sandbox.kubelet import logs
from sandbox.times import parse_seconds

ANNOTATION: Final = "sandbox.rollout-gate.dev/behaviour"


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


POD_KINDS: Final = frozenset(
    {Kind.UNSCHEDULABLE, Kind.MOUNT_ERROR, Kind.EVICTED, Kind.SLOW_TERMINATION}
)
START_KINDS: Final = frozenset(
    {
        Kind.IMAGE_PULL,
        Kind.IMAGE_PULL_TRANSIENT,
        Kind.INVALID_IMAGE_NAME,
        Kind.NEVER_PULL,
        Kind.CONFIG_ERROR,
    }
)
"""What goes wrong before a container runs: one that runs already is spared until it restarts."""

_TIMELESS: Final = frozenset(
    {Kind.NEVER_READY, Kind.INVALID_IMAGE_NAME, Kind.NEVER_PULL, Kind.MOUNT_ERROR}
)
_WITH_CODE: Final = frozenset(
    {Kind.CRASH, Kind.INIT_CRASH, Kind.READY_THEN_CRASH, Kind.RESTART_ONCE}
)


class PullFailure(enum.StrEnum):
    """Why a registry does not give an image, as `why=` names it."""

    NOT_FOUND = "not-found"
    DENIED = "denied"
    RATE_LIMIT = "rate-limit"
    TIMEOUT = "timeout"


OPTIONS: Final = ("container", "only", "node", "why", "code")
"""What can stand after a clause's semicolons."""


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a text, and how many characters stand before it."""

    offset: int
    message: str


class BehaviourError(ValueError):
    """A text asks for something that does not exist; `problems` has every mistake in it."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class Clause:
    """One thing that one container, or the pod, is asked to do."""

    kind: Kind
    seconds: float | None = None
    container: str | None = None
    only: int | None = None
    node: str | None = None
    why: PullFailure = PullFailure.NOT_FOUND
    code: int = 1

    def applies_to(self, ordinal: int, node: str) -> bool:
        """Whether a pod on `node` is meant that came as number `ordinal`, from 0, of its like."""
        return self.node in (None, node) and (self.only is None or ordinal < self.only)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """All clauses that apply to one pod; of several for the same container the first holds."""

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


def parse(text: str) -> tuple[Clause, ...]:
    """Return the clauses of an annotation; BehaviourError names everything that is wrong."""
    clauses: list[Clause] = []
    problems: list[Problem] = []
    for offset, part in _parts(text, ","):
        try:
            clauses += [_clause(part, offset)] if part else []
        except BehaviourError as error:
            problems.extend(error.problems)
    if problems:
        raise BehaviourError(problems)
    return tuple(clauses)


def behaviour_of(clauses: Sequence[Clause], ordinal: int, node: str) -> Behaviour:
    """Return what clauses ask of a pod on `node` that came as number `ordinal`, from 0."""
    return Behaviour(tuple(clause for clause in clauses if clause.applies_to(ordinal, node)))


def _clause(text: str, offset: int) -> Clause:
    (_, head), *options = _parts(text, ";")
    problems: list[Problem] = []
    try:
        clause = _parse_head(head)
        for at, option in options:
            try:
                clause = _with_option(clause, option)
            except ValueError as error:
                problems.append(Problem(offset + at, str(error)))
    except ValueError as error:
        raise BehaviourError([Problem(offset, str(error))]) from error
    if problems:
        raise BehaviourError(problems)
    return clause


def _parse_head(head: str) -> Clause:
    name, given, duration = (part.strip() for part in head.partition("="))
    if name not in set(Kind):
        raise ValueError(f"no such behaviour: {name}; there are {', '.join(Kind)}")
    kind = Kind(name)
    if not given:
        return Clause(kind)
    if kind in _TIMELESS:
        raise ValueError(f"{name} takes no duration")
    try:
        return Clause(kind, parse_seconds(duration))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _with_option(clause: Clause, text: str) -> Clause:
    name, _, value = (part.strip() for part in text.partition("="))
    if name not in OPTIONS:
        raise ValueError(f"no such option: {name}; there are {', '.join(OPTIONS)}")
    match name:
        case "container" if value and clause.kind not in POD_KINDS:
            return replace(clause, container=value)
        case "only" if value.isdecimal():
            return replace(clause, only=int(value))
        case "node" if value:
            return replace(clause, node=value)
        case "why" if clause.kind is Kind.IMAGE_PULL:
            if value not in set(PullFailure):
                raise ValueError(f"no such cause: {value}; there are {', '.join(PullFailure)}")
            return replace(clause, why=PullFailure(value))
        case "code" if value.isdecimal() and clause.kind in _WITH_CODE:
            return replace(clause, code=int(value))
    raise ValueError(f"{clause.kind} takes no {text}")


def _parts(text: str, separator: str) -> Iterator[tuple[int, str]]:
    """Yield what stands between separators, stripped, with the offset of each."""
    offset = 0
    for part in text.split(separator):
        yield offset + len(part) - len(part.lstrip()), part.strip()
        offset += len(part) + 1


class Source(Protocol):
    """What pods are asked to do that do not say it themselves; it may change with time."""

    @property
    def outranks_annotations(self) -> bool:
        """Whether what it asks of a pod goes before the pod's own annotation."""

    def clauses(self, pod: JSON) -> Sequence[Clause]:
        """Return what is asked of a pod now."""

    def log(self, image: str) -> str:
        """Return what a container of an image writes, as the annotation for logs has it."""


class Silence:
    """A source that asks for nothing: every pod is healthy."""

    outranks_annotations = False

    def clauses(self, _pod: JSON) -> Sequence[Clause]:
        """Return nothing."""
        return ()

    def log(self, _image: str) -> str:
        """Return nothing."""
        return ""


def clauses_of(pod: JSON, source: Source) -> tuple[Clause, ...]:
    """Return what is asked of a pod, most binding first. BehaviourError.

    Its own annotation outweighs the source, unless that outranks it.
    """
    asked = annotation(pod, ANNOTATION)
    if not asked:
        return tuple(source.clauses(pod))
    clauses = parse(asked)
    names = container_names(pod)
    strangers = {clause.container for clause in clauses} - {None, *names}
    if strangers:
        message = f"no such container: {', '.join(sorted(map(str, strangers)))}; there are"
        raise BehaviourError([Problem(0, f"{message} {', '.join(names)}")])
    return (*source.clauses(pod), *clauses) if source.outranks_annotations else clauses


def log_of(pod: JSON, image: str, source: Source) -> str:
    """Return what a pod's container of an image writes; the pod's annotation outweighs."""
    return annotation(pod, logs.ANNOTATION) or source.log(image)


def annotation(item: JSON, name: str) -> str:
    """Return an annotation of an object, empty where it has none."""
    return str((item["metadata"].get("annotations") or {}).get(name, ""))


def container_names(pod: JSON) -> list[str]:
    """Return the names of a pod's containers, ordinary ones first."""
    spec = pod["spec"]
    return [each["name"] for each in (*spec["containers"], *spec.get("initContainers", ()))]
