"""The conditions of a pod's status, each with the time of its last transition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sandbox.json import JSON


@dataclass(frozen=True, slots=True)
class Why:
    """What a condition that does not hold gives for it."""

    reason: str
    message: str = ""


class Conditions:
    """Sets conditions; one that stays as it is keeps its time."""

    __slots__ = ("_by_type",)

    def __init__(self) -> None:
        self._by_type: dict[str, JSON] = {}

    def hold(self, wall: str, *types: str) -> None:
        """Let conditions be true."""
        for type_ in types:
            self._set(type_, "True", wall, {})

    def fail(self, wall: str, why: Why, *types: str) -> None:
        """Let conditions be false, for a reason."""
        told = {"reason": why.reason, **({"message": why.message} if why.message else {})}
        for type_ in types:
            self._set(type_, "False", wall, told)

    def render(self) -> list[JSON]:
        """Return them as `status.conditions`."""
        return list(self._by_type.values())

    def _set(self, type_: str, status: str, wall: str, told: JSON) -> None:
        before = self._by_type.get(type_, {})
        since = before["lastTransitionTime"] if before.get("status") == status else wall
        self._by_type[type_] = {
            "type": type_,
            "status": status,
            "lastTransitionTime": since,
            **told,
        }


def not_ready(names: Sequence[str]) -> Why:
    """Return why a pod is not ready whose containers of these names are not."""
    return Why("ContainersNotReady", f"containers with unready status: {_join_names(names)}")


def not_initialized(names: Sequence[str]) -> Why:
    """Return why a pod is not initialized whose init containers of these names are not done."""
    return Why(
        "ContainersNotInitialized", f"containers with incomplete status: {_join_names(names)}"
    )


def _join_names(names: Sequence[str]) -> str:
    """Return names as Go prints a list of strings."""
    return f"[{' '.join(names)}]"
