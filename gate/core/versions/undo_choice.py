"""Which version `undo` returns to: the newest verified one that is not what runs.

A version that failed, or that an undo left, is not returned to. Revision numbers do not help: a
return renumbers (the controller gives the revision that it uses again the next number), so the
second-newest revision may be the one that has just failed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body
from gate.core.model.configuration_references import configuration_names
from gate.core.model.fact import Absent, Fact, Known
from gate.core.model.objects import Container, Ref, Revision, Template
from gate.core.model.outcome import Reason
from gate.core.plan.plan import PlannedObject, Target
from gate.core.rollout.baseline import Baseline, find_serving_beside, return_to
from gate.core.rollout.snapshot import Snapshot
from gate.core.versions.history import History
from gate.core.versions.judged_version import (
    JudgedVersion,
    is_later_restart,
    is_restarted,
    template_digest,
)
from gate.core.versions.return_doubts import obstacle, serves_by_on_delete


@dataclass(frozen=True, slots=True)
class Choice:
    """What an undo returns to.

    `version` is one that a gate verified, whose set is known; without it only the template of
    `revision` is known. Neither is set if there is nothing to return to. `skipped` says in
    words which newer versions were passed over, and why.
    """

    version: JudgedVersion | None
    revision: Revision | None
    skipped: tuple[str, ...] = ()


def choose_version(
    snapshot: Snapshot, history: History, digests: Mapping[Ref, str], gone: Collection[Ref] = ()
) -> Choice:
    """Return the newest verified set that is not what runs, else the next older good revision.

    `digests` are those of what our manager has applied so far of each object of the verified
    versions; `gone` are the objects that no longer exist.
    """
    version = _newest_verified(snapshot, history, digests, gone)
    if version is not None:
        owned = _replica_set_of(version, snapshot)
        return Choice(version, owned, tuple(_newer(snapshot, history, owned)))
    current = snapshot.current()
    skipped = list(_left_configurations(snapshot, history, digests))
    for rs in _older(snapshot, current):
        why = _why_skipped(rs, snapshot, history)
        if why is None:
            return Choice(None, rs, tuple(skipped))
        skipped.append(f"{revision_name(rs)}: {why}")
    return Choice(None, None, tuple(skipped))


def older_revision(snapshot: Snapshot, history: History) -> Revision | None:
    """Return the newest good revision with another pod template than what runs, None for none.

    Where a verified version is remembered, one that no run has judged is not called good.
    """
    others = (rs for rs in _older(snapshot, snapshot.current()) if not _runs(rs, snapshot))
    good = (rs for rs in others if _why_skipped(rs, snapshot, history) is None)
    is_any = not history.once_verified
    return next((rs for rs in good if is_any or history.of_template(rs.template)), None)


def choice_name(choice: Choice, snapshot: Snapshot) -> str:
    """Return the name of a choice: its revision, and which configuration belongs to it."""
    version, revision = choice.version, choice.revision
    if revision is None:
        images = ", ".join(version.images) if version is not None else ""
        return f"the version with {images}"
    named = revision_name(revision)
    current = snapshot.current()
    if version is None and current is not None and _is_restart_of(current, revision):
        return f"{named}, the same version before its restart"
    if version is not None and _runs(revision, snapshot):
        return f"{named}, which runs, with its configuration of {version.judged_at}"
    return named


def serving_choice(choice: Choice, snapshot: Snapshot) -> Revision | None:
    """Return the revision of a choice that no gate verified, if it still serves, else None."""
    revision = choice.revision
    if choice.version is not None or revision is None:
        return None
    return revision if snapshot.count_pods(revision).available else None


def version_before(target: Target, history: History, digests: Mapping[Ref, str]) -> Fact[Baseline]:
    """Return what serves alone and was not left unverified; else what `undo` chooses.

    What serves may be what was applied last: then it does not count if each other one was bad.
    If no gate verified the choice, a revision without available pods does not count: nothing
    shows that it ever served. `digests` are those of `choose_version`.
    """
    choice = choose_version(target.snapshot, history, digests)
    if obstacle(target, history, digests) is None:
        are_all_bad = choice.version is None and choice.revision is None and choice.skipped
        return Absent() if are_all_bad and _is_itself(target) else target.baseline
    found = (
        choice.revision if choice.version is not None else serving_choice(choice, target.snapshot)
    )
    if found is not None:
        return Known(return_to(target.snapshot, found))
    if choice.version is None:
        return Absent()
    names = (Container(f"container {n}", image) for n, image in enumerate(choice.version.images))
    gone = Template(Body.of({}), tuple(names))
    return Known(Baseline(choice.version.revision_name, None, gone, served=False))


def _is_itself(target: Target) -> bool:
    """Tell whether what serves is what was applied last."""
    current, baseline = target.snapshot.current(), target.baseline
    return (
        isinstance(baseline, Known)
        and current is not None
        and (baseline.value.revision_name == current.name)
    )


def older_version(
    target: Target,
    planned: PlannedObject,
    history: History,
    digests: Mapping[Ref, str],
    left: JudgedVersion | None,
) -> Baseline | None:
    """Return the revision that `undo` would choose, if it serves and no gate verified one.

    Where `OnDelete` keeps all pods as they are, it is what they run, also if an undo left it. None
    if it belongs to the `planned` version, or if the attempt that `left` something unverified also
    left objects beside the workloads: old pods would come back with a configuration that they never
    ran with.
    """
    snapshot = target.snapshot
    found = serving_choice(choose_version(snapshot, history, digests), snapshot)
    runs = serves_by_on_delete(snapshot)
    if found is None and runs is not None and history.failure_of(runs) is None:
        found = runs
    trial = planned.trial.workload if planned.trial is not None else None
    if found is None or _leaves_configuration(left, digests):
        return None
    if trial is not None and template_digest(trial.template) == template_digest(found.template):
        return None
    return return_to(snapshot, found)


def _leaves_configuration(left: JudgedVersion | None, digests: Mapping[Ref, str]) -> bool:
    members = left.members.items() if left is not None else ()
    return any(
        not is_workload(ref) and digest and digests.get(ref, digest) == digest
        for ref, digest in members
    )


def rolled_back_from(snapshot: Snapshot, history: History) -> JudgedVersion | None:
    """Return the version from which the last attempt returned to what runs, None if there is none.

    An attempt that rolls back is remembered as two judgements: what was not verified, then what
    serves (`History.has_come_back`).
    """
    live = snapshot.live
    if live is None or len(history.versions) < 2:  # noqa: PLR2004 - the two judgements
        return None
    left, serves = history.versions[-2:]
    has_returned = not left.verified and serves.verified and history.has_come_back(serves)
    runs_again = serves.template == template_digest(live.template)
    return left if has_returned and runs_again else None


def is_restored(snapshot: Snapshot, history: History) -> bool:
    """Tell whether what is to run had been verified, and another version has failed since."""
    live = snapshot.live
    runs = template_digest(live.template) if live is not None else ""
    had_served = False
    for one in history.versions:
        if had_served and one.failed and one.template not in ("", runs):
            return True
        had_served = had_served or (one.verified and one.template == runs)
    return False


def version_of(revision: Revision, history: History) -> JudgedVersion | None:
    """Return the newest verified version of a revision's template, None if there is none.

    It may have failed since: the revision was named by a person.
    """
    digest = template_digest(revision.template)
    return next((one for one in history.once_verified if one.template == digest), None)


def _newest_verified(
    snapshot: Snapshot, history: History, digests: Mapping[Ref, str], gone: Collection[Ref]
) -> JudgedVersion | None:
    """Return the newest verified version that is not what runs, None if there is none.

    If the workload itself is the same, a version counts as another one only if an attempt of this
    history wrote an object beside it otherwise, or if an object of its own is missing. Changes by
    somebody else make no other version.
    """
    live, own = snapshot.live, snapshot.ref
    runs = template_digest(live.template) if live is not None else ""
    for version in history.verified:
        if version.template != runs or version.members.get(own) != digests.get(own):
            return version
        missed = [ref for ref in gone if _is_missed(ref, version, snapshot, history)]
        if any(
            history.has_written(ref, digests.get(ref)) or ref in missed
            for ref in version.iter_changed(digests)
        ):
            return version
    return None


def _is_missed(ref: Ref, version: JudgedVersion, snapshot: Snapshot, history: History) -> bool:
    """Tell whether a deleted object belongs to the version that runs, not to an older one.

    Its pods refer to it, or a later attempt left it unverified: whoever deleted it, as is advised
    for an object that became immutable, wants it back as it was.
    """
    live = snapshot.live
    names = configuration_names(live.template) if live is not None else ()
    since = history.versions[history.versions.index(version) + 1 :]
    was_left = any(not one.verified and ref in one.members for one in since)
    return was_left or f"{ref.kind.lower()}/{ref.name}" in names


def _left_configurations(
    snapshot: Snapshot, history: History, digests: Mapping[Ref, str]
) -> Iterator[str]:
    """Yield, in words, the versions of the running template whose configuration an undo left."""
    live, current = snapshot.live, snapshot.current()
    runs = template_digest(live.template) if live is not None else ""
    for version in history.unrevoked:
        left_at = history.left_at(version)
        if left_at is None or current is None or version.template != runs:
            continue
        if any(True for _ in version.iter_changed(digests)):
            name = f"{revision_name(current)} with its configuration of {version.judged_at}"
            yield f"{name}: an undo left it at {left_at}"


def _older(snapshot: Snapshot, current: Revision | None) -> list[Revision]:
    """Return all revisions other than `current`, newest first."""
    others = (rs for rs in snapshot.list_owned() if current is None or rs.uid != current.uid)
    numbered = (rs for rs in others if rs.revision is not None)
    return sorted(numbered, key=lambda rs: rs.revision or 0, reverse=True)


def _newer(snapshot: Snapshot, history: History, chosen: Revision | None) -> Iterator[str]:
    """Yield, in words, why each revision newer than the chosen one was passed over."""
    current = snapshot.current()
    for rs in _older(snapshot, current):
        if chosen is None or rs.uid == chosen.uid or (rs.revision or 0) < (chosen.revision or 0):
            continue
        why = _why_skipped(rs, snapshot, history) or _why_passed(rs, snapshot, history, chosen)
        yield f"{revision_name(rs)}: {why}"


def _why_passed(rs: Revision, snapshot: Snapshot, history: History, chosen: Revision) -> str:
    """Return why a good revision is not the choice."""
    if _runs(rs, snapshot):
        return "it is the version that runs, before a restart"
    if _is_restart_of(rs, chosen):
        same = "a restart of" if is_restarted(rs.template) else "the same version as"
        return f"it is {same} {revision_name(chosen)}"
    judged = history.of_template(rs.template)
    if judged is None:
        return "there is no record that it was verified"
    return f"verified earlier, at {judged.judged_at}"


def _runs(rs: Revision, snapshot: Snapshot) -> bool:
    """Tell whether a revision belongs to the running version; a restart makes no new version."""
    live = snapshot.live
    return live is not None and template_digest(rs.template) == template_digest(live.template)


def _is_restart_of(one: Revision, other: Revision) -> bool:
    """Tell whether two revisions differ only in the time of a restart."""
    is_same = template_digest(one.template) == template_digest(other.template)
    return is_same and one.uid != other.uid


def _replica_set_of(version: JudgedVersion, snapshot: Snapshot) -> Revision | None:
    """Return the revision that a return to a version uses, None if it is gone.

    What was applied of a version has no restart time, so a revision that a restart made is used
    only if there is no other, or if it is the current one.
    """
    current = snapshot.current()
    if current is not None and template_digest(current.template) == version.template:
        return current
    plain = [rs for rs in snapshot.list_owned() if not is_restarted(rs.template)]
    return version.revision_in(plain) or version.revision_in(snapshot.list_owned())


def _why_skipped(rs: Revision, snapshot: Snapshot, history: History) -> str | None:
    """Return why a revision is not to be returned to, None if nothing speaks against it."""
    current = snapshot.current()
    if current is not None and is_later_restart(rs.template, current.template):
        why = _why_unverified(history.failure_of(rs))
        return "it is a restart of the version that runs" + (f", and {why}" if why else "")
    judged = history.failure_of(rs) or history.of_template(rs.template)
    is_unproven = judged is None and not snapshot.count_pods(rs).available
    if why := _why_unverified(judged) or (_why_unproven(rs, history) if is_unproven else ""):
        return why
    left_at = history.revision_left_at(rs)
    if left_at is not None:
        return f"an undo left it at {left_at}"
    if judged is not None or current is None or rs == find_serving_beside(snapshot):
        return None
    if _was_left_for(rs, current):
        return f"revision {current.revision} is a return from it"
    return None


def _why_unverified(judged: JudgedVersion | None) -> str:
    if judged is None or judged.why is None:
        return ""
    verb = "it failed" if judged.failed else "it was not verified"
    return f"{verb} at {judged.judged_at} ({judged.why.reason}: {judged.why.message})"


def _why_unproven(rs: Revision, history: History) -> str:
    """Say that a revision only stood in a template, "" if pods of it may have run."""
    judged = history.of_revision(rs)
    if judged is None or judged.why is None or judged.why.reason is not Reason.NO_ROLLOUT:
        return ""
    return f"no pod ran it when it was applied at {judged.judged_at} ({judged.why.reason})"


def _was_left_for(rs: Revision, current: Revision) -> bool:
    """Tell whether what runs had already run before `rs`, and was returned to from it.

    Its numbers of then are not known of every kind; the older one was made first.
    """
    number = rs.revision or 0
    is_again = any(earlier < number for earlier in current.earlier_revisions)
    return is_again or "" < current.created_at < rs.created_at


def revision_name(rs: Revision) -> str:
    """Return the number of a revision and its images."""
    return f"revision {rs.revision} ({', '.join(rs.template.images())})"
