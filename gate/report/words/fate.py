"""What became of a Deployment that did not go back: `--on-first-failure` may take it away."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import TypeVar

from gate.report.schema.result import DeploymentResult, Result
from gate.report.words.object_names import list_own_objects

_Key = TypeVar("_Key")


class Fate(Enum):
    """How a Deployment was left."""

    STAYS = auto()
    SCALED_TO_ZERO = auto()
    BEING_DELETED = auto()
    DELETED = auto()


GONE = (Fate.BEING_DELETED, Fate.DELETED)
"""What `--on-first-failure delete` makes of a Deployment that the run created."""


def fate_of(result: Result, deployment: DeploymentResult) -> Fate:
    """Return how the run left a Deployment, by what was done to it and by what runs."""
    done = {item["action"] for item in list_own_objects(result, deployment)}
    if "deleted" in done:
        return Fate.DELETED
    if "deleting" in done:
        return Fate.BEING_DELETED
    return Fate.SCALED_TO_ZERO if deployment["running"] == "none" else Fate.STAYS


def fate_words(fate: Fate, count: int) -> str:
    """Return how `count` Deployments were left, as the end of a sentence about them."""
    one = count == 1
    match fate:
        case Fate.STAYS:
            return "stays" if one else "stay"
        case Fate.SCALED_TO_ZERO:
            return f"{'is' if one else 'are'} scaled to 0"
        case Fate.BEING_DELETED:
            return f"{'is' if one else 'are'} being deleted"
        case Fate.DELETED:
            return f"{'was' if one else 'were'} deleted"


def group_deployments(
    deployments: Iterable[DeploymentResult], key: Callable[[DeploymentResult], _Key]
) -> list[tuple[_Key, list[DeploymentResult]]]:
    """Group Deployments by `key`, the groups in the order of their first members."""
    found: dict[_Key, list[DeploymentResult]] = {}
    for one in deployments:
        found.setdefault(key(one), []).append(one)
    return list(found.items())
