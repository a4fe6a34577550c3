"""What a lock remembers of its Deployment: which versions were verified, which were not, and why.

A version is remembered with all objects that it was applied with, so that a return to it is a
return to one set: never one version's pods with another one's configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gate.core.body import NOTHING, Body, FrozenMap
from gate.core.causes import Cause
from gate.core.confidential import ConfidentialBody
from gate.core.objects import CleanText, Ref, ReplicaSet, Template
from gate.core.origin import Origin
from gate.core.outcome import Reason

MOST_VERIFIED: Final = 3
MOST_UNVERIFIED: Final = 5
"""How many versions are remembered of a Deployment, the newest ones."""
_NO_FAILURES: Final = (
    Reason.INTERRUPTED,
    Reason.UNREACHABLE,
    Reason.FORBIDDEN,
    Reason.CHECK_INCONCLUSIVE,
    Reason.CHECK_ERROR,
    Reason.SIBLING_FAILED,
    Reason.PAUSED,
)
"""Why an attempt ended that says nothing of its version."""


RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"
"""The annotation of a pod template by which `kubectl rollout restart` makes new pods."""


def template_digest(template: Template) -> str:
    """Return what identifies a pod template; the time of a restart makes no other version."""
    body = template.body.thaw()
    annotations = (body.get("metadata") or {}).get("annotations") or {}
    if RESTARTED_AT not in annotations:
        return template.body.digest
    del annotations[RESTARTED_AT]
    if not annotations:
        del body["metadata"]["annotations"]
    return Body.of(body).digest


def is_restarted(template: Template) -> bool:
    """Tell whether a restart made the ReplicaSet of a pod template."""
    metadata = template.body.thaw().get("metadata") or {}
    return RESTARTED_AT in (metadata.get("annotations") or {})


@dataclass(frozen=True, slots=True)
class JudgedVersion:
    """A version of one Deployment, as an attempt applied it and judged it.

    `template` is the `template_digest` of its pods, "" where the attempt changed only what stands
    beside them; `images` are those of its containers. `members`
    has the digest of what our manager had applied of each object of the attempt, the
    Deployment's own among them; `NOTHING` of one that somebody else had changed by then. A verified
    version has the objects of earlier attempts, too, that this one did not write.
    `replica_set` and `revision` are those of then. `why` says what kept it from being verified,
    None of a verified one. `attempt_id`, `run_url` and `judged_at` (RFC 3339) are of the judgement,
    `origin` is of the apply that made it: None where another command rolled it out, or where it
    serves again, and nothing is remembered of that apply.
    """

    template: str
    images: tuple[CleanText, ...]
    members: FrozenMap[Ref, str]
    replica_set: str = ""
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
        """Whether it is known to be bad; an attempt that was cut off says nothing of it."""
        return self.why is not None and self.why.reason not in _NO_FAILURES

    def is_same_as(self, other: JudgedVersion) -> bool:
        """Tell whether both are the same pod template with the same objects beside it."""
        return (self.template, self.members) == (other.template, other.members)

    def is_failure_of(self, other: JudgedVersion) -> bool:
        """Tell whether this is a failure of a version that was verified.

        That may have more members: a failure names only what its attempt wrote.
        """
        is_same = self.template in ("", other.template)
        held = self.members.items() <= other.members.items()
        return self.failed and other.verified and is_same and held

    def replica_set_in(self, owned: Iterable[ReplicaSet]) -> ReplicaSet | None:
        """Return the newest of a Deployment's ReplicaSets that has its template, None for none."""
        found = [rs for rs in owned if template_digest(rs.template) == self.template]
        return max(found, key=lambda rs: rs.revision or 0, default=None)

    def is_applied(self, digests: Mapping[Ref, str]) -> bool:
        """Tell whether each of its objects that `digests` names is as this version had it."""
        common = [ref for ref, digest in self.members.items() if digest and ref in digests]
        return bool(common) and all(self.members[ref] == digests[ref] for ref in common)


@dataclass(frozen=True, slots=True)
class Closing:
    """What the end of an attempt says of one Deployment that it wrote.

    `versions` are in the order of their judgement: what was rolled out, then what serves again.
    `bodies` are the applied bodies of the members of the verified ones, by digest, where they may
    be remembered in a Lease; `confidential` are those of the others. `paused` is whether the
    attempt left it paused, `scaled_down` whether it scaled it to 0. `replicas` is the manifest's
    number where that was applied and stands, None where it is as it was. `uid` is the
    Deployment's. `beside` identifies what stood beside the attempt of the objects that earlier
    ones had written and it did not.
    """

    ref: Ref
    versions: tuple[JudgedVersion, ...] = ()
    bodies: FrozenMap[str, Body] = field(default_factory=FrozenMap)
    paused: bool = False
    replicas: int | None = None
    confidential: FrozenMap[str, ConfidentialBody] = field(default_factory=FrozenMap)
    uid: str = ""
    beside: FrozenMap[Ref, str] = field(default_factory=FrozenMap)
    scaled_down: bool = False


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of an attempt; `left_open` is whether there is something left to be finished."""

    left_open: bool
    deployments: tuple[Closing, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """What a lock remembers of its Deployment.

    `versions` are the judged ones, oldest first, each of which stands once; `bodies` are what was
    applied of the verified ones, by digest. `paused` is true while a pause of ours may stand.
    `replicas` is the number that was applied last because a manifest asked for it, None where none
    is known: ownership of fields holds no values. `uid` is of the Deployment that this was, for
    another one may have been made under its name since. `kept` are the digests of the bodies that
    are kept whole in a Secret beside the lock, each with the characters that it takes there.
    `scaled_down` is true while a scale-down of ours to 0 may stand.
    """

    versions: tuple[JudgedVersion, ...] = ()
    bodies: FrozenMap[str, Body] = field(default_factory=FrozenMap)
    paused: bool = False
    replicas: int | None = None
    uid: str = ""
    kept: FrozenMap[str, int] = field(default_factory=FrozenMap)
    scaled_down: bool = False

    @property
    def verified(self) -> tuple[JudgedVersion, ...]:
        """Return the versions that were verified and have not failed since, newest first."""
        return tuple(one for one in self.once_verified if not _has_failed_since(one, self.versions))

    @property
    def once_verified(self) -> tuple[JudgedVersion, ...]:
        """Return `verified` with those that have failed since, which a person may still name."""
        return tuple(one for one in reversed(self.versions) if one.verified)

    def replicas_of(self, uid: str) -> int | None:
        """Return the number that was applied last to the Deployment of that uid, None for none."""
        return self.replicas if uid == self.uid else None

    def has_scaled_down(self, uid: str) -> bool:
        """Tell whether the last attempt scaled the Deployment of that uid to 0."""
        return self.scaled_down and uid == self.uid

    def of_template(self, template: Template) -> JudgedVersion | None:
        """Return the newest judgement of a pod template, None where there is none."""
        digest = template_digest(template)
        return next((one for one in reversed(self.versions) if one.template == digest), None)

    def of_member(self, ref: Ref, digest: str) -> JudgedVersion | None:
        """Return the newest verified version with an object as `digest` tells, None for none."""
        return next((one for one in self.once_verified if one.members.get(ref) == digest), None)

    def has_written(self, ref: Ref, digest: str | None) -> bool:
        """Tell whether an attempt on this Deployment left an object as `digest` tells."""
        known = (one.members.get(ref) for one in self.versions)
        return bool(digest) and digest in known

    def after(self, closing: Closing, attempt_id: str, run_url: str, at: str) -> History:
        """Return the history with one more attempt in it."""
        versions = list(self.versions)
        for judged in closing.versions:
            new = replace(judged, attempt_id=attempt_id, run_url=run_url, judged_at=at)
            new = _with_what_stayed(new, versions, closing.beside)
            new = _with_origin(new, versions)
            versions = [one for one in versions if not _is_replaced(one, new)]
            versions.append(new)
        kept = _newest(versions)
        bodies = {**self.bodies, **closing.bodies}
        needed = {digest for one in kept if one.verified for digest in one.members.values()}
        return replace(
            self,
            versions=kept,
            bodies=FrozenMap((key, body) for key, body in bodies.items() if key in needed),
            kept=FrozenMap((key, size) for key, size in self.kept.items() if key in needed),
            paused=closing.paused,
            scaled_down=closing.scaled_down,
            replicas=(
                self.replicas_of(closing.uid) if closing.replicas is None else closing.replicas
            ),
            uid=closing.uid,
        )


def _with_what_stayed(
    new: JudgedVersion, versions: Sequence[JudgedVersion], beside: Mapping[Ref, str]
) -> JudgedVersion:
    """Return a verified version with the objects of the last one that its attempt did not write.

    It was verified beside them as they stood then, which is `NOTHING` where nobody read them.
    Another Deployment is left to its own history.
    """
    last = next((one for one in reversed(versions) if one.verified), None)
    if not new.verified or last is None:
        return new
    stayed = {ref: beside.get(ref, NOTHING) for ref in last.members if ref.kind != "Deployment"}
    return replace(new, members=FrozenMap({**stayed, **new.members}))


def _with_origin(new: JudgedVersion, versions: Sequence[JudgedVersion]) -> JudgedVersion:
    """Return a version with the origin of its template where the attempt did not make it.

    A rollback of somebody's commit leaves the version that serves again to whoever applied that.
    """
    if new.origin is not None:
        return new
    made = (one.origin for one in reversed(versions) if one.template == new.template)
    return replace(new, origin=next((one for one in made if one is not None), None))


def _is_replaced(old: JudgedVersion, new: JudgedVersion) -> bool:
    """Tell whether `new` is all that has to be remembered of `old`.

    A failure leaves an earlier verification in the history, where it counts no more, so that a
    person may still name it. A verification answers all failures of its template.
    """
    if old.verified:
        return new.verified and old.is_same_as(new)
    return old.is_same_as(new) or (new.verified and old.template == new.template)


def _has_failed_since(verified: JudgedVersion, versions: Sequence[JudgedVersion]) -> bool:
    """Tell whether a verified version failed after its verification; oldest come first."""
    since = versions[versions.index(verified) + 1 :]
    return any(one.is_failure_of(verified) for one in since)


def _newest(versions: Sequence[JudgedVersion]) -> tuple[JudgedVersion, ...]:
    """Return the newest versions; one that had failed since leaves with its failure."""
    left = {True: MOST_VERIFIED, False: MOST_UNVERIFIED}
    kept: list[JudgedVersion] = []
    for one in reversed(versions):
        if left[one.verified] > 0:
            left[one.verified] -= 1
            kept.insert(0, one)
    return tuple(
        one
        for one in kept
        if not (one.verified and _has_failed_since(one, versions)) or _has_failed_since(one, kept)
    )


def beyond_limit(
    history: History, characters: Mapping[str, int], most_characters: int
) -> Iterator[str]:
    """Yield the digests of what does not fit: the oldest versions first, the largest of each.

    What a newer version has in common with an older one counts as the newer one's.
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
