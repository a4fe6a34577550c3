"""Chooses the set of objects that a failure returns to, before the first write.

First choice is what stood right before: it served, and no gate knows it to be bad. Where a
changed Deployment did not serve alone, or runs a version that an attempt did not verify, the
whole attempt returns to the last verified set instead. Never a mixture of the two: one version's
pods with another one's configuration is a combination that nobody tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gate.core.applied_fields import applied_digest
from gate.core.baseline import Baseline
from gate.core.body import Body, FrozenMap
from gate.core.env_values import with_values
from gate.core.events import LiveObject
from gate.core.fact import Absent, Fact, Known, Unknown
from gate.core.objects import CleanText, Container, Ref, ReplicaSet, Template
from gate.core.plan import PlannedObject, Target
from gate.core.remedy import spec_changed
from gate.core.target_set import TargetSet
from gate.core.version_history import History, JudgedVersion, template_digest

_NO_BODY: Final = CleanText("what was verified of it is not remembered, and it has changed since")
_NOT_NAMED: Final = CleanText("this manifest does not name it, and it has changed since")
_NONE_ALONE: Final = CleanText("no version serves alone")
_UNREAD: Final = CleanText("this manifest does not name it, and it could not be read")

Others = Mapping[Ref, Fact[LiveObject]]
"""Objects that a verified set has and the manifest does not name, as they were read."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a failure returns to: the targets with their baselines, and the set around them."""

    targets: tuple[Target, ...]
    target_set: TargetSet


@dataclass(frozen=True, slots=True)
class Candidates:
    """What there is to choose from: the attempt's objects, and what is remembered of each target.

    `objects` have what is live and what the server would make of them.
    """

    targets: tuple[Target, ...]
    objects: tuple[PlannedObject, ...]
    histories: Mapping[Ref, History]

    def history(self, ref: Ref) -> History:
        """Return what is remembered of a target."""
        return self.histories.get(ref, History())

    def before(self) -> dict[Ref, str]:
        """Return the digests of what our manager has applied of each object by now."""
        return {one.ref: applied_digest(_live(one)) for one in self.objects}

    def proposed(self) -> dict[Ref, str]:
        """Return the digests of what our manager would have applied, where that could be tried."""
        return {one.ref: applied_digest(one.trial) for one in self.objects if one.trial is not None}

    def object(self, ref: Ref) -> PlannedObject:
        """Return an object of the attempt; KeyError for none of it."""
        for one in self.objects:
            if one.ref == ref:
                return one
        raise KeyError(ref)


def unnamed_members(candidates: Candidates) -> tuple[Ref, ...]:
    """Return the objects to be read before `select`: of the verified sets, not in the manifest.

    Another Deployment has a history of its own and is left to it.
    """
    if not _needs_verified(candidates):
        return ()
    named = {one.ref for one in candidates.objects}
    found = {ref for one in _returns(candidates).values() for ref in one.members}
    return tuple(sorted(ref for ref in found - named if ref.kind != "Deployment"))


def select(candidates: Candidates, others: Others) -> Selection:
    """Return what a failure returns to; `others` has what `unnamed_members` asked for."""
    if not _needs_verified(candidates):
        return Selection(candidates.targets, TargetSet())
    returns = _returns(candidates)
    bodies: dict[Ref, Body] = {}
    targets = []
    for target in candidates.targets:
        baseline, body = _version(candidates, target, returns.get(target.ref))
        targets.append(replace(target, baseline=baseline))
        bodies.update({target.ref: body} if body is not None else {})
    configuration, missing = _configuration(candidates, returns)
    missing.update(_changed_unnamed(returns, others))
    target_set = TargetSet(
        FrozenMap({**bodies, **configuration}),
        FrozenMap(missing),
        FrozenMap(_obstacles(candidates)),
    )
    return Selection(tuple(targets), target_set)


# -- which of the two ------------------------------------------------------------------------------


def _needs_verified(candidates: Candidates) -> bool:
    """Tell whether what stood before is no set to return to: it did not serve, or is known bad."""
    return any(True for _ in _obstacles(candidates))


def _obstacles(candidates: Candidates) -> Iterator[tuple[Ref, CleanText]]:
    """Yield the Deployments that are not to return to what runs, each with why."""
    digests = candidates.before()
    for target in candidates.targets:
        why = _why_no_way_back(candidates, target, digests)
        if why is not None:
            yield target.ref, why


def _why_no_way_back(
    candidates: Candidates, target: Target, digests: Mapping[Ref, str]
) -> CleanText | None:
    if not _is_changed(candidates.object(target.ref)):
        return None
    if isinstance(target.baseline, Unknown):
        return None
    if isinstance(target.baseline, Absent):
        return _NONE_ALONE
    judged = candidates.history(target.ref).of_objects(digests)
    if judged is None or judged.why is None:
        return None
    return CleanText(f"what runs was not verified ({judged.why.reason})")


def _is_changed(planned: PlannedObject) -> bool:
    live = _live(planned)
    if live is None:
        return False
    return planned.trial is None or spec_changed(live, planned.trial)


# -- the verified set ------------------------------------------------------------------------------


def _returns(candidates: Candidates) -> dict[Ref, JudgedVersion]:
    """Return the verified version of each target: what ran, if that is the newest one.

    Otherwise the newest that is not what is about to be applied.
    """
    before, proposed = candidates.before(), candidates.proposed()
    found: dict[Ref, JudgedVersion] = {}
    for target in candidates.targets:
        verified = candidates.history(target.ref).verified
        if not verified or _live(candidates.object(target.ref)) is None:
            continue
        another = (one for one in verified if not one.is_applied(proposed))
        version = verified[0] if verified[0].is_applied(before) else next(another, None)
        if version is not None:
            found[target.ref] = version
    return found


def _version(
    candidates: Candidates, target: Target, version: JudgedVersion | None
) -> tuple[Fact[Baseline], Body | None]:
    """Return what a Deployment returns to, and the body for it where it is not as before."""
    live, before = _live(candidates.object(target.ref)), candidates.before()
    if live is None:
        return target.baseline, None
    history = candidates.history(target.ref)
    if version is None:
        judged = history.of_objects(before)
        known_bad = judged is not None and not judged.verified
        return (Absent() if known_bad else target.baseline), None
    digest = version.members.get(target.ref)
    owned = version.replica_set_in(target.snapshot.owned())
    if digest is None or before[target.ref] == digest:
        template = owned.template if owned is not None else _live_template(target, version)
        return _baseline(version, owned, template), None
    remembered = history.bodies.get(digest)
    source = owned.template if owned is not None else None
    body = with_values(remembered, source) if remembered is not None else None
    if body is None:
        return Absent(), None
    return _baseline(version, owned, source or _template_of(body, version)), body


def _live_template(target: Target, version: JudgedVersion) -> Template | None:
    """Return the live pod template where it is that of a version."""
    live = target.snapshot.live
    is_it = live is not None and template_digest(live.template) == version.template
    return live.template if live is not None and is_it else None


def _template_of(body: Body, version: JudgedVersion) -> Template | None:
    """Return what is applied of a pod template, for want of the ReplicaSet with its defaults."""
    applied = body.thaw().get("spec", {}).get("template")
    images = (Container(f"container {n}", image) for n, image in enumerate(version.images))
    return Template(Body.of(applied), tuple(images)) if applied else None


def _baseline(
    version: JudgedVersion, owned: ReplicaSet | None, template: Template | None
) -> Fact[Baseline]:
    if template is None:
        return Absent()
    if owned is None:
        return Known(Baseline(version.replica_set, version.revision, template))
    return Known(Baseline(owned.name, owned.revision, template, owned.pod_template_hash))


# -- the objects beside the Deployments ------------------------------------------------------------


def _configuration(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> tuple[dict[Ref, Body], dict[Ref, CleanText]]:
    """Return the bodies of the manifest's other objects that are not as they were verified.

    Beside them those of which no body can be had. Sets of several attempts lie over each other:
    what a later one did not name stayed.
    """
    followed = {target.ref for target in candidates.targets}
    left = {ref: digest for ref, digest in candidates.before().items() if ref not in followed}
    bodies: dict[Ref, Body] = {}
    missing: dict[Ref, CleanText] = {}
    newest_first = sorted(
        _versions(candidates, returns), key=lambda pair: pair[0].judged_at, reverse=True
    )
    for version, history in newest_first:
        for ref in [ref for ref in left if ref in version.members]:
            digest = version.members[ref]
            if left.pop(ref) == digest:
                continue
            remembered = history.bodies.get(digest)
            body = with_values(remembered, None) if remembered is not None else None
            if body is not None:
                bodies[ref] = body
            else:
                missing[ref] = _NO_BODY
    return bodies, missing


def _versions(
    candidates: Candidates, returns: Mapping[Ref, JudgedVersion]
) -> Iterator[tuple[JudgedVersion, History]]:
    """Yield the versions that are returned to, and those verified before them."""
    for ref, version in returns.items():
        history = candidates.history(ref)
        verified = history.verified
        for one in verified[verified.index(version) :]:
            yield one, history


def _changed_unnamed(
    returns: Mapping[Ref, JudgedVersion], others: Others
) -> Iterator[tuple[Ref, CleanText]]:
    """Yield the objects that a set has and the manifest does not, where they are not as then."""
    for version in returns.values():
        for ref, digest in version.members.items():
            if ref not in others:
                continue
            match others[ref]:
                case Known(live) if applied_digest(live) == digest:
                    pass
                case Unknown():
                    yield ref, _UNREAD
                case _:
                    yield ref, _NOT_NAMED


def _live(planned: PlannedObject) -> LiveObject | None:
    return planned.before.value if isinstance(planned.before, Known) else None
