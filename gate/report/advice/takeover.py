"""How a run takes over the fields that other field managers own: the same command, with flags."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator
from typing import Final

from gate.core.plan.replica_ownership import REPLICAS_PATH
from gate.core.ssa.managed_fields import KUBECTL_APPLIERS
from gate.report.advice.commands import cluster_of
from gate.report.advice.step import Step
from gate.report.kinds import registry
from gate.report.schema.result import Result

TAKEN_OVER_UNASKED: Final = {name for name, _ in KUBECTL_APPLIERS} - {"kubectl"}
"""Whose fields an apply takes over without a flag; `kubectl` scales and patches as well."""
_STDIN: Final = "<stdin>"
_MANAGER: Final = re.compile(r'conflicts? with "([^"]+)"')
"""How the API server names a field manager in the answer to a server-side apply."""
_FIELDS: Final = re.compile(r'conflicts? with "[^"]+"[^:]*: ([^;]+)')
"""The fields in conflict with one manager, as that answer lists them."""


def claims_of(result: Result, message: str) -> Iterator[Step]:
    """Say how a run takes the fields of the managers in a message; nothing if it names none.

    Only commands that have these flags meet such a conflict.
    """
    managers = managers_in(message)
    if not managers:
        return
    if result["command"] != "undo" and _is_about_replicas_alone(message):
        yield _step_again(result, "to leave the number of replicas as it is", "--replicas", "keep")
        yield _step_again(result, "to impose the manifest's", "--replicas", "apply")
        return
    yield taking_step(result, "to take their fields over for good", managers)
    text = "to overwrite their values this once"
    yield _step_again(result, text, "--force-conflicts")


def _is_about_replicas_alone(message: str) -> bool:
    """Tell whether a conflict is about the number of replicas and no other field."""
    lists = (found.split(",") for found in _FIELDS.findall(message))
    return {field.strip() for fields in lists for field in fields} == {REPLICAS_PATH}


def taking_step(result: Result, text: str, managers: Iterable[str]) -> Step:
    """Return the step that runs a command again so that it takes over what others own."""
    return _step_again(result, text, *take_over_flags(managers))


def managers_in(message: str) -> list[str]:
    """Return the field managers with which the server says that an apply conflicts."""
    return list(dict.fromkeys(_MANAGER.findall(message)))


def take_over_flags(managers: Iterable[str]) -> list[str]:
    """Return the flags with which an apply takes over what these field managers own."""
    return [word for name in managers for word in ("--take-over", name)]


def _step_again(result: Result, text: str, *more: str) -> Step:
    """Return the step with a run's command and more flags; of its own ones only the place is known.

    After a command that writes no manifest it is an `apply`; PATH stands for several files.
    """
    namespaces = {one["namespace"] for one in result["workloads"]}
    place = cluster_of(result).flags(namespaces.pop() if len(namespaces) == 1 else "")
    if result["command"] == "undo" and result["workloads"]:
        words = ["undo", registry.argument_of(result["workloads"][0])]
        text = f"{text}, undo again, with this run's other flags added:"
    else:
        files = {one["file"] for one in result["objects"]} - {""}
        words = ["apply", "-f", *(files if len(files) == 1 and _STDIN not in files else ["PATH"])]
        text = f"{text}, apply again, with this run's other flags added:"
    return Step(text, shlex.join(["rollout-gate", *words, *place, *more]))
