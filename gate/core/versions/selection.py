"""Chooses the set of objects that a failure returns to, before the first write.

First choice is the state right before: it served, and no gate knows it to be bad. If a changed
workload did not serve alone, or runs a version that an attempt did not verify, the whole attempt
returns to the last verified set instead. Never to a mixture of the two: one version's pods with
another one's configuration is a combination that nobody tried.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import CleanText, Ref, Revision, Template
from gate.core.model.outcome import Reason
from gate.core.plan.plan import PlannedObject, Target
from gate.core.plan.rollback_plan import spec_changed
from gate.core.plan.target_set import AppliedVersion, TargetSet
from gate.core.plan.workload_body import applied_template, body_with_template, has_same_strategy
from gate.core.rollout.baseline import Baseline, return_to
from gate.core.rollout.causes import Cause
from gate.core.ssa.applied_fields import digests_of
from gate.core.ssa.managed_fields import owners_of
from gate.core.versions.candidates import Candidates, live_before
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.return_doubts import (
    find_doubt,
    is_best_known,
    left_unverified,
    obstacle,
    serves_by_on_delete,
)
from gate.core.versions.set_members import (
    changed_unnamed,
    configuration,
    find_shared,
    left_beside,
    why_without_body,
)
from gate.core.versions.shared_members import SharedMember
from gate.core.versions.undo_choice import older_version


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


def shareable_members(candidates: Candidates) -> tuple[Ref, ...]:
    """Return the objects that are to be returned to a verified state, unless others need them.

    What `neighbours` need of them is to be read before `select`.
    """
    if not _needs_verified(candidates):
        return ()
    return tuple(ref for ref, *_ in configuration(candidates, _returns(candidates)))


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
        owned = version.revision_in(target.snapshot.list_owned())
        need(target.ref, digest, owned.template if owned is not None else None)
    for _, digest, history in configuration(candidates, returns):
        need(history, digest, None)
    return {ref: frozenset(digests) for ref, digests in needed.items()}


def select(candidates: Candidates, others: LiveFacts) -> Selection:
    """Return what a failure returns to; `others` has what `unnamed_members` asked for."""
    unproven = tuple(_iter_unproven(candidates))
    applied = AppliedVersion(FrozenMap(digests_of(candidates.beside)), unproven=unproven)
    if not _needs_verified(candidates):
        kept = (replace(one, baseline=_as_it_was(candidates, one)) for one in candidates.targets)
        return Selection(tuple(kept), TargetSet(applied=applied))
    returns = _returns(candidates)
    shared = find_shared(candidates, returns)
    bodies: dict[Ref, Body] = {}
    targets = []
    for target in candidates.targets:
        version = returns.get(target.ref)
        baseline, body = _version(candidates, target, version)
        baseline = _beside_shared(baseline, version, shared)
        targets.append(replace(target, baseline=baseline))
        bodies.update({target.ref: body} if body is not None else {})
    missing: dict[Ref, CleanText] = {}
    unverified = tuple(ref for ref in bodies if ref not in returns)
    for ref, digest, history in configuration(candidates, returns):
        remembered = candidates.body(candidates.history(history), digest)
        if remembered is not None:
            bodies[ref] = remembered
        else:
            missing[ref] = why_without_body(candidates.history(history), digest)
    missing.update(changed_unnamed(candidates, returns, others))
    missing.update(left_beside(candidates, returns))
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
        shared=FrozenMap((one.ref, one.workload) for one in shared if one.ref not in missing),
        applied=replace(applied, again=again),
    )
    return Selection(tuple(targets), target_set)


def _iter_unproven(candidates: Candidates) -> Iterator[Ref]:
    """Yield the objects that the attempt does not change, and that no target was verified with."""
    before = candidates.before()
    histories = [candidates.history(target.ref) for target in candidates.targets]
    for ref, digest in candidates.collect_proposed_digests().items():
        is_left = bool(digest) and digest == before[ref] and not is_workload(ref)
        if is_left and all(one.of_member(ref, digest) is None for one in histories):
            yield ref


def _beside_shared(
    baseline: Fact[Baseline], version: JudgedVersion | None, shared: Collection[SharedMember]
) -> Fact[Baseline]:
    """Return a baseline that is not verified if what others need of its set differs from it."""
    members = version.members if version is not None else FrozenMap()
    others = [one for one in shared if one.ref in members]
    if not others or not isinstance(baseline, Known):
        return baseline
    needed = "; ".join(f"{one.ref} is as {one.workload} was verified with it" for one in others)
    doubt = Cause(Reason.SET_INCOMPLETE, CleanText(needed))
    return Known(replace(baseline.value, unverified=doubt))


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
        if not (known_bad or goes_on or serves_by_on_delete(target.snapshot) is not None):
            return _as_it_was(candidates, target), None
        found = older_version(target, candidates.object(target.ref), history, before, left)
        if found is None:
            return Absent() if isinstance(target.baseline, Known) else target.baseline, None
        return Known(found), Body.of(body_with_template(live, found.template))
    digest = version.members.get(target.ref)
    owned = version.revision_in(target.snapshot.list_owned())
    if digest is None or before[target.ref] == digest:
        if _runs_another(target, version):
            # Somebody else's additions make the difference; no apply of ours removes those.
            return _with_additions(target), None
        return _baseline(target, version, owned, _live_template(target)), None
    source = owned.template if owned is not None else None
    body = candidates.body(history, digest, source)
    if body is None:
        return Absent(), None
    baseline = _baseline(target, version, owned, applied_template(body, version.images))
    if isinstance(baseline, Known) and _brings_no_pod_back(target, version, body, live):
        doubt = find_doubt(target, history, candidates.live_digests())
        baseline = Known(replace(baseline.value, unverified=doubt))
    return baseline, body


def _brings_no_pod_back(
    target: Target, version: JudgedVersion, body: Body, live: LiveObject
) -> bool:
    """Tell whether all pods run a version that was verified by another strategy.

    As after the promotion of a canary: those that its partition held do not run the older version
    again.
    """
    snapshot, current = target.snapshot, target.snapshot.current()
    if _runs_another(target, version) or has_same_strategy(body, live):
        return False
    others = (one for one in snapshot.list_owned() if current is None or one.uid != current.uid)
    return not any(snapshot.count_pods(one).created for one in others)


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
    managed = before.thaw_managed_fields() if before is not None else ()
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


def _with_additions(target: Target) -> Fact[Baseline]:
    """Return a verified version with what others have added since, which may be rolling out.

    Its controller may not have made a revision of it yet.
    """
    live, current = _live_template(target), target.snapshot.current()
    if not isinstance(target.baseline, Absent) or live is None:
        return target.baseline
    return Known(
        Baseline("", None, live) if current is None else return_to(target.snapshot, current)
    )


def _live_template(target: Target) -> Template | None:
    live = target.snapshot.live
    return live.template if live is not None else None


def _baseline(
    target: Target, version: JudgedVersion, owned: Revision | None, template: Template | None
) -> Fact[Baseline]:
    """Return a verified version; `template` is that of one whose revision is gone."""
    if owned is not None:
        return Known(return_to(target.snapshot, owned))
    if template is None:
        return Absent()
    served = template == _live_template(target)
    return Known(Baseline(version.revision_name, version.revision, template, served=served))
