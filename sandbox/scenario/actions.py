"""What others do to a cluster: the grammar of one event of a scenario, a verb and its words."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Target:
    """A Deployment; `namespace` is empty for the one in which the scenario plays."""

    name: str
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class Scale:
    """Set the replicas, as `kubectl scale`."""

    target: Target
    replicas: int


@dataclass(frozen=True, slots=True)
class Pause:
    """Pause or resume, as `kubectl rollout pause` and `resume`."""

    target: Target
    paused: bool


@dataclass(frozen=True, slots=True)
class Restart:
    """Start all pods anew, as `kubectl rollout restart`."""

    target: Target


@dataclass(frozen=True, slots=True)
class Supersede:
    """Set another image in the first container, as `kubectl set image`."""

    target: Target
    image: str


@dataclass(frozen=True, slots=True)
class Edit:
    """Set one field, as `kubectl edit`."""

    target: Target
    path: tuple[str, ...]
    value: Any


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the Deployment and what it owns."""

    target: Target


@dataclass(frozen=True, slots=True)
class DeletePods:
    """Delete pods, those of the newest ReplicaSet first."""

    target: Target
    count: int


@dataclass(frozen=True, slots=True)
class EvictPods:
    """Let the node evict pods, those of the newest ReplicaSet first."""

    target: Target
    count: int


@dataclass(frozen=True, slots=True)
class Quota:
    """Limit what the namespace may have (`spec.hard` of a ResourceQuota); None: no longer."""

    hard: Mapping[str, str] | None


Action = Scale | Pause | Restart | Supersede | Edit | Delete | DeletePods | EvictPods | Quota


class _WrongWords(ValueError):
    """The words after a verb are not what it takes."""


def parse(text: str) -> Action:
    """Return what an event asks for; ValueError says what there is to ask for."""
    verb, *words = text.split()
    if verb not in _VERBS:
        raise ValueError(f"no such event: {verb}; there are {', '.join(_VERBS)}")
    form, read = _VERBS[verb]
    try:
        return read(*words)
    except (TypeError, _WrongWords) as error:
        raise ValueError(f"{verb}: expected {f'{verb} {form}'.strip()}") from error


def _target(word: str) -> Target:
    namespace, _, name = word.rpartition("/")
    if not name or "/" in namespace:
        raise _WrongWords(word)
    return Target(name, namespace)


def _count(word: str) -> int:
    if not word.isdecimal():
        raise _WrongWords(word)
    return int(word)


def _scale(target: str, replicas: str) -> Action:
    return Scale(_target(target), _count(replicas))


def _pause(target: str) -> Action:
    return Pause(_target(target), paused=True)


def _resume(target: str) -> Action:
    return Pause(_target(target), paused=False)


def _restart(target: str) -> Action:
    return Restart(_target(target))


def _supersede(target: str, image: str) -> Action:
    return Supersede(_target(target), image)


def _edit(target: str, *change: str) -> Action:
    field, given, value = " ".join(change).partition("=")
    path = tuple(field.strip().split("."))
    if not given or not all(path):
        raise _WrongWords(field)
    return Edit(_target(target), path, _value(value.strip()))


def _value(text: str) -> Any:
    """Return a number, a truth value or null as such, everything else as text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _delete(target: str) -> Action:
    return Delete(_target(target))


def _delete_pods(target: str, count: str = "1") -> Action:
    return DeletePods(_target(target), _count(count))


def _evict_pods(target: str, count: str = "1") -> Action:
    return EvictPods(_target(target), _count(count))


def _quota(*limits: str) -> Action:
    if limits == ("none",):
        return Quota(None)
    pairs = [limit.partition("=") for limit in limits]
    if not pairs or not all(name and value for name, _, value in pairs):
        raise _WrongWords(limits)
    return Quota({name: value for name, _, value in pairs})


_VERBS: Final[dict[str, tuple[str, Callable[..., Action]]]] = {
    "scale": ("DEPLOYMENT REPLICAS", _scale),
    "pause": ("DEPLOYMENT", _pause),
    "resume": ("DEPLOYMENT", _resume),
    "restart": ("DEPLOYMENT", _restart),
    "supersede": ("DEPLOYMENT IMAGE", _supersede),
    "edit": ("DEPLOYMENT PATH=VALUE", _edit),
    "delete": ("DEPLOYMENT", _delete),
    "delete-pod": ("DEPLOYMENT [COUNT]", _delete_pods),
    "evict-pod": ("DEPLOYMENT [COUNT]", _evict_pods),
    "quota": ("RESOURCE=LIMIT ..., or quota none", _quota),
}
