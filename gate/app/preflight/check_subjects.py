"""Which workload each check is about, and what is wrong with checks before asking any."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from gate.config import Settings
from gate.core.checks.spec import Check, Command
from gate.core.kinds.check_variables import OF_A_WORKLOAD, is_measured, variables_of
from gate.core.model.objects import Ref
from gate.errors import UsageError, UsageErrors

_MOST_NAMED: Final = 5
_ONE_FILE_EACH: Final = (
    "a check of what is deployed by itself belongs in a configuration of its own: --config FILE"
)


class UnfitChecks(UsageErrors):
    """All that is wrong with the checks of a run; `problems` has one line each. Exit 2."""


def named_by(check: Check) -> frozenset[str]:
    """Return the variables that a check's queries use."""
    return frozenset(name for query in check.queries for name in query.names)


def ref_of(check: Check, refs: Sequence[Ref]) -> Ref | None:
    """Return the workload of `refs` that a check is about, None if it is about no single one.

    UsageError if it names none of them, needs a single one and nothing says which, or names what
    one of its kind never has.
    """
    found = [ref for ref in refs if check.is_about(ref)]
    if check.deployment and not found:
        there = f"there is {_join_refs(refs)}" if refs else "there is no workload"
        why = f"check {check.name}: no workload that is judged is called {check.deployment}"
        raise UsageError(why, hint=f"{there}; {_ONE_FILE_EACH}")
    if len(found) == 1:
        _require_known_variables(check, found[0])
        return found[0]
    variables = sorted(named_by(check) & OF_A_WORKLOAD)
    if not variables:
        return None
    first = f"check {check.name}: ${{{variables[0]}}} is of one workload"
    if not found:
        hint = f"leave the variable out, or the check; {_ONE_FILE_EACH}"
        raise UsageError(f"{first}, and there is none", hint=hint)
    first_ref = found[0]
    is_unique = [ref.name for ref in found].count(first_ref.name) == 1
    which = first_ref.name if is_unique else str(first_ref)
    hint = f"say which by the check's key, whatever its kind: deployment: {which}"
    raise UsageError(f"{first}, and there are several: {_join_refs(found)}", hint=hint)


def _require_known_variables(check: Check, ref: Ref) -> None:
    if not is_measured(ref):
        return
    known = variables_of((ref,))
    foreign = sorted(named_by(check) & OF_A_WORKLOAD - frozenset(known.all))
    if foreign:
        names = " or ".join(f"${{{name}}}" for name in known.of_one_version)
        hint = (
            f"what tells versions of a {ref.kind} apart is {names}: select by a label of the series"
            " that has it (of a ready-made check by its key pods);"
            f" {_ONE_FILE_EACH}"
        )
        raise UsageError(f"check {check.name}: {ref} has no ${{{foreign[0]}}}", hint=hint)


def namespace_of(check: Check, refs: Sequence[Ref], namespace: str) -> str:
    """Return the namespace that a check is about, `namespace` if there is no workload.

    "" if there are several; UsageError if its query then uses `${namespace}`.
    """
    found = {ref.namespace for ref in refs if check.is_about(ref)} or {namespace}
    if len(found) == 1:
        return next(iter(found))
    if "namespace" in named_by(check):
        hint = "name the workload by the check's key deployment, whatever its kind"
        raise UsageError(
            f"check {check.name}: ${{namespace}} is one of several: {', '.join(sorted(found))}",
            hint=hint,
        )
    return ""


def require_answerable(settings: Settings, checks: Iterable[Check]) -> None:
    """Refuse checks that this machine has no means to answer, before connecting to a cluster.

    Raises UnfitChecks with every problem at once.
    """
    _refuse([problem for check in checks for problem in find_obstacles(settings, check)])


def require_askable(checks: Iterable[Check], refs: Sequence[Ref]) -> None:
    """Refuse checks for which `ref_of` or `namespace_of` fails; UnfitChecks as above."""
    _refuse([problem for check in checks for problem in _subject_problems(check, refs)])


def _refuse(found: Sequence[UsageError]) -> None:
    if found:
        raise UnfitChecks([(problem.message, problem.hint) for problem in found])


def _subject_problems(check: Check, refs: Sequence[Ref]) -> Iterator[UsageError]:
    try:
        ref_of(check, refs)
        namespace_of(check, refs, "")
    except UsageError as error:
        yield error


def find_obstacles(settings: Settings, check: Check) -> Iterator[UsageError]:
    """Yield what keeps this machine from answering a check, whatever the cluster is."""
    if check.queries and not settings.prometheus_url:
        hint = "pass --prometheus-url URL, or set prometheus: url in the configuration"
        yield UsageError(f"check {check.name}: no Prometheus is configured", hint=hint)
    if isinstance(check.probe, Command):
        yield from _missing_program(check, check.probe.arguments[0])


def _missing_program(check: Check, program: str) -> Iterator[UsageError]:
    if shutil.which(program, path=os.environ.get("PATH", os.defpath)) is None:
        hint = "commands run on this machine and without a shell"
        yield UsageError(f"check {check.name}: no program {program[:200]!a} is found", hint=hint)


def _join_refs(refs: Sequence[Ref]) -> str:
    more = f" and {len(refs) - _MOST_NAMED} more" if len(refs) > _MOST_NAMED else ""
    return ", ".join(str(ref) for ref in refs[:_MOST_NAMED]) + more
