"""Why the objects as they were right before an attempt are no set to return to.

They did not serve, or an earlier attempt left some of them and nobody has verified them since: a
version that failed and was kept, or a part of one beside another version.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gate.core.model.body import NOTHING
from gate.core.model.fact import Absent, Known, Unknown
from gate.core.model.objects import CleanText, Ref, Revision, Template
from gate.core.model.outcome import UNPROVEN, Reason
from gate.core.plan.plan import Target
from gate.core.rollout.baseline import find_serving_beside
from gate.core.rollout.causes import Cause
from gate.core.rollout.snapshot import Snapshot
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, is_restarted, template_digest
from gate.core.versions.open_findings import list_findings

_SHORT: Final = CleanText("too few pods of what runs are available")
_UNCLEAR: Final = CleanText("its status does not tell whether what runs ever served")
_NONE_ALONE: Final = CleanText("no version serves alone")
_NO_VERDICT: Final = Cause(
    Reason.COMPLETE, CleanText("no run has judged it with what stands beside it")
)
_NOT_THE_LIVE_ONE: Final = CleanText("no pod runs its live template")
_NOT_WHAT_IS_LIVE: Final = CleanText("what is live does not serve")


def obstacle(target: Target, history: History, digests: Mapping[Ref, str]) -> CleanText | None:
    """Return why a changed workload must not return to what runs, None if it may.

    `digests` are those of what our manager has applied so far of each object of the attempt.
    """
    if isinstance(target.baseline, Unknown):
        is_read = target.snapshot.live is not None
        return _UNCLEAR if is_read and history.verified else None
    if isinstance(target.baseline, Absent):
        return why_not_alone(target.snapshot)
    if target.baseline.value.falls_short and history.verified:
        return _SHORT
    left = left_unverified(target, history, digests)
    if left is None or left.why is None:
        return None
    return CleanText(f"what runs was not verified ({left.why.reason})")


def describe_doubt(reason: str) -> str:
    """Say why a version is not verified: its reason, but for one that says that it was complete."""
    return "no verdict" if reason == Reason.COMPLETE else reason


def why_not_alone(snapshot: Snapshot) -> CleanText:
    """Say why what is live is no version to return to: it does not serve, or not alone."""
    if _serves_unrolled(snapshot) is not None:
        return _NOT_THE_LIVE_ONE
    return _NOT_WHAT_IS_LIVE if find_serving_beside(snapshot) is not None else _NONE_ALONE


def _serves_unrolled(snapshot: Snapshot) -> Revision | None:
    """Return what all pods run, and serve, while none takes the live template (`OnDelete`)."""
    current = snapshot.current()
    run = [one for one in snapshot.list_owned() if snapshot.count_pods(one).created]
    if current is None or current in run or len(run) != 1:
        return None
    return run[0] if snapshot.count_pods(run[0]).available else None


def serves_by_on_delete(snapshot: Snapshot) -> Revision | None:
    """Return what serves alone since the strategy leaves its pods to people, None otherwise.

    Beside a template that a controller has yet to roll out, old pods are about to go.
    """
    leaves = snapshot.live is not None and snapshot.live.leaves_old_pods
    return _serves_unrolled(snapshot) if leaves else None


def is_best_known(target: Target, history: History, digests: Mapping[Ref, str]) -> bool:
    """Tell whether what serves alone is the best to return to, though it is left unverified.

    No version is verified and has not failed since. This one was, and to keep one that fails in its
    place helps nobody; or it was complete before the attempt, and nothing was found against it.
    """
    if not isinstance(target.baseline, Known) or history.unrevoked:
        return False
    left, live = left_unverified(target, history, digests), target.snapshot.live
    if left is None or live is None:
        return False
    if any(map(left.revokes, history.once_verified[:1])):
        return True
    runs = template_digest(live.template)
    if left.failed or any(one.failed and one.template == runs for one in history.versions):
        return False
    return target.snapshot.kind.is_rolled_out(target.snapshot, live)


def find_doubt(target: Target, history: History, digests: Mapping[Ref, str]) -> Cause | None:
    """Return why what serves before an attempt is not verified, None if it is, or nobody knows.

    Also of what is no obstacle: the last judgement of its revision counts, as `history` has it.
    What somebody else made beside what is unverified has no verdict. A restart without a verdict
    takes nothing from the verification of what it restarted.
    """
    left, current = left_unverified(target, history, digests), target.snapshot.current()
    if current is None or (left is not None and not _is_of_another(left, current)):
        return left.why if left is not None else None
    judged = find_last_word(history, current, target.ref)
    if judged is not None and _is_restart_of_verified(judged, current, history):
        return None
    why = judged.why if judged is not None else None
    return _NO_VERDICT if why is None and left is not None else why


def _is_restart_of_verified(judged: JudgedVersion, current: Revision, history: History) -> bool:
    """Tell whether a revision is what was verified, restarted, and nothing was found against it."""
    if judged.verified or judged.failed or judged.is_left_by_check:
        return False
    return is_restarted(current.template) and any(map(judged.is_part_of, history.unrevoked))


def find_last_word(history: History, revision: Revision, ref: Ref) -> JudgedVersion | None:
    """Return the newest judgement of a revision of the workload `ref`, None if there is none.

    What an attempt has left complete, without a verdict, is not what was verified by another
    partition before.
    """
    judged = history.of_revision(revision)
    if judged is None or not judged.verified:
        return judged
    of_template = (one for one in history.unjudged if one.template == judged.template)
    since = (one for one in of_template if one.judged_at >= judged.judged_at)
    ran = (one for one in since if one.why is not None and one.why.reason not in UNPROVEN)
    return next((one for one in ran if one.members.get(ref) != judged.members.get(ref)), judged)


def _is_of_another(left: JudgedVersion, current: Revision) -> bool:
    """Tell whether the pods of what was left unverified are not those of a revision."""
    return left.template not in ("", template_digest(current.template))


def left_unverified(
    target: Target, history: History, digests: Mapping[Ref, str]
) -> JudgedVersion | None:
    """Return the newest unverified version of which something is still live, None for none.

    An object that was verified with any version counts as verified, except with an earlier
    verification of this same version, unless that is still the last one. If somebody has since
    changed the workload of an unverified version to another template, it is theirs. One that
    failed stands as long as its template and its configuration do, however it is rolled out; one
    of which something is open, as long as its template does.
    """
    live = target.snapshot.live
    runs = template_digest(live.template) if live is not None else ""
    for version in reversed(history.versions):
        if version.verified:
            continue
        if live is not None and _is_left_as_live(version, live.template, history, digests):
            return version
        if not _stands(version, digests, _verified_pairs(version, history)):
            continue
        is_own = version.members.get(target.ref) == digests.get(target.ref)
        if not is_own or version.template in ("", runs):
            return version
    return None


def _is_left_as_live(
    version: JudgedVersion, template: Template, history: History, digests: Mapping[Ref, str]
) -> bool:
    """Tell whether this is open about the live pods, or the last word with their configuration."""
    if version in list_findings(history, template):
        return True
    is_last_word = version.failed and history.of_template(template) == version
    return is_last_word and not any(version.iter_changed(digests))


def _verified_pairs(unverified: JudgedVersion, history: History) -> set[tuple[Ref, str]]:
    """Return the objects and digests that count as verified although `unverified` has them.

    The last verification always counts: a failure returns to it, whatever was doubted since.
    """
    earlier = history.versions[: history.versions.index(unverified)]
    return {
        pair
        for age, one in enumerate(history.unrevoked)
        if age == 0 or one not in earlier or not unverified.is_part_of(one)
        for pair in one.members.items()
    }


def _stands(
    version: JudgedVersion, digests: Mapping[Ref, str], verified: set[tuple[Ref, str]]
) -> bool:
    """Tell whether any object is as this version had it, and as no verified one had it."""
    return any(
        digest != NOTHING and digests.get(ref) == digest and (ref, digest) not in verified
        for ref, digest in version.members.items()
    )
