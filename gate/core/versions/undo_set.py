"""What a return to a verified set involves: members that it restores, and those that it cannot."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body, FrozenMap
from gate.core.model.environment_values import with_values
from gate.core.model.fact import Absent, Known
from gate.core.model.live_object import LiveFacts, LiveObject
from gate.core.model.objects import Ref, Template
from gate.core.plan.plan import Target
from gate.core.plan.rollback_plan import content
from gate.core.rollout.baseline import Baseline
from gate.core.versions.candidates import Candidates, live_before
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.shared_members import Neighbours, shared_members, with_shared_members
from gate.core.versions.undo_choice import choose_version, version_of
from gate.core.versions.undo_conflicts import conflicting_managers


@dataclass(frozen=True, slots=True)
class Lacking:
    """The members of a set that a return would have to restore and cannot.

    `not_kept` are those of which only a digest is remembered, no body; `of_others` those that
    somebody else has changed since; `immutable` those that no write can change any more.
    """

    not_kept: tuple[Ref, ...] = ()
    of_others: tuple[Ref, ...] = ()
    immutable: tuple[Ref, ...] = ()

    @property
    def refs(self) -> tuple[Ref, ...]:
        """Return all of them."""
        return (*self.not_kept, *self.of_others, *self.immutable)


def attempts_on(own: Ref, histories: Mapping[Ref, History]) -> list[Mapping[Ref, str]]:
    """Return what our manager had applied at the end of each attempt on a workload.

    The attempts of its own history come last, oldest first. If it was complete in an attempt but
    another workload failed, only the other one's history knows of that attempt.
    """
    return _attempts_on(own, {ref: _attempts(history) for ref, history in histories.items()})


def _attempts_on(
    own: Ref, attempts: Mapping[Ref, list[Mapping[Ref, str]]]
) -> list[Mapping[Ref, str]]:
    """Do what `attempts_on` does, with the attempts that each history knows."""
    others = [known for ref, known in attempts.items() if ref != own]
    beside = [written for known in others for written in known if own in written]
    return [*beside, *attempts[own]]


def _attempts(history: History) -> list[Mapping[Ref, str]]:
    """Return what each attempt of a history wrote, with or without a verdict, oldest first."""
    attempts = sorted((*history.versions, *history.unjudged), key=lambda one: one.judged_at)
    return [history.written_of(one) for one in attempts]


def is_applied_by(
    attempts: Iterable[Mapping[Ref, str]], ref: Ref, digests: Mapping[Ref, str]
) -> bool:
    """Tell whether one of the attempts left `ref` with its digest in `digests`."""
    digest = digests.get(ref)
    return bool(digest) and any(applied.get(ref) == digest for applied in attempts)


def changed_members(
    attempts: Sequence[Mapping[Ref, str]],
    version: JudgedVersion,
    own: Ref,
    digests: Mapping[Ref, str],
) -> list[Ref]:
    """Return the members of a version of the workload `own` that are to be restored.

    Another workload is one of them if it was rolled out together with what runs: one that has
    gone on by itself is left to its own history. `digests` are those of what our manager has
    applied so far, `attempts` those of `attempts_on`.
    """
    came_along = _rolled_out_with(attempts, own, digests)
    return [
        ref
        for ref, digest in version.members.items()
        if digests.get(ref) != digest
        and (not is_workload(ref) or ref == own or (ref, digests.get(ref)) in came_along)
    ]


def _rolled_out_with(
    attempts: Sequence[Mapping[Ref, str]], own: Ref, digests: Mapping[Ref, str]
) -> set[tuple[Ref, str]]:
    """Return what was applied in the attempts that wrote the workload `own` as it runs.

    All of those attempts count, because a restart writes the workload alone. If somebody else
    has changed what runs, the version that was rolled out last counts instead.
    """
    runs = digests.get(own)
    if attempts and all(applied.get(own) != runs for applied in attempts):
        runs = attempts[-1].get(own)
    return {pair for applied in attempts if applied.get(own) == runs for pair in applied.items()}


def is_locked(live: LiveObject) -> bool:
    """Tell whether no write can change an object: ValidateConfigMapUpdate, ValidateSecretUpdate."""
    is_data = live.ref.kind in ("ConfigMap", "Secret")
    return is_data and live.body.thaw().get("immutable") is True


def lacking(
    own: Ref,
    bodies: Mapping[Ref, bool],
    is_ours: Callable[[Ref], bool],
    facts: LiveFacts | None = None,
) -> Lacking:
    """Return what keeps a set of the workload `own` from returning whole.

    `bodies` has each object to be restored, and whether its body is known. `is_ours` tells whether
    an attempt left an object as it is now. `facts` is what was read of the objects: one that is
    gone may be created again, and one that is immutable cannot change.
    """
    read = facts or {}
    gone = [ref for ref in bodies if isinstance(read.get(ref), Absent)]
    others = [ref for ref in bodies if ref != own and ref not in gone and not is_ours(ref)]
    not_kept = [ref for ref, is_known in bodies.items() if not is_known and ref not in others]
    locked = [
        ref
        for ref in bodies
        if ref not in (*others, *not_kept)
        and isinstance(fact := read.get(ref), Known)
        and is_locked(fact.value)
    ]
    return Lacking(tuple(not_kept), tuple(others), tuple(locked))


def undo_members(candidates: Candidates, proposed: Mapping[Ref, str]) -> set[Ref]:
    """Return the objects that an undo may have to restore, before an attempt or after it.

    What others need of them is to be read before `lacking_after` and `find_returns_beyond`.
    """
    live = candidates.live_digests()
    return {
        ref
        for history in candidates.histories.values()
        for version in history.once_verified
        for digests in (live, {**live, **proposed})
        for ref in version.iter_changed(digests)
        if not is_workload(ref)
    }


def lacking_now(
    target: Target,
    history: History,
    version: JudgedVersion,
    digests: Mapping[Ref, str],
    facts: LiveFacts,
    neighbours: Neighbours,
) -> tuple[Ref, ...]:
    """Return what an undo to a verified version would lack now.

    `digests` are those of what our manager has applied so far, `facts` what was read of the objects
    beside the workload. The histories of other workloads of the set are not known.
    """
    histories = {target.ref: history}
    find_lacking = _lacking_among([target], histories, neighbours, facts)
    return find_lacking(target.ref, version, digests, attempts_on(target.ref, histories)).refs


def _lacking_among(
    targets: Collection[Target],
    histories: Mapping[Ref, History],
    neighbours: Neighbours,
    facts: LiveFacts,
) -> Callable[..., Lacking]:
    """Return a function that says what an undo would lack, as the undo itself decides.

    It takes the workload, the version, the digests of what our manager has applied, the attempts
    of `attempts_on`, and the objects that an attempt has yet to write.
    """
    known = {**histories, **neighbours.histories}
    has_body = _has_body_of(targets, known)

    def find_lacking(
        own: Ref,
        version: JudgedVersion,
        digests: Mapping[Ref, str],
        attempts: Sequence[Mapping[Ref, str]],
        proposed: Collection[Ref] = (),
    ) -> Lacking:
        run_now = {**digests, **neighbours.digests}
        changed = changed_members(attempts, version, own, digests)
        shared = shared_members(version, own, known, run_now, changed)
        wanted = with_shared_members(version, shared)
        stay = {one.ref for one in shared if one.is_live}
        bodies = {
            ref: has_body(own, wanted, ref)
            for ref in changed_members(attempts, wanted, own, digests)
        }

        def is_ours(ref: Ref) -> bool:
            if ref in stay or neighbours.find_attempt(ref, digests.get(ref)) is not None:
                return False
            return ref in proposed or is_applied_by(attempts, ref, digests)

        return lacking(own, bodies, is_ours, facts)

    return find_lacking


def lacking_after(
    candidates: Candidates, before: Mapping[Ref, str], proposed: Mapping[Ref, str]
) -> FrozenMap[Ref, tuple[Ref, ...]]:
    """Return, by workload, what an undo of an attempt would lack if the attempt succeeds.

    Such an undo returns to what served before the attempt; if no history remembers that version,
    only to its pod template. `before` are the digests of what our manager had applied then,
    `proposed` those of what the attempt applies.
    """
    histories = candidates.histories
    digests = {**before, **proposed}
    known = {ref: _attempts(history) for ref, history in histories.items()}
    find_lacking = _lacking_among(
        candidates.targets, histories, candidates.neighbours, candidates.beside
    )
    found: dict[Ref, tuple[Ref, ...]] = {}
    for target in candidates.targets:
        version = _version_before(target, candidates.history(target.ref))
        if version is None:
            found[target.ref] = tuple(_overwritten(candidates, proposed))
            continue
        attempts = _attempts_on(target.ref, known)
        if target.ref in proposed:
            attempts.append(proposed)
        found[target.ref] = find_lacking(target.ref, version, digests, attempts, proposed).refs
    return FrozenMap((ref, refs) for ref, refs in found.items() if refs)


def find_returns_beyond(candidates: Candidates, proposed: Mapping[Ref, str]) -> Iterator[Ref]:
    """Yield the workloads of which an undo goes to a version before the one that ran.

    That is once the attempt has failed and all is as it was: another verified version, whole, that
    the attempt does not apply (`proposed`) and that no field of others keeps it from.
    """
    histories = candidates.histories
    facts = {**candidates.beside, **{one.ref: one.before for one in candidates.objects}}
    gone = [ref for ref, fact in facts.items() if isinstance(fact, Absent)]
    digests = candidates.live_digests()
    find_lacking = _lacking_among(candidates.targets, histories, candidates.neighbours, facts)
    for target in candidates.targets:
        live, history = live_before(candidates.object(target.ref)), candidates.history(target.ref)
        choice = choose_version(target.snapshot, history, digests, gone)
        version = choice.version
        if live is None or version is None or version.is_applied(proposed):
            continue
        attempts = attempts_on(target.ref, histories)
        lacks = find_lacking(target.ref, version, digests, attempts).refs
        if not lacks and not conflicting_managers(live, choice, history):
            yield target.ref


def _overwritten(candidates: Candidates, proposed: Mapping[Ref, str]) -> Iterator[Ref]:
    """Yield the objects beside the workloads that existed before and that the attempt changes."""
    for planned in candidates.objects:
        before, trial = live_before(planned), planned.trial
        if is_workload(planned.ref) or planned.ref not in proposed or before is None:
            continue
        if trial is None or content(before.body) != content(trial.body):
            yield planned.ref


def _version_before(target: Target, history: History) -> JudgedVersion | None:
    """Return the verified version that served before, None if no gate verified it."""
    if not isinstance(target.baseline, Known):
        return None
    baseline: Baseline = target.baseline.value
    owned = (one for one in target.snapshot.list_owned() if one.name == baseline.revision_name)
    revision = next(owned, None)
    if revision is not None:
        return version_of(revision, history)
    digest = template_digest(baseline.template)
    return next((one for one in history.once_verified if one.template == digest), None)


def _has_body_of(
    targets: Collection[Target], histories: Mapping[Ref, History]
) -> Callable[[Ref, JudgedVersion, Ref], bool]:
    """Return a predicate that tells whether the body of a version's member is available.

    It takes the workload, the version and the member; a body is available if it is remembered in
    full, kept in a Secret, or the workload's own and its revision still exists. Many versions
    share members, so answers are cached.
    """
    owned = {target.ref: target.snapshot.list_owned() for target in targets}

    @functools.cache
    def template_of(ref: Ref, digest: str) -> Template | None:
        judged = histories.get(ref, History()).of_member(ref, digest)
        if judged is None or ref not in owned:
            return None
        made = judged.revision_in(owned[ref])
        return made.template if made is not None else None

    @functools.cache
    def is_whole(body: Body, ref: Ref, digest: str) -> bool:
        return with_values(body, template_of(ref, digest)) is not None

    def has_body(own: Ref, version: JudgedVersion, ref: Ref) -> bool:
        digest = version.members[ref]
        bodies = (history.bodies.get(digest) for history in histories.values())
        if any(body is not None and is_whole(body, ref, digest) for body in bodies):
            return True
        is_kept = any(digest in history.kept for history in histories.values())
        return is_kept or (ref == own and template_of(ref, digest) is not None)

    return has_body
