"""Makes facts of what was recorded of a trial: the watches' versions and the audit log."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from tests.bed.history import version_of
from tests.bed.invariants import Key, key_of
from tests.cluster import access
from tests.cluster.audit import GATE_AGENT, Request, Requests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.interference.chronicle import Seen
from tests.interference.facts import Ended, Facts, Performed, Version, Writer
from tests.interference.trial import Trial

SETTER, OTHERS, SECOND, RECOVERER = access.ROLES[:4]
"""Who is who in the audit log, beside the gate: the scene's, somebody, a second gate, `recover`."""


@dataclass(frozen=True, slots=True)
class Run:
    """One attempt: who it is in the audit log, its runs, what it applied, its end as a count."""

    users: frozenset[str]
    results: tuple[Result, ...]
    manifest: Sequence[JSON]
    ended: int


@dataclass(frozen=True, slots=True)
class Known:
    """What all attempts of a trial have in common; fields are those of `Facts`."""

    trial: Trial
    namespace: str
    seen: Sequence[Seen]
    requests: Requests
    started: int
    verified: int
    performed: tuple[Performed, ...]
    left: tuple[JSON, ...]
    next_apply: Result


def facts_of(run: Run, known: Known) -> Facts:
    """Return the facts of one attempt, whose gate is one of the trial's."""
    own = known.requests.where(
        lambda each: each.user in run.users and each.user_agent.startswith(GATE_AGENT)
    )
    return Facts(
        trial=known.trial,
        ended=Ended(
            results=run.results,
            document=_document(run.results[-1]),
            started=known.started,
            ended=run.ended,
            last_read_at=_last_reads(own),
        ),
        manifest={key_of(body, known.namespace): body for body in run.manifest},
        versions=_versions(known.seen, known.requests, run.users),
        requests=own.writes().where(lambda each: each.succeeded).all,
        performed=known.performed,
        verified=known.verified,
        left=known.left,
        next_apply=known.next_apply,
    )


def _document(result: Result) -> JSON | None:
    try:
        document = json.loads(result.stdout)
    except ValueError:
        return None
    return document if isinstance(document, dict) and "objects" in document else None


def _last_reads(requests: Requests) -> dict[Key, datetime]:
    """Return when each object was asked for last, by itself."""
    return {
        Key(each.resource, each.namespace, each.name): each.at
        for each in requests.of(verb="get")
        if each.succeeded
    }


def _versions(
    seen: Sequence[Seen], requests: Requests, users: frozenset[str]
) -> dict[Key, tuple[Version, ...]]:
    """Return every version with its writer, who is found by the version that an answer named."""
    writes = [each for each in requests.writes() if each.succeeded]
    writers: dict[tuple[str, int], str] = {}
    for write in writes:
        if write.answer and "resourceVersion" in write.answer.get("metadata", {}):
            writers.setdefault((write.resource, version_of(write.answer)), write.user)
    found: dict[Key, list[Version]] = {}
    for each in seen:
        versions = found.setdefault(each.key, [])
        user = writers.get((each.key.resource, each.number), "")
        if not user and each.body is None:
            user = _deleter(each, writes)
        if versions and versions[-1].number == each.number:
            continue  # a watch that listed again
        versions.append(Version(each.number, each.at, _writer(user, users), each.body))
    return {key: tuple(versions) for key, versions in found.items()}


def _deleter(seen: Seen, writes: Sequence[Request]) -> str:
    """Return who asked last for the deletion of an object that has gone."""
    asked = [
        each.user
        for each in writes
        if each.verb == "delete"
        and (each.resource, each.name) == (seen.key.resource, seen.key.name)
        and each.at <= seen.at
    ]
    return asked[-1] if asked else ""


def _writer(user: str, ours: frozenset[str]) -> Writer:
    if user in ours:
        return Writer.OURS
    if not user:
        return Writer.MACHINERY
    return Writer.BEFORE if user == SETTER else Writer.OTHERS
