"""Everything before the first write: what can refuse an attempt, and the plan that comes of it.

A script, in the order in which a reader would ask: where are we, may we, what is there, what
served, would the server take it. Nothing here writes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gate.app.applying import Prepared, prepare, taken_over
from gate.app.guards import (
    conflict_refusal,
    refuse_empty,
    refuse_managed,
    refuse_paused,
)
from gate.app.session import Session
from gate.app.watching import Watching
from gate.config import Settings
from gate.core.body import Body
from gate.core.effects import Verb, Write
from gate.core.events import LiveObject
from gate.core.fact import Absent, Fact, Known, Unknown
from gate.core.objects import Ref
from gate.core.plan import Plan, PlannedWrite
from gate.core.policy import Policy
from gate.core.remedy import content
from gate.errors import RefusedError
from gate.kube.failures import FieldConflict, FieldManagerConflict, NotFound
from gate.kube.reads import Reader
from gate.kube.writes import Writer
from gate.manifests.manifest import Manifest, ManifestObject

Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What was found out about the objects of a manifest before any write."""

    lives: Mapping[Ref, Fact[LiveObject]]
    autoscaled: frozenset[Ref]


def surroundings(session: Session, manifest: Manifest, warn: Warn) -> Surroundings:
    """Read every object of the manifest, and what scales its Deployments."""
    reader = Reader(session.client, session.resources, session.clock)
    lives: dict[Ref, Fact[LiveObject]] = {}
    for item in manifest.objects:
        lives[item.ref] = reader.live(item.ref)
    scaled: set[Ref] = set()
    for namespace in sorted({item.ref.namespace for item in manifest.deployments}):
        match reader.autoscalers(namespace):
            case Known(scalers):
                scaled |= {scaler.target for scaler in scalers}
            case Unknown(why):
                warn(f"cannot tell whether an autoscaler owns replicas in {namespace}: {why}")
            case Absent():
                pass
    return Surroundings(lives, frozenset(scaled))


def prepared(settings: Settings, manifest: Manifest, found: Surroundings) -> tuple[Prepared, ...]:
    """Return what is to be sent for each object, in the order of application."""
    return tuple(
        prepare(
            item.ref,
            item.body_copy(),
            found.lives[item.ref],
            take_over=settings.take_over,
            autoscaled=item.ref in found.autoscaled,
            force=settings.force_conflicts,
        )
        for item in manifest.objects
    )


def guard(settings: Settings, items: tuple[Prepared, ...]) -> None:
    """Refuse what should not be applied unless it was asked for."""
    lives = [item.live for item in items if item.live is not None]
    deployments = [live for live in lives if live.deployment is not None]
    if not settings.allow_managed:
        refuse_managed(deployments)
    if not settings.resume:
        refuse_paused(deployments)
    if settings.require_pods:
        refuse_empty(items)


def rehearse_on_server(
    session: Session, items: tuple[Prepared, ...], warn: Warn, made_here: Collection[str] = ()
) -> dict[Ref, LiveObject]:
    """Dry-run every apply on the server, and return what it would make of each object.

    Raises the refusal of the first that it rejects. Objects of a namespace that the manifest
    itself makes, and those whose webhooks cannot do dry runs, are missing in the answer.
    """
    writer = Writer(session.client, session.resources, session.clock)
    trials: dict[Ref, LiveObject] = {}
    for item in items:
        try:
            trials[item.ref] = _dry_run(writer, item)
        except NotFound:
            if item.ref.namespace not in made_here:
                raise
        except RefusedError as error:
            if "dry run" not in error.message:
                raise _about(item, error) from error
            warn(f"{item.ref}: an admission webhook cannot do dry runs: {error.message}")
    return trials


def _dry_run(writer: Writer, item: Prepared) -> LiveObject:
    """Ask without force first: only a conflict tells whose fields would be taken."""
    try:
        return writer.dry_run(_trial(item, force=item.force))
    except FieldManagerConflict as error:
        managers = {conflict.manager for conflict in error.conflicts}
        if item.taken is None or not taken_over(managers, _named(item)):
            raise conflict_refusal(item, _foreign(error.conflicts, item)) from error
        return writer.dry_run(_trial(item, force=True))


def warn_of_configuration_alone(
    items: tuple[Prepared, ...], trials: Mapping[Ref, LiveObject], warn: Warn
) -> None:
    """Warn where configuration changes and no pod template does: pods read it at their start."""
    changed = {ref for ref, trial in trials.items() if _changes(items, ref, trial)}
    configuration = sorted(ref for ref in changed if ref.kind in ("ConfigMap", "Secret"))
    if configuration and not any(_is_deployment(ref) for ref in changed):
        names = ", ".join(map(str, configuration))
        warn(f"only configuration changes ({names}): running pods keep what they started with")


def _changes(items: tuple[Prepared, ...], ref: Ref, trial: LiveObject) -> bool:
    live = next((item.live for item in items if item.ref == ref), None)
    if live is None:
        return True
    if live.deployment is not None and trial.deployment is not None:
        return live.deployment.template.body != trial.deployment.template.body
    return content(live.body) != content(trial.body)


def _named(item: Prepared) -> set[str]:
    """Return the managers whose entries the take-over removes."""
    if item.live is None or item.taken is None:
        return set()
    before = {str(entry.get("manager")) for entry in item.live.managed.thaw()["managedFields"]}
    return before - {str(entry.get("manager")) for entry in item.taken}


def _foreign(conflicts: tuple[FieldConflict, ...], item: Prepared) -> tuple[FieldConflict, ...]:
    named = _named(item)
    return tuple(one for one in conflicts if not taken_over({one.manager}, named))


def _trial(item: Prepared, *, force: bool) -> Write:
    uid = item.live.uid if item.live is not None else None
    return Write(0, item.ref, Verb.APPLY, Body.of(item.sent_body()), uid, None, force=force)


def _about(item: Prepared, error: RefusedError) -> RefusedError:
    """Name the object that a refusal is about where the server's message does not."""
    if item.ref.name not in error.message:
        error.message = f"{item.ref}: {error.message}"
        error.args = (error.message,)
    return error


def plan_of(
    command: str,
    settings: Settings,
    policy: Policy,
    items: tuple[Prepared, ...],
    watching: Watching,
) -> Plan:
    """Return the plan: the writes in the order of application, the Deployments to follow."""
    targets = tuple(watching.target(item.ref) for item in items if _is_deployment(item.ref))
    writes: list[PlannedWrite] = []
    for item in items:
        writes.extend(item.writes())
        if settings.resume and _is_paused(item):
            writes.append(resumption(item.ref))
    return Plan(command, targets, tuple(item.planned() for item in items), tuple(writes), policy)


def resumption(ref: Ref) -> PlannedWrite:
    """Return the write that lets a paused Deployment go on."""
    return PlannedWrite(ref, Verb.MERGE, Body.of({"spec": {"paused": None}}))


def _is_deployment(ref: Ref) -> bool:
    return (ref.api_version, ref.kind) == ("apps/v1", "Deployment")


def _is_paused(item: Prepared) -> bool:
    live = item.live
    return live is not None and live.deployment is not None and live.deployment.paused


def selectors(manifest: Manifest, found: Surroundings) -> dict[Ref, Mapping[str, Any]]:
    """Return the label selector of each Deployment: the live one, else the manifest's."""
    return {item.ref: _selector(item, found) for item in manifest.deployments}


def _selector(item: ManifestObject, found: Surroundings) -> Mapping[str, Any]:
    fact = found.lives[item.ref]
    body = fact.value.body.thaw() if isinstance(fact, Known) else item.body
    selector = body.get("spec", {}).get("selector")
    return selector if isinstance(selector, Mapping) else {}
