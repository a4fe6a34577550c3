"""Why an undo cannot return to its target, and what works instead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gate.app.commands.undo_subject import UndoSubject, describe_rollback, running_name
from gate.core.model.body import NOTHING
from gate.core.model.fact import Absent, Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.lock import Lock
from gate.core.model.objects import Ref, Revision
from gate.core.model.outcome import Reason
from gate.core.ssa.managed_fields import has_other_owners
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.undo_choice import Choice, choice_name, older_revision, revision_name
from gate.core.versions.undo_set import Lacking
from gate.errors import RefusedError


def nothing_left(found: UndoSubject, choice: Choice) -> RefusedError:
    """Return the refusal if there is nothing to return to; it names the versions skipped.

    To one of them it points as well, unless a rollback has left it already: whoever calls then may
    not know of that.
    """
    if not choice.skipped:
        return RefusedError(
            f"{found.ref} has no earlier revision",
            reason=Reason.NO_BASELINE,
            hint=f"see what there is: {found.command('history')}",
        )
    skipped = "; ".join(choice.skipped)
    return RefusedError(
        f"{found.ref} has no other good version to return to; skipped {skipped}",
        reason=Reason.NO_BASELINE,
        hint=_hint_of_skipped(found),
    )


def _hint_of_skipped(found: UndoSubject) -> str:
    apply = "apply the manifest of the version that should run"
    if rolled_back := describe_rollback(found):
        return f"{rolled_back}: {running_name(found)} runs since; {apply}"
    snapshot = found.live.snapshot
    current, owned = snapshot.current(), snapshot.list_owned()
    if len(owned) == 1:
        return "apply the manifest of that version"
    older = [one for one in owned if current is None or one.uid != current.uid]
    which, number = "a skipped one", "N"
    if len(older) == 1 and older[0].revision is not None:
        which, number = f"revision {older[0].revision}", str(older[0].revision)
    to_one = f"to return to {which} anyway: {found.command('undo', '--to-revision', number)}"
    return f"{apply}; {to_one}"


def not_whole(
    found: UndoSubject, choice: Choice, version: JudgedVersion, missing: Lacking
) -> RefusedError:
    """Return the refusal of a mixed set: why each object cannot be restored, and what works."""
    has_template = choice.revision is not None or found.ref not in missing.not_kept
    hint = _hint(found, version, has_template=has_template)
    if missing.refs == missing.immutable:
        hint = _hint_of_immutable(found, missing.immutable)
    if any(ref.kind == "Secret" for ref in missing.not_kept):
        hint = f"{hint}; bodies of Secrets are kept for later with --keep-verified-secrets alone"
    locks = sorted({lock for ref in missing.of_others if (lock := found.find_attempt(ref))})
    if locks:
        hint = f"{_hint_of_attempts(found, locks)}; {hint}"
    whys, shown = (
        "; ".join(_whys(found, version, missing)),
        choice_name(choice, found.live.snapshot),
    )
    return RefusedError(
        f"{found.ref} cannot be restored whole to {shown}: {whys}",
        reason=Reason.SET_INCOMPLETE,
        hint=hint,
    )


def _hint(found: UndoSubject, version: JudgedVersion, *, has_template: bool) -> str:
    """Return what works instead; the pod template that already runs would change nothing.

    `has_template` says whether the version's pod template is still available.
    """
    apply = "apply the manifest of that version"
    number = found.settings.to_revision
    if has_template and version.template != template_digest(found.live.workload.template):
        alone = () if number is None else ("--to-revision", str(number))
        undo = found.command("undo", "--deployment-only", *alone)
        return f"the pod template alone: {undo}; or {apply}"
    older = older_revision(found.live.snapshot, found.history)
    if older is None or _is_applied(found, older):
        return apply
    undo = found.command("undo", "--deployment-only", "--to-revision", str(older.revision))
    return f"{apply}; or the pod template alone of {revision_name(older)}: {undo}"


def _is_applied(found: UndoSubject, revision: Revision) -> bool:
    """Tell whether only fields of others distinguish what runs from a verified revision.

    To return to its pod template would change nothing, and be refused.
    """
    judged = found.history.of_template(revision.template)
    applied = judged.members.get(found.ref) if judged is not None else None
    return bool(applied) and applied == found.digests().get(found.ref)


def _hint_of_immutable(found: UndoSubject, refs: Sequence[Ref]) -> str:
    """Return how to restore the set: the undo creates again what was deleted."""
    named = [f"{ref.kind.lower()}/{ref.name}" for ref in refs]
    cluster, namespace = found.session.connection.cluster, found.ref.namespace
    number = found.settings.to_revision
    flags = () if number is None else ("--to-revision", str(number))
    delete = cluster.command("kubectl", "delete", *named, namespace=namespace)
    return (
        f"delete what is immutable: {delete}; then create it again: {found.command('undo', *flags)}"
    )


def _hint_of_attempts(found: UndoSubject, locks: Sequence[Lock]) -> str:
    """Return what works later: once the attempts of other runs have ended, or were finished."""
    cluster = found.session.connection.cluster
    shown = cluster.command("rollout-gate", "locks", namespace=locks[0].namespace)
    named = ", ".join(map(str, locks))
    return f"undo once the attempt on {named} has ended: {shown} says whether it still runs"


def _whys(found: UndoSubject, version: JudgedVersion, missing: Lacking) -> Iterator[str]:
    """Yield why objects cannot be restored, grouped by reason."""
    theirs = [ref for ref in missing.not_kept if version.members.get(ref) == NOTHING]
    gone = [ref for ref in missing.not_kept if isinstance(found.lives.get(ref), Absent)]
    known = (*theirs, *gone)
    secrets = [ref for ref in missing.not_kept if ref.kind == "Secret" and ref not in known]
    lost = [ref for ref in missing.not_kept if ref not in (*known, *secrets)]
    for refs, why in (
        (theirs, "was not as a gate had written it when that version was verified"),
        (
            [ref for ref in gone if ref not in theirs],
            "is gone, and its content at that time was not kept",
        ),
        (secrets, "has changed since, and its content at that time was not kept"),
        (lost, "has changed since, and its content at that time is not in the history"),
    ):
        if refs:
            yield f"{', '.join(map(str, refs))} {why}"
    for ref in missing.immutable:
        yield f"{ref} is immutable now, and no write can change it"
    for ref in missing.of_others:
        yield f"{ref} {_whose(found, ref)}"


def _whose(found: UndoSubject, ref: Ref) -> str:
    """Say who last changed an object whose live state no attempt on the workload wrote."""
    if lock := found.find_attempt(ref):
        return f"is as {lock} needs it, which another run is rolling out now or has left unfinished"
    digest, fact = found.digests().get(ref), found.lives.get(ref)
    for one, history in found.histories().items():
        if one == found.ref or not digest:
            continue
        if history.has_written(ref, digest):
            return f"is as a run on {one} left it, which this undo does not return"
        if history.of_member(ref, digest) is not None:
            return f"is as {one} was verified with it, which this undo does not return"
    live = fact.value if isinstance(fact, Known) else None
    if live is None or has_other_owners(live.thaw_managed_fields(), FIELD_MANAGER):
        return "was changed since by somebody else"
    return f"was changed since by a run of the gate that the lock of {found.ref} does not remember"
