"""What to do next if the reason of a run says it, and no workload says more."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gate.core.model.outcome import Outcome, Reason
from gate.report.schema.result import Result


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do; `command` is "" if there is none to run."""

    text: str
    command: str = ""


CHANGED_MEANWHILE: Final = (
    "somebody else changed it meanwhile: look at what they did, then run the same command again"
)
WITHOUT_A_WORKLOAD: Final[Mapping[str, tuple[Step, ...]]] = {
    Reason.INTERNAL_ERROR: (Step("this is a bug in rollout-gate: report it, with this run's log"),),
    Reason.USAGE: (Step("correct the command, the configuration or the manifest"),),
    Reason.LOCKED: (
        Step("once `rollout-gate locks` shows that the other attempt has ended, apply again"),
    ),
    Reason.FORBIDDEN: (
        Step(
            "ask for the rights that are missing; of a manifest, this prints the Role:",
            "rollout-gate preflight --rbac -f PATH",
        ),
    ),
    Reason.UNAUTHORIZED: (Step("get fresh credentials: the API server does not take these"),),
    Reason.UNREACHABLE: (Step("check the server's address, the network and the kubeconfig"),),
    Reason.GITOPS_MANAGED: (
        Step("judge what the other tool rolls out instead:", "rollout-gate verify NAME"),
        Step("or apply all the same with --allow-managed"),
    ),
    Reason.PROTECTED: (Step("this target is protected on purpose: check context and namespace"),),
    Reason.NOT_FOUND: (Step("check name, namespace and context"),),
    Reason.PAUSED: (Step("when whoever paused it agrees, an apply with --resume resumes it"),),
    Reason.OBJECT_NOT_READY: (
        Step(
            "see what its conditions and its controller say; an apply with --wait-for workloads"
            " leaves it aside"
        ),
    ),
    Reason.APPLY_REJECTED: (Step("correct what the server names, then apply again"),),
    Reason.REJECTED: (Step("correct what the server names, then apply again"),),
    Reason.CONFLICT: (Step(CHANGED_MEANWHILE),),
}
"""Advice by a run's reason, for runs that followed no workload or in which only it counts."""
_MANAGER: Final = re.compile(r'conflicts? with "([^"]+)"')
"""How the API server names a field manager in the answer to a server-side apply."""


def after_interruption(result: Result) -> Iterator[Step]:
    """Say whether to apply again what broke off, by whether anything was found against it."""
    has_ended = result["outcome"] in (Outcome.ROLLED_BACK, Outcome.FAILED)
    broke_off = has_ended and result["reason"] == Reason.INTERRUPTED
    if not broke_off or result["takes_back"]:
        return
    if any(one["causes"] or one["evidence"] for one in result["workloads"]):
        text = "what broke off was not judged to its end: look at what is shown of it before"
        yield Step(f"{text} you apply it again")
    else:
        yield Step("nothing was found against what broke off: apply it again if it is to run")


def claims_of(message: str) -> Iterator[Step]:
    """Say how an apply takes the fields of the managers in a message; nothing if it names none.

    Only commands that have these flags meet such a conflict.
    """
    managers = managers_in(message)
    if not managers:
        return
    yield Step("to take their fields over for good, apply with:", take_over_flags(managers))
    yield Step("to overwrite their values this once, apply with:", "--force-conflicts")


def managers_in(message: str) -> list[str]:
    """Return the field managers with which the server says that an apply conflicts."""
    return list(dict.fromkeys(_MANAGER.findall(message)))


def take_over_flags(managers: Iterable[str]) -> str:
    """Return the flags with which an apply takes over what these field managers own."""
    return shlex.join(word for name in managers for word in ("--take-over", name))


def parse_hint(hint: str) -> Step:
    """Return an error's hint as a step; it says more than the reason, and may end in a command."""
    text, _, command = hint.rpartition(": ")
    if not command.startswith(("rollout-gate ", "kubectl ")):
        return Step(hint)
    return Step(f"{text or 'see'}:", command)
