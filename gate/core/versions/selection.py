"""Chooses the set of objects that a failure returns to, before the first write.

First choice is the state right before: it served, and no gate knows it to be bad. If a changed
workload did not serve alone, or runs a version that an attempt did not verify, the whole attempt
returns to the last verified set instead. Never to a mixture of the two: one version's pods with
another one's configuration is a combination that nobody tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gate.core.kinds.registry import is_workload
from gate.core.model.body import NOTHING, Body, FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.objects import CleanText, Ref, Revision, Template
from gate.core.plan.plan import PlannedObject, Target
from gate.core.plan.rollback_plan import spec_changed
from gate.core.plan.target_set import AppliedVersion, TargetSet
from gate.core.plan.workload_body import applied_template, body_with_template
from gate.core.rollout.baseline import Baseline
from gate.core.ssa.applied_fields import applied_digest, digests_of
from gate.core.ssa.managed_fields import owners_of
from gate.core.versions.candidates import Candidates, Others, live_before
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.obstacles import find_doubt, is_best_known, left_unverified, obstacle
from gate.core.versions.undo_choice import older_version

_NO_BODY: Final = CleanText("what was verified of it is not remembered, and it has changed since")
_NOT_OURS: Final = CleanText("somebody else had changed it when that version was verified")
_NOT_NAMED: Final = CleanText("this run does not write it, and it has changed since")
_NOT_VERIFIED: Final = CleanText("this run does not write it, and it stands unverified")
_NO_VALUES: Final = CleanText("its environment values are not remembered, and it has changed since")
_LEFT_UNVERIFIED: Final = CleanText(
    "an attempt that was not verified left it as it is, and no other verified version is remembered"
)
_BROUGHT_UNVERIFIED: Final = CleanText(
    "an attempt that was not verified brought it, and the version that is returned to had none"
)
_UNREAD: Final = CleanText("this run does not write it, and it could not be read")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a failure returns to: the targets with their baselines, and the set around them."""

    targets: tuple[Target, ...]
    target_set: TargetSet


def unnamed_members(candidates: Candidates) -> tuple[Ref, ...]:
    """Return the objects to read before `select`: in the verified sets, not in the manifest."""
    if not _needs_verified(candidates):
        return ()
    named = {one.ref for one in candidates.objects}
    found = {ref for one in _returns(candidates).values() for ref in one.members}
    return tuple(sorted(found - named))


def kept_bodies_needed(candidates: Candidates) -> dict[Ref, frozenset[str]]:
    """Return the digests to be read from the Secret beside the lock of each workload.

    Empty if the set is complete without them: most of the time nothing has to be read.
    """
    if not _needs_verified(candidates):
        return {}
    returns, before = _returns(candidates), candidates.before()
    needed: dict[Ref, set[str]] = {}

    def need(history: Ref, digest: str, source: Template | None) -> None:
        remembered = candidates.history(history)
        if digest in remembered.kept and candidates.body(remembered, digest, source) is None:
            needed.setdefault(history, set()).add(digest)

    for target in candidates.targets:
        version = returns.get(target.ref)
        digest = version.members.get(target.ref) if version is not None else None
        if version is None or digest is None or digest == before[target.ref]:
            continue
        owned = version.replica_set_in(target.snapshot.list_owned())
        need(target.ref, digest, owned.template if owned is not None else None)
    for _, digest, history in _configuration(candidates, returns):
        need(history, digest, None)
    return {ref: frozenset(digests) for ref, digests in needed.items()}


def select(candidates: Candidates, others: Others) -> Selection:
    """Return what a failure returns to; `others` has what `unnamed_members` asked for."""
    beside = FrozenMap(digests_of(candidates.beside))
    if not _needs_verified(candidates):
        kept = (replace(one, baseline=_as_it_was(candidates, one)) for one in candidates.targets)
        return Selection(tuple(kept), TargetSet(applied=AppliedVersion(beside)))
    returns = _returns(candidates)
    bodies: dict[Ref, Body] = {}
    targets = []
    for target in candidates.targets:
        baseline, body = _version(candidates, target, returns.get(target.ref))
        targets.append(replace(target, baseline=baseline))
        bodies.update({target.ref: body} if body is not None else {})
    missing: dict[Ref, CleanText] = {}
    unverified = tuple(ref for ref in bodies if ref not in returns)
    for ref, digest, history in _configuration(candidates, returns):
        remembered = candidates.body(candidates.history(history), digest)
        if remembered is not None:
            bodies[ref] = remembered
        else:
            missing[ref] = _why_without_body(candidates.history(history), digest)
    missing.update(_changed_unnamed(candidates, returns, others))
    missing.update(_left_beside(candidates, returns))
    from_secrets = set(candidates.kept.values())
    again = tuple(
        ref for ref, version in returns.items() if version != candidates.history(ref).verified[0]
    )
    target_set = TargetSet(
        FrozenMap(bodies),
        FrozenMap(missing),
        FrozenMap(_obstacles(candidates)),
        confidential=tuple(sorted(ref for ref, body in bodies.items() if body in from_secrets)),
        unverified=unverified,
        applied=AppliedVersion(beside, again),
    )
    return Selection(tuple(targets), target_set)


# -- which of the two ------------------------------------------------------------------------------


def _needs_verified(candidates: Candidates) -> bool:
    """Tell whether the state before is no set to return to: it did not serve, or is known bad."""
    return any(True for _ in _obstacles(candidates))


def _obstacles(candidates: Candidates) -> Iterator[tuple[Ref, CleanText]]:
    """Yield the changed or bad workloads that must not return to what runs, each with why."""
    digests = candidates.live_digests()
    for target in candidates.targets:
        if not (_is_changed(candidates.object(target.ref)) or _is_bad(candidates, target)):
            continue
        history = candidates.history(target.ref)
        why = obstacle(target, history, digests)
        stays = _is_empty(target, history, digests) or is_best_known(target, history, digests)
        if why is not None and not stays:
            yield target.ref, why


def _is_empty(target: Target, history: History, digests: Mapping[Ref, str]) -> bool:
    """Tell whether a workload has 0 replicas, and no attempt left that unverified.

    It need not serve anything: a failure returns to the 0 replicas of before.
    """
    live = target.snapshot.live
    if live is None or live.replicas or not isinstance(target.baseline, Absent):
        return False
    return left_unverified(target, history, digests) is None


def _is_bad(candidates: Candidates, target: Target) -> bool:
    """Tell whether a workload runs a version that failed.

    The last verified version does not count even if it failed later: it ran all the time, and an
    apply of it, however often it is repeated, has nothing to take back.
    """
    history = candidates.history(target.ref)
    left = left_unverified(target, history, candidates.live_digests())
    if left is None or not left.failed:
        return False
    if any(map(left.is_part_of, history.once_verified[:1])):
        return False
    live = target.snapshot.live
    runs = template_digest(live.template) if live is not None else ""
    return left.template == runs


def _is_changed(planned: PlannedObject) -> bool:
    live = live_before(planned)
    if live is None:
        return False
    return planned.trial is None or spec_changed(live, planned.trial)


# -- the verified set ------------------------------------------------------------------------------


def _returns(candidates: Candidates) -> dict[Ref, JudgedVersion]:
    """Return the verified version that each target returns to.

    It is what ran if that is the newest one, else the newest that is not about to be applied.
    """
    before, proposed = candidates.before(), candidates.collect_proposed_digests()
    found: dict[Ref, JudgedVersion] = {}
    for target in candidates.targets:
        verified = candidates.history(target.ref).verified
        if not verified or live_before(candidates.object(target.ref)) is None:
            continue
        # Without a dry run (a webhook prevents it) nobody knows that it is what was verified.
        is_known = target.ref in proposed
        another = (one for one in verified if not (is_known and one.is_applied(proposed)))
        version = verified[0] if verified[0].is_applied(before) else next(another, None)
        if version is not None:
            found[target.ref] = version
    return found


def _version(
    candidates: Candidates, target: Target, version: JudgedVersion | None
) -> tuple[Fact[Baseline], Body | None]:
    """Return what a workload returns to, and the body for that if it is not as before."""
    live, before = live_before(candidates.object(target.ref)), candidates.before()
    if live is None:
        return target.baseline, None
    history = candidates.history(target.ref)
    if version is None:
        left = left_unverified(target, history, candidates.live_digests())
        known_bad = left is not None and left.members.get(target.ref) == before[target.ref]
        goes_on = isinstance(target.baseline, Absent) and _goes_on(candidates, target)
        if not (known_bad or goes_on):
            return _as_it_was(candidates, target), None
        found = older_version(target, candidates.object(target.ref), history, before, left)
        if found is None:
            return Absent() if isinstance(target.baseline, Known) else target.baseline, None
        return Known(found), Body.of(body_with_template(live, found.template))
    digest = version.members.get(target.ref)
    owned = version.replica_set_in(target.snapshot.list_owned())
    if digest is None or before[target.ref] == digest:
        if _runs_another(target, version):
            # Somebody else's additions make the difference; no apply of ours removes those.
            return target.baseline, None
        template = owned.template if owned is not None else _live_template(target)
        return _baseline(version, owned, template), None
    source = owned.template if owned is not None else None
    body = candidates.body(history, digest, source)
    if body is None:
        return Absent(), None
    return _baseline(version, owned, source or applied_template(body, version.images)), body


def _as_it_was(candidates: Candidates, target: Target) -> Fact[Baseline]:
    """Return what served; with 0 replicas wanted nothing has to, and it is the live version."""
    live, current = target.snapshot.live, target.snapshot.current()
    if isinstance(target.baseline, Known):
        history, digests = candidates.history(target.ref), candidates.live_digests()
        doubt = find_doubt(target, history, digests)
        return Known(replace(target.baseline.value, unverified=doubt))
    if live is None or current is None or live.replicas:
        return target.baseline
    name, revision = current.name, current.revision or live.revision
    return Known(Baseline(name, revision, live.template, current.label_value))


def _goes_on(candidates: Candidates, target: Target) -> bool:
    """Tell whether an attempt only goes on with the rollout under way, as `resume` does.

    It writes no configuration, which might belong to the version under way, and no new template.
    False if somebody else owns the template: a return would be a conflict.
    """
    planned = candidates.object(target.ref)
    live, trial, before = target.snapshot.live, planned.trial, live_before(planned)
    managed = before.managed.thaw()["managedFields"] if before is not None else ()
    if {manager for manager, _ in owners_of(managed, ("spec", "template"))} != {FIELD_MANAGER}:
        return False
    if any(not is_workload(one.ref) for one in candidates.objects):
        return False
    after = trial.workload if trial is not None else live
    return live is not None and after is not None and after.template.body == live.template.body


def _runs_another(target: Target, version: JudgedVersion) -> bool:
    """Tell whether the live pod template is not that of a version."""
    live = target.snapshot.live
    return live is not None and template_digest(live.template) != version.template


def _live_template(target: Target) -> Template | None:
    live = target.snapshot.live
    return live.template if live is not None else None


def _baseline(
    version: JudgedVersion, owned: Revision | None, template: Template | None
) -> Fact[Baseline]:
    if template is None:
        return Absent()
    if owned is None:
        return Known(Baseline(version.replica_set, version.revision, template))
    return Known(Baseline(owned.name, owned.revision, template, owned.label_value))


# -- the objects beside the workloads --------------------------------------------------------------


def _configuration(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> Iterator[tuple[Ref, str, Ref]]:
    """Yield the manifest's other objects that are not as they were verified.

    Each comes with its verified digest and the workload whose lock remembers it.
    """
    followed = {target.ref for target in candidates.targets}
    before = candidates.before()
    for ref, (digest, deployment) in _verified_members(candidates, returns).items():
        if ref in before and ref not in followed and before[ref] != digest:
            yield ref, digest, deployment


def _verified_members(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> dict[Ref, tuple[str, Ref]]:
    """Return each object's last verified digest, and the workload whose lock remembers it.

    The sets of several attempts overlap: what a later one did not name stayed as it was.
    """
    newest_first = sorted(
        _versions(candidates, returns), key=lambda pair: pair[0].judged_at, reverse=True
    )
    found: dict[Ref, tuple[str, Ref]] = {}
    for version, deployment in newest_first:
        for ref, digest in version.members.items():
            found.setdefault(ref, (digest, deployment))
    return found


def _left_beside(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> Iterator[tuple[Ref, CleanText]]:
    """Yield the other objects that are live but unverified, with nothing to return them to.

    A failed rollback left them: the earlier version beside the bad one's configuration. Or the
    version that is returned to is from before they existed.
    """
    live_digests, verified = candidates.live_digests(), _verified_members(candidates, returns)
    for target in candidates.targets:
        why = _BROUGHT_UNVERIFIED if target.ref in returns else _LEFT_UNVERIFIED
        left = left_unverified(target, candidates.history(target.ref), live_digests)
        for ref, digest in left.members.items() if left is not None else ():
            is_known = target.ref in returns and ref in verified
            if not (is_workload(ref) or is_known) and digest and live_digests.get(ref) == digest:
                yield ref, why


def _why_without_body(history: History, digest: str) -> CleanText:
    if not digest:
        return _NOT_OURS
    return _NO_VALUES if digest in history.bodies else _NO_BODY


def _versions(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> Iterator[tuple[JudgedVersion, Ref]]:
    """Yield the versions that are returned to, and those verified before them.

    Each comes with the workload whose lock remembers it.
    """
    for ref, version in returns.items():
        verified = candidates.history(ref).verified
        for one in verified[verified.index(version) :]:
            yield one, ref


def _changed_unnamed(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion], others: Others
) -> Iterator[tuple[Ref, CleanText]]:
    """Yield the members of a set that are not in the manifest and no longer as verified."""
    for ref, (digest, _) in _verified_members(candidates, returns).items():
        if ref not in others:
            continue
        match others[ref]:
            case Unknown():
                yield ref, _UNREAD
            case Known(live) if applied_digest(live) == digest:
                continue
            case Known(live) if is_workload(ref):
                if _is_left_unverified(candidates, ref, applied_digest(live)):
                    yield ref, _NOT_VERIFIED
            case Absent() if digest == NOTHING or is_workload(ref):
                continue
            case _:
                yield ref, _NOT_NAMED


def _is_left_unverified(candidates: Candidates, ref: Ref, digest: str) -> bool:
    """Tell whether a workload beside the manifest is as an attempt left it, unverified.

    If not, it has gone on by itself, with a history of its own.
    """
    judged = {
        one.verified
        for found in candidates.histories.values()
        for one in found.versions
        if one.members.get(ref) == digest
    }
    return judged == {False}
