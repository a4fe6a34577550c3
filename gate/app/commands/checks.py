"""`checks`: asks every check now, against what runs now, for whoever writes or debugs them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from gate.app.command_context import connect
from gate.app.commands.running_version import (
    choose_checks,
    list_refs,
    names_a_namespace,
    nobody,
    subject_of,
    with_namespaces,
)
from gate.app.preflight.check_subjects import (
    find_obstacles,
    namespace_of,
    ref_of,
    require_answerable,
    require_askable,
)
from gate.app.preflight.single_questions import Job, ask_all, job
from gate.app.runtime import check_sources
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.live_state import read_live
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import argument_of
from gate.config import Settings
from gate.core.checks.measurement import unfit
from gate.core.checks.query_variables import Subject
from gate.core.checks.spec import Check
from gate.core.model.objects import Ref
from gate.errors import UsageError
from gate.report.check_report.asked_check import AskedCheck
from gate.report.check_report.document import checks_document
from gate.report.check_report.text import checks_explained, checks_table
from gate.report.schema.check_result import ChecksResult
from gate.report.style.style import Style


def checks(start: CommandStart, names: tuple[str, ...]) -> int:
    """Ask every check once and print the results; return the exit code of the worst.

    Connects to a cluster only if a check is about a workload or its namespace.
    """
    world, settings, console = start.world, start.settings, start.console
    wanted = choose_checks(settings, names)
    if not wanted:
        hint = "--check 'errors: QUERY <= 0.5', or checks: in rollout-gate.yaml"
        about = f" of {', '.join(names)}" if names else ""
        raise UsageError(f"there are no checks{about} to ask", hint=hint)
    unmet = _find_unmet(settings, wanted)
    refs = list_refs(settings, names, wanted, world.streams.stdin)
    require_askable(wanted, refs)
    able = [one for one in wanted if all(one != lacking.check for lacking in unmet)]
    if not refs and not names_a_namespace(settings, wanted):
        sources = check_sources.open_sources(world.answering, settings, world.clock, start.stack)
        at, namespace = world.clock.now(), settings.namespace or ""
        jobs = [job(check, "", nobody(namespace, at), at) for check in able]
    else:
        session = connect(start).session
        sources = session.sources
        jobs = _jobs_about(session, able, with_namespaces(refs, session.namespace))
    asked = [*unmet, *ask_all(sources, world.clock, jobs, math.inf)]
    asked.sort(key=lambda one: wanted.index(one.check))
    made = checks_document(asked, console.clock.wall())
    return print_checks(start, made, checks_explained if settings.explain else checks_table)


def _find_unmet(settings: Settings, wanted: Sequence[Check]) -> list[AskedCheck]:
    """Return the checks that this machine cannot answer, as wrong; others are asked all the same.

    UnfitChecks where no check is left to ask, and for one that would decide no exit code.
    """
    found = {one: next(find_obstacles(settings, one), None) for one in wanted}
    is_any_able = None in found.values()
    require_answerable(settings, [one for one in wanted if not (is_any_able and one.decides)])
    return [
        AskedCheck(one, "", unfit(why.message.removeprefix(f"check {one.name}: ")))
        for one, why in found.items()
        if why is not None
    ]


def _jobs_about(session: Session, wanted: Sequence[Check], refs: Sequence[Ref]) -> list[Job]:
    """Return the checks with their questions; reads each workload once, if a check needs it."""
    subjects: dict[Ref, Subject] = {}
    jobs: list[Job] = []
    at = session.clock.now()
    for check in wanted:
        ref = ref_of(check, refs)
        if ref is None:
            namespace = namespace_of(check, refs, session.namespace)
            jobs.append(job(check, "", nobody(namespace, at), at))
            continue
        if ref not in subjects:
            live = read_live(replace(session, namespace=ref.namespace), argument_of(ref))
            subjects[ref] = subject_of(live, at)
        jobs.append(job(check, str(ref), subjects[ref], at))
    return jobs


def print_checks(
    start: CommandStart, made: ChecksResult, render: Callable[[ChecksResult, Style], str]
) -> int:
    """Print a document of checks without secrets, as JSON or for people; return its exit code."""
    console, settings = start.console, start.settings
    result: ChecksResult = start.world.secrets.mask_value(made)
    if settings.output == "json":
        console.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    else:
        console.write(render(result, console.uncut(settings)))
    return result["exit_code"]
