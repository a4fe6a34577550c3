"""A version of a workload as an attempt applied it, and what identifies its pod template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Final

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import Body, FrozenMap
from gate.core.model.objects import CleanText, Ref, Revision, Template
from gate.core.model.origin import Origin
from gate.core.model.outcome import UNPROVEN, AnyReason, Reason
from gate.core.rollout.causes import Cause
from gate.core.versions.surroundings import is_excused

_NO_FAILURES: Final = (
    Reason.INTERRUPTED,
    Reason.FORBIDDEN,
    Reason.CHECK_INCONCLUSIVE,
    Reason.CHECK_ERROR,
    Reason.SIBLING_FAILED,
    Reason.PAUSED,
    Reason.SCALED_TO_ZERO,
)
"""Reasons of an end that say nothing about the attempt's version."""
_NO_VERDICT: Final = (
    Reason.COMPLETE,
    Reason.NO_CHANGE,
    *UNPROVEN,
    Reason.SUPERSEDED,
    Reason.DELETED,
    Reason.LOCKED,
    Reason.SIBLING_LOCKED,
)
"""Reasons why what an attempt wrote was neither verified nor found bad."""

_OF_CHECKS: Final = (Reason.CHECK_FAILED, Reason.CHECK_INCONCLUSIVE, Reason.CHECK_ERROR)
"""Reasons by which a check that was asked left a version unverified."""
_OF_RUNNING_PODS: Final = (
    Reason.CRASH_LOOP,
    Reason.OUT_OF_MEMORY,
    Reason.READINESS_LOST,
    Reason.AVAILABILITY_LOST,
)
"""Reasons by which pods fail that may have been ready before."""

RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a pod template by which `kubectl rollout restart` makes new pods."""


def template_digest(template: Template) -> str:
    """Return what identifies a pod template: its digest without the time of a restart."""
    body = template.body.thaw()
    annotations = (body.get("metadata") or {}).get("annotations") or {}
    if RESTARTED_AT not in annotations:
        return template.body.digest
    del annotations[RESTARTED_AT]
    if not annotations:
        del body["metadata"]["annotations"]
    return Body.of(body).digest


def restarted_at(template: Template) -> str:
    """Return the time of the restart that made the revision of a pod template, "" for none."""
    metadata = template.body.thaw().get("metadata") or {}
    return str((metadata.get("annotations") or {}).get(RESTARTED_AT) or "")


def is_restarted(template: Template) -> bool:
    """Tell whether a restart made the revision of a pod template."""
    return bool(restarted_at(template))


def is_later_restart(one: Template, other: Template) -> bool:
    """Tell whether `one` is `other` restarted since.

    False if the times cannot be compared: anybody may write the annotation.
    """
    if template_digest(one) != template_digest(other) or not is_restarted(one):
        return False
    if not is_restarted(other):
        return True
    try:
        times = [datetime.fromisoformat(restarted_at(each)) for each in (one, other)]
        return times[0] > times[1]
    except (ValueError, TypeError):
        return False


def is_failure(reason: AnyReason) -> bool:
    """Tell whether the reason of an attempt's end speaks against its version."""
    return reason not in (*_NO_FAILURES, *_NO_VERDICT) and not is_excused(reason, ())


@dataclass(frozen=True, slots=True)
class JudgedVersion:
    """A version of one workload, as an attempt applied it and judged it.

    `template` is the `template_digest` of its pods, "" if the attempt changed only objects beside
    them; `images` are those of its containers. `members` has the digest of what our manager had
    applied of each object of the attempt, the workload included; `NOTHING` for one that somebody
    else had changed by then. A verified version also has the objects of earlier attempts that this
    one did not write. `revision_name` and `revision` are those of that time. `why` says what kept
    it from being verified, None if it was. `attempt_id`, `run_url` and `judged_at` (RFC 3339) are
    those of the judgement: a recovery judges with the id of the attempt that it finishes, and with
    a `+` behind that if it was judged in the same second. `origin` is that of the apply that made
    it: None if another command rolled it out, or if it serves again and nothing is remembered of
    that apply.
    """

    template: str
    images: tuple[CleanText, ...]
    members: FrozenMap[Ref, str]
    revision_name: str = ""
    revision: int | None = None
    why: Cause | None = None
    attempt_id: str = ""
    run_url: str = ""
    judged_at: str = ""
    origin: Origin | None = None

    @property
    def verified(self) -> bool:
        """Whether it was verified."""
        return self.why is None

    @property
    def failed(self) -> bool:
        """Whether it is known to be bad; an attempt that was cut off says nothing about that."""
        return self.why is not None and is_failure(self.why.reason)

    @property
    def is_unjudged(self) -> bool:
        """Whether its attempt ended without a verdict on what it wrote."""
        return self.why is not None and self.why.reason in _NO_VERDICT

    @property
    def is_left_by_check(self) -> bool:
        """Whether a check failed it, or could not decide."""
        return self.why is not None and self.why.reason in _OF_CHECKS

    @property
    def is_left_by_pods(self) -> bool:
        """Whether its pods failed in a way that pods which are ready now do not refute."""
        return self.why is not None and self.why.reason in _OF_RUNNING_PODS

    def is_same_as(self, other: JudgedVersion) -> bool:
        """Tell whether both are the same pod template with the same objects beside it."""
        return (self.template, self.members) == (other.template, other.members)

    @property
    def check(self) -> str:
        """The name of the check that left it unverified, "" if none did."""
        why = self.why if self.is_left_by_check else None
        return why.check if why is not None else ""

    def revokes(self, other: JudgedVersion) -> bool:
        """Tell whether this says of a version that was verified that it failed, or is in doubt.

        It is in doubt if a check left it. The verified one may have more members: this names only
        what its attempt wrote.
        """
        speaks = self.failed or self.is_left_by_check
        return speaks and other.verified and self.is_part_of(other)

    def is_part_of(self, other: JudgedVersion) -> bool:
        """Tell whether another version has its pod template, if it has one, and all its objects.

        With the same pod template the workloads may differ: by a partition or by replicas, which
        say how a version is rolled out, and not what runs.
        """
        if not self.template:
            return self.members.items() <= other.members.items()
        return self.template == other.template and not any(self.iter_changed(other.members))

    def iter_changed(self, digests: Mapping[Ref, str]) -> Iterator[Ref]:
        """Yield the objects beside the workloads that are not as this version had them."""
        for ref, digest in self.members.items():
            if not is_workload(ref) and digests.get(ref) != digest:
                yield ref

    def revision_in(self, owned: Iterable[Revision]) -> Revision | None:
        """Return the newest of a workload's revisions that has its template, None for none."""
        found = [rs for rs in owned if template_digest(rs.template) == self.template]
        return max(found, key=lambda rs: rs.revision or 0, default=None)

    def is_applied(self, digests: Mapping[Ref, str]) -> bool:
        """Tell whether its objects in `digests`, at least one, are as this version had them."""
        common = [ref for ref, digest in self.members.items() if digest and ref in digests]
        return bool(common) and all(self.members[ref] == digests[ref] for ref in common)


@dataclass(frozen=True, slots=True)
class LeftVersion:
    """A version that an `undo` went back from at `left_at` (RFC 3339): given up, not failed.

    `template` and `members` are like those of `JudgedVersion`; `members` are what the undo changed
    beside it, and the workload where its template stayed. `revision_name` is that of its revision
    where the undo took a restart back, which makes several of one template; "" if all of that
    template were left.
    """

    template: str
    members: FrozenMap[Ref, str]
    left_at: str = ""
    revision_name: str = ""

    def is_of(self, version: JudgedVersion) -> bool:
        """Tell whether a version is the one that was left."""
        is_part = self.members.items() <= version.members.items()
        return is_part and self.is_of_revision(version.template, version.revision_name)

    def is_of_revision(self, template: str, revision_name: str) -> bool:
        """Tell whether a revision, by the digest of its template and its name, was left."""
        is_same = not (self.revision_name and revision_name) or self.revision_name == revision_name
        return is_same and self.template == template
