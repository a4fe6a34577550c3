"""`checks`: asks every check now, against what runs now, for whoever writes or debugs them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import BinaryIO

from gate.app.command_context import connect
from gate.app.preflight.check_subjects import (
    named_by,
    namespace_of,
    ref_of,
    require_answerable,
    require_askable,
)
from gate.app.preflight.manifest_reading import read_manifest
from gate.app.preflight.single_questions import BEGUN_SECONDS_AGO, Job, ask_all, job
from gate.app.runtime import check_sources
from gate.app.runtime.command_start import CommandStart
from gate.app.runtime.console import Console
from gate.app.runtime.live_state import Live, read_live
from gate.app.runtime.session import Session
from gate.app.runtime.workload_names import workload_ref
from gate.app.runtime.world import World
from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.spec import Check
from gate.core.kinds.check_variables import is_measured, variables_of
from gate.core.model.objects import Ref, Revision
from gate.errors import UsageError
from gate.report.check_report.asked_check import AskedCheck
from gate.report.check_report.document import checks_document
from gate.report.check_report.text import checks_explained, checks_table
from gate.report.schema.check_result import ChecksResult


def checks(start: CommandStart, names: tuple[str, ...]) -> int:
    """Ask every check once and print the results; return the exit code of the worst.

    Connects to a cluster only if a check is about a Deployment or its namespace.
    """
    world, settings, console = start.world, start.settings, start.console
    wanted = _choose_checks(settings, names)
    if not wanted:
        hint = "--check 'errors: QUERY <= 0.5', or checks: in rollout-gate.yaml"
        about = f" of {', '.join(names)}" if names else ""
        raise UsageError(f"there are no checks{about} to ask", hint=hint)
    require_answerable(settings, wanted)
    refs = _refs(settings, names, wanted, world.stdin)
    require_askable(wanted, refs)
    if not refs and not _names_a_namespace(settings, wanted):
        sources = check_sources.open_sources(world.answering, settings, world.clock, start.stack)
        at, namespace = world.clock.now(), settings.namespace or ""
        jobs = [job(check, "", _nobody(namespace, at), at) for check in wanted]
        return _print_results(
            world, settings, ask_all(sources, world.clock, jobs, math.inf), console
        )
    session = connect(start).session
    jobs = _jobs_about(session, wanted, _with_namespaces(refs, session.namespace))
    asked = ask_all(session.sources, world.clock, jobs, math.inf)
    return _print_results(world, settings, asked, console)


def _choose_checks(settings: Settings, names: Sequence[str]) -> tuple[Check, ...]:
    """Return the checks; if Deployments are named, without those about others."""
    everything = all_checks(settings)
    if not names or settings.file:
        return everything
    bare = {name.rpartition("/")[2] for name in names}
    return tuple(one for one in everything if one.deployment in ("", *bare))


def _refs(
    settings: Settings, names: Sequence[str], wanted: Sequence[Check], stdin: BinaryIO
) -> list[Ref]:
    """Return the manifest's Deployments and those named, or else those that checks name.

    Their namespace is "" while nothing has set it.
    """
    listed = read_manifest(settings, stdin, "").deployments if settings.file else ()
    refs = [item.ref for item in listed if is_measured(item.ref)]
    there = {(ref.kind, ref.name) for ref in refs}
    named = [workload_ref("", name) for name in names]
    refs += [ref for ref in named if (ref.kind, ref.name) not in there]
    if not refs:
        refs = [workload_ref("", one.deployment) for one in wanted if one.deployment]
    return list(dict.fromkeys(refs))


def _names_a_namespace(settings: Settings, wanted: Sequence[Check]) -> bool:
    """Tell whether the namespace has to come from the cluster's configuration."""
    return settings.namespace is None and any("namespace" in named_by(one) for one in wanted)


def _with_namespaces(refs: Sequence[Ref], namespace: str) -> list[Ref]:
    placed = (replace(ref, namespace=ref.namespace or namespace) for ref in refs)
    return list(dict.fromkeys(placed))


def _jobs_about(session: Session, wanted: Sequence[Check], refs: Sequence[Ref]) -> list[Job]:
    """Return the checks with their questions; reads each Deployment once, if a check needs it."""
    subjects: dict[Ref, Subject] = {}
    jobs = []
    at = session.clock.now()
    for check in wanted:
        ref = ref_of(check, refs)
        if ref is None:
            namespace = namespace_of(check, refs, session.namespace)
            jobs.append(job(check, "", _nobody(namespace, at), at))
            continue
        if ref not in subjects:
            live = read_live(replace(session, namespace=ref.namespace), ref.name)
            subjects[ref] = _subject(live, at)
        jobs.append(job(check, str(ref), subjects[ref], at))
    return jobs


def _nobody(namespace: str, at: float) -> Subject:
    """Return the subject of a check that is about no Deployment."""
    return Subject(
        namespace,
        "",
        Version(),
        at - BEGUN_SECONDS_AGO,
        first_available_at=-math.inf,
        variables=variables_of(()),
    )


def _subject(live: Live, at: float) -> Subject:
    """Return the live version as the new one, and another with available pods as the baseline.

    The window is the full one, however long the pods have existed.
    """
    current, other = live.snapshot.current(), _other(live)
    return Subject(
        namespace=live.object.ref.namespace,
        workload=live.object.ref.name,
        new=_version(current) or Version(),
        started_at=at - BEGUN_SECONDS_AGO,
        baseline=_version(other),
        revision=live.workload.revision,
        first_available_at=-math.inf,
        variables=variables_of((live.object.ref,)),
    )


def _version(replica_set: Revision | None) -> Version | None:
    if replica_set is None:
        return None
    return Version(replica_set.name, replica_set.label_value)


def _other(live: Live) -> Revision | None:
    current = live.snapshot.current()
    serving = [
        one
        for one in live.snapshot.list_owned()
        if live.snapshot.count_pods(one).available and (current is None or one.uid != current.uid)
    ]
    return max(serving, key=lambda one: one.revision or 0, default=None)


def _print_results(
    world: World, settings: Settings, asked: Sequence[AskedCheck], console: Console
) -> int:
    result: ChecksResult = world.secrets.mask_value(checks_document(asked, console.clock.wall()))
    if settings.output == "json":
        console.write(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    else:
        style = console.style(settings)
        render = checks_explained if settings.explain else checks_table
        console.write(render(result, style))
    return result["exit_code"]
