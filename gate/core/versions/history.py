"""What a lock remembers of its workload: which versions were verified, which were not, and why.

A version is remembered with all objects that it was applied with, so that to return to it is to
return to one set: never one version's pods with another one's configuration.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Final, TypeVar

from gate.core.frozen import dataclass
from gate.core.kinds.registry import is_workload
from gate.core.model.body import NOTHING, Body, FrozenMap
from gate.core.model.confidential_bodies import ConfidentialBody
from gate.core.model.objects import Ref, Revision, Template
from gate.core.model.outcome import Reason
from gate.core.versions.closing_workload import ClosingWorkload
from gate.core.versions.judged_version import JudgedVersion, LeftVersion, template_digest
from gate.core.versions.known_replicas import ClosingReplicas, KnownReplicas

MOST_VERIFIED: Final = 3
MOST_UNVERIFIED: Final = 5
MOST_UNJUDGED: Final = 5
MOST_LEFT: Final = 5
MOST_RESTARTED: Final = 5
"""How many versions are remembered of a workload, the newest ones.

Of those that were not verified or that an undo left, the newest of each revision that still exists
is remembered beside these (`ClosingWorkload`).
"""
AnyVersion = TypeVar("AnyVersion", JudgedVersion, LeftVersion)
_SECONDS: Final = len("2026-01-01T00:00:00")


@dataclass(frozen=True, slots=True)
class Closing:
    """What the end of an attempt says of one workload that it wrote.

    `versions` are in the order of their judgement: what was rolled out, then what serves again.
    One whose `why` is no verdict (`JudgedVersion.is_unjudged`) is remembered only as written.
    `bodies` are the applied bodies, by digest, of the members of verified versions that may be
    stored in a Lease; `confidential` are the others. `paused` is whether the attempt left it
    paused. `workload` is the workload at that time. `beside` has the digests of the objects that
    earlier attempts wrote and this one did not. `left` is what an undo went back from, without a
    time.
    """

    ref: Ref
    versions: tuple[JudgedVersion, ...] = ()
    bodies: FrozenMap[str, Body] = field(default_factory=FrozenMap)
    paused: bool = False
    replicas: ClosingReplicas = field(default_factory=ClosingReplicas)
    confidential: FrozenMap[str, ConfidentialBody] = field(default_factory=FrozenMap)
    workload: ClosingWorkload = field(default_factory=ClosingWorkload)
    beside: FrozenMap[Ref, str] = field(default_factory=FrozenMap)
    left: LeftVersion | None = None


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of an attempt; `left_open` is whether something is left to finish.

    `attempt_id` is that of the attempt that a recovery finishes, "" if it is the holder's own.
    """

    left_open: bool
    workloads: tuple[Closing, ...] = ()
    attempt_id: str = ""


@dataclass(frozen=True, slots=True)
class History:
    """What a lock remembers of its workload.

    `versions` are the judged ones, oldest first and each only once; `bodies` are the applied bodies
    of the verified ones, by digest. `paused` is true while a pause of ours may be in effect.
    `replicas` and `uid` are those of the remembered workload; another one may have been created
    under its name since. `kept` are the digests of the bodies that are kept whole in a Secret
    beside the lock, each with its size there in characters. `unjudged` is what was written by
    attempts that ended without a verdict on it, `left` the versions that an undo went back from;
    both oldest first. `others` are objects beside the workload as its attempts found them, or
    gave them back, without having written them: another run wrote those, and an undo leaves them
    alone.
    """

    versions: tuple[JudgedVersion, ...] = ()
    bodies: FrozenMap[str, Body] = field(default_factory=FrozenMap)
    paused: bool = False
    replicas: KnownReplicas = field(default_factory=KnownReplicas)
    uid: str = ""
    kept: FrozenMap[str, int] = field(default_factory=FrozenMap)
    unjudged: tuple[JudgedVersion, ...] = ()
    left: tuple[LeftVersion, ...] = ()
    others: frozenset[tuple[Ref, str]] = frozenset()

    @property
    def verified(self) -> tuple[JudgedVersion, ...]:
        """Return the versions to return to: `unrevoked`, without those that an undo left."""
        return tuple(one for one in self.unrevoked if self.left_at(one) is None)

    @property
    def unrevoked(self) -> tuple[JudgedVersion, ...]:
        """Return the verified versions that did not fail since, nor are in doubt, newest first."""
        return tuple(one for one in self.once_verified if not _is_revoked(one, self.versions))

    @property
    def once_verified(self) -> tuple[JudgedVersion, ...]:
        """Return `unrevoked` with the others that were verified, which a person may still name.

        Each only once: what was verified again after a restart is one version.
        """
        every = [one for one in reversed(self.versions) if one.verified]
        return tuple(
            one for age, one in enumerate(every) if not any(map(one.is_same_as, every[:age]))
        )

    def left_at(self, version: JudgedVersion) -> str | None:
        """Return when an undo went back from a version (RFC 3339), None if none did."""
        return next((one.left_at for one in reversed(self.left) if one.is_of(version)), None)

    def has_come_back(self, version: JudgedVersion) -> bool:
        """Tell whether a version was verified last by an attempt that returned to it.

        That judges both at once, as one attempt; `after` tells apart two ends of one.
        """
        attempt = (version.attempt_id, version.judged_at)
        return bool(version.attempt_id) and any(
            (one.attempt_id, one.judged_at) == attempt and not one.verified for one in self.versions
        )

    def revision_left_at(self, revision: Revision) -> str | None:
        """Return when an undo went back from a revision (RFC 3339), None if none did."""
        of_revision = (template_digest(revision.template), revision.name)
        newest_first = reversed(self.left)
        return next((one.left_at for one in newest_first if one.is_of_revision(*of_revision)), None)

    def without_namespaces(self, namespaces: Collection[str]) -> History:
        """Return the history as if its versions had never had an object in some namespaces."""

        def shorten(version: AnyVersion) -> AnyVersion:
            members = version.members.items()
            kept = FrozenMap((ref, one) for ref, one in members if ref.namespace not in namespaces)
            return replace(version, members=kept)

        return replace(
            self,
            versions=tuple(map(shorten, self.versions)),
            unjudged=tuple(map(shorten, self.unjudged)),
            left=tuple(map(shorten, self.left)),
        )

    def replicas_of(self, uid: str) -> KnownReplicas:
        """Return what is known of the replicas of the workload of that uid."""
        return self.replicas if uid == self.uid else KnownReplicas()

    def of_template(self, template: Template) -> JudgedVersion | None:
        """Return the newest judgement of a pod template, None if there is none."""
        digest = template_digest(template)
        return next((one for one in reversed(self.versions) if one.template == digest), None)

    def failure_of(self, revision: Revision) -> JudgedVersion | None:
        """Return the newest judgement of a revision by its name if it is a failure, else None."""
        named = (one for one in reversed(self.versions) if one.revision_name == revision.name)
        newest = next(named, None)
        return newest if newest is not None and newest.failed else None

    def of_member(self, ref: Ref, digest: str) -> JudgedVersion | None:
        """Return the newest verified version that has `ref` with that digest, None for none."""
        return next((one for one in self.once_verified if one.members.get(ref) == digest), None)

    def has_written(self, ref: Ref, digest: str | None) -> bool:
        """Tell whether an attempt on this workload wrote `ref` with that digest."""
        known = (one.members.get(ref) for one in (*self.versions, *self.unjudged))
        return bool(digest) and digest in known and (ref, digest) not in self.others

    def written_of(self, version: JudgedVersion) -> Mapping[Ref, str]:
        """Return the members of a version that an attempt of this history had written."""
        return dict(pair for pair in version.members.items() if pair not in self.others)

    def of_revision(self, revision: Revision) -> JudgedVersion | None:
        """Return the newest judgement of a revision, None if there is none.

        A restart makes several revisions of one template; one of them alone may have failed or
        never had a pod. A revision that no judgement names gets one that names none, of its
        template and judged after it was created: a verification if there is one.
        """
        digest = template_digest(revision.template)
        newest_first = [
            one
            for one in (*reversed(self.versions), *reversed(self.unjudged))
            if one.template == digest
        ]
        named = (one for one in newest_first if one.revision_name == revision.name)
        made_at = revision.created_at[:_SECONDS]
        others = [
            one
            for one in newest_first
            if not one.revision_name and made_at <= one.judged_at[:_SECONDS]
        ]
        verified = (one for one in others if one.verified)
        return next(named, None) or next(verified, None) or next(iter(others), None)

    def after(self, closing: Closing, attempt_id: str, run_url: str, at: str) -> History:
        """Return the history with one more attempt, which ended `at` (RFC 3339)."""
        versions = [one for one in self.versions if not closing.workload.has_passed(one)]
        attempt_id = self._tell_apart(attempt_id, at)
        unjudged = list(self.unjudged)
        for judged in closing.versions:
            new = replace(judged, attempt_id=attempt_id, run_url=run_url, judged_at=at)
            if new.is_unjudged:
                unjudged = [one for one in unjudged if not one.is_same_as(new)]
                unjudged.append(_with_origin(new, versions))
                versions = [one for one in versions if not _is_answered(one, new)]
                continue
            new = _with_what_stayed(new, versions, closing.beside)
            new = _with_origin(new, versions)
            versions = [one for one in versions if not _is_replaced(one, new)]
            versions.append(new)
        left = self._left_after(closing, at)
        kept = _newest(replace(self, versions=tuple(versions), left=left), closing.workload)
        bodies = {**self.bodies, **closing.bodies}
        needed = {digest for one in kept if one.verified for digest in one.members.values()}
        return replace(
            self,
            versions=kept,
            bodies=FrozenMap((key, body) for key, body in bodies.items() if key in needed),
            kept=FrozenMap((key, size) for key, size in self.kept.items() if key in needed),
            unjudged=closing.workload.keep_judged(unjudged, MOST_UNJUDGED),
            left=left,
            others=self._others_after(closing, kept),
            paused=closing.paused,
            replicas=self.replicas_of(closing.workload.uid).after(closing.replicas),
            uid=closing.workload.uid,
        )

    def _tell_apart(self, attempt_id: str, at: str) -> str:
        """Return the id of an attempt that ended `at`, and that no other one has with that time.

        One that a signal ended may be finished by a recovery in the same second.
        """
        taken = {one.attempt_id for one in self.versions if one.judged_at == at}
        while attempt_id in taken:
            attempt_id = f"{attempt_id}+"
        return attempt_id

    def _others_after(
        self, closing: Closing, versions: Sequence[JudgedVersion]
    ) -> frozenset[tuple[Ref, str]]:
        """Return the members that no attempt wrote; workloads have their own histories.

        What an attempt that went back had written is known from the first of its versions, which
        was not verified.
        """
        written = [one for one in closing.versions if not one.verified][:1] or closing.versions
        wrote = {pair for one in written for pair in one.members.items()}
        new = [one for one in versions if one not in self.versions]
        met = {pair for one in new for pair in one.members.items() if not self.has_written(*pair)}
        named = {pair for one in versions for pair in one.members.items()}
        return frozenset(
            (ref, digest)
            for ref, digest in ((self.others | met) & named) - wrote
            if digest and not is_workload(ref)
        )

    def _left_after(self, closing: Closing, at: str) -> tuple[LeftVersion, ...]:
        """Return the versions that were left, without those that were verified again.

        To undo to a left version by name is to take back the undo that left it: the version that
        ran in between does not count as left. Nor does one that was left for a version that a
        check failed, and that is still in doubt: nothing else is known to be good.
        """
        verified = [one for one in closing.versions if one.verified]
        left = [one for one in self.left if not any(map(one.is_of, verified))]
        is_taken_back = len(left) < len(self.left)
        if closing.left is None or is_taken_back or any(map(closing.left.is_of, verified)):
            return tuple(left)
        if not verified and self._has_failed(closing):
            return tuple(left)
        left = [one for one in left if replace(one, left_at="") != closing.left]
        left.append(replace(closing.left, left_at=at))
        return closing.workload.keep_left(left, MOST_LEFT)

    def _has_failed(self, closing: Closing) -> bool:
        """Tell whether the last word on a pod template that an attempt came to is a failure."""
        templates = {one.template for one in closing.versions}
        of_template = (one for one in reversed(self.versions) if one.template in templates)
        newest = next(of_template, None)
        return newest is not None and newest.failed


def _with_what_stayed(
    new: JudgedVersion, versions: Sequence[JudgedVersion], beside: Mapping[Ref, str]
) -> JudgedVersion:
    """Return a verified version with those objects of the last one that its attempt did not write.

    It was verified beside them as they were then; their digest is `NOTHING` if nobody read them.
    Another workload is left to its own history.
    """
    last = next((one for one in reversed(versions) if one.verified), None)
    if not new.verified or last is None:
        return new
    stayed = {ref: beside.get(ref, NOTHING) for ref in last.members if not is_workload(ref)}
    return replace(new, members=FrozenMap({**stayed, **new.members}))


def _with_origin(new: JudgedVersion, versions: Sequence[JudgedVersion]) -> JudgedVersion:
    """Return a version with the origin of its template if it has none from its own attempt.

    After a rollback of somebody's commit, the version that serves again keeps the origin of
    whoever applied it.
    """
    if new.origin is not None:
        return new
    made = (one.origin for one in reversed(versions) if one.template == new.template)
    return replace(new, origin=next((one for one in made if one is not None), None))


def _is_replaced(old: JudgedVersion, new: JudgedVersion) -> bool:
    """Tell whether `new` replaces `old` in the history.

    A failure leaves an earlier verification in the history: it no longer counts, but a person may
    still name it. A verification replaces the one before of its revision, and all failures of its
    template, except for what is known of another revision, which a restart made. What a check left
    is replaced by what it says next.
    """
    if old.verified:
        return new.verified and old.is_same_as(new) and old.revision_name in ("", new.revision_name)
    if old.is_left_by_check and not (new.verified or new.check == old.check):
        return False
    is_of_another = bool(old.revision_name) and old.revision_name != new.revision_name
    if new.verified and old.template == new.template:
        return not is_of_another
    return old.is_same_as(new) and not is_of_another


def _is_answered(old: JudgedVersion, new: JudgedVersion) -> bool:
    """Tell whether `old` was left only because another failed, and `new` shows it complete."""
    was_left = old.why is not None and old.why.reason is Reason.SIBLING_FAILED
    is_complete = new.why is not None and new.why.reason is Reason.COMPLETE
    return was_left and is_complete and old.is_same_as(new)


def _is_revoked(verified: JudgedVersion, versions: Sequence[JudgedVersion]) -> bool:
    """Tell whether a later word revokes a verification; `versions` are oldest first."""
    since = versions[versions.index(verified) + 1 :]
    return any(one.revokes(verified) for one in since)


def _newest(history: History, workload: ClosingWorkload) -> tuple[JudgedVersion, ...]:
    """Return what is kept; a verified version is dropped with what revokes it.

    The oldest verified one of a single pod template makes room for the newest good one of another.
    Of one that was restarted what is known of its earlier revisions stays as long as they exist.
    """
    versions, once = history.versions, history.once_verified
    verified = list(once[:MOST_VERIFIED])
    others = (one for one in history.verified if one.template != verified[0].template)
    spare = next(others, None)
    if spare is not None and spare not in verified:
        verified[-1] = spare
    earlier = (one for one in reversed(versions) if one.verified and one not in once)
    restarted = [one for one in earlier if workload.has(one.revision_name)]
    verified += restarted[:MOST_RESTARTED]
    unverified = [one for one in versions if not one.verified]
    staying = (*verified, *workload.keep_judged(unverified, MOST_UNVERIFIED))
    kept = [one for one in versions if one in staying]
    return tuple(
        one
        for one in kept
        if not (one.verified and _is_revoked(one, versions)) or _is_revoked(one, kept)
    )


def beyond_limit(
    history: History, characters: Mapping[str, int], most_characters: int
) -> Iterator[str]:
    """Yield the digests of the bodies that do not fit into `most_characters`.

    The oldest versions' come first, of each the largest. A body that several versions share counts
    as the newest one's.
    """
    ages: dict[str, int] = {}
    for age, version in enumerate(history.once_verified):
        for digest in version.members.values():
            ages.setdefault(digest, age)
    oldest = len(history.versions)
    total = sum(characters.values())
    for digest in sorted(characters, key=lambda one: (-ages.get(one, oldest), -characters[one])):
        if total <= most_characters:
            return
        total -= characters[digest]
        yield digest
