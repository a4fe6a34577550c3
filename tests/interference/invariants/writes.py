"""What the gate may write, and what it has to leave behind, however it ends."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bed.invariants import Key
from tests.bed.replaced_pods import replacement_faults, replaces_pod
from tests.cluster.audit import Request
from tests.interference import shop
from tests.interference.actions import FOREIGN_HOLDER
from tests.interference.expected import (
    FAILED,
    LOST_CONTACT,
    REFUSED,
    REPLICAS,
    ROLLED_BACK,
    SIGNALS,
    VERIFIED,
    is_verified,
    missing_paths,
    named,
)
from tests.interference.facts import Facts, Writer
from tests.interference.leaves import Leaves, Path, changes, template
from tests.interference.trial import Start

_RECORD = "rollout-gate/attempt"
_TEMPLATE: Path = ("spec", "template")


def nothing_written_over_others(facts: Facts) -> Iterator[str]:
    """No write of ours goes over what others changed of a template, or restores what they deleted.

    Before our first write somebody else's change is refused, or part of what was before.
    """
    for key in facts.workloads():
        theirs: dict[Path, object] = {}
        first = facts.own(key)[:1]
        for before, version in facts.steps(key, first[0].number if first else facts.ended.ended):
            change = changes(before, version.leaves)
            if version.writer is Writer.OTHERS:
                theirs |= change if version.body is not None else dict.fromkeys(before)
            elif version.writer is Writer.OURS:
                over = sorted(".".join(path) for path in template(change) if path in theirs)
                if over:
                    yield f"write {version.number} of {named(key)} went over others' {over}"


def replicas_of_others_stand(facts: Facts) -> Iterator[str]:
    """No write of ours changes the replicas that somebody else has scaled a Deployment to."""
    for key in facts.workloads():
        since, scaled_by = facts.verified, Writer.BEFORE
        for before, version in facts.steps(key, since):
            change = changes(before, version.leaves)
            if REPLICAS not in change or not before or version.body is None:
                continue
            if version.writer is Writer.OURS and scaled_by is Writer.OTHERS:
                was, now = before.get(REPLICAS), version.leaves.get(REPLICAS)
                what = f"others' replicas of {was} to {now}"
                yield f"write {version.number} of {named(key)} took {what}"
            scaled_by = version.writer


def one_way_back(facts: Facts) -> Iterator[str]:
    """A template is written once, and once more on the way back; not at all after exit 0 or 6."""
    most = 1 if is_verified(facts) or facts.exit_code == FAILED else 2
    for key in facts.workloads():
        sent = [
            version.number
            for before, version in facts.steps(key, facts.ended.started)
            if version.writer is Writer.OURS and template(changes(before, version.leaves))
        ]
        if len(sent) > most:
            yield f"exit {facts.exit_code}, and {named(key)} was written {len(sent)} times: {sent}"


def only_the_manifest_is_written(facts: Facts) -> Iterator[str]:
    """No object is written that the manifest does not name, the gate's own aside."""
    for request in facts.requests:
        key = Key(request.resource, request.namespace, request.name)
        if replaces_pod(request):
            yield from _wrongly_removed(facts, key, request)
        elif request.is_write and not request.is_own and key not in facts.manifest:
            yield f"it wrote {request.verb} {request.uri}"


def _wrongly_removed(facts: Facts, pod: Key, request: Request) -> Iterator[str]:
    """Say what was wrong with the removal of a pod: only one of another version may be in the way.

    Which version is to run is told by the StatefulSet as it was when it was read before that.
    """
    owner = Key("statefulsets", pod.namespace, shop.DB)
    then = [each for each in facts.versions.get(pod, ()) if each.at <= request.at]
    yield from (f"{fault} {request.uri}" for fault in replacement_faults(request))
    if owner not in facts.manifest or not pod.name.startswith(f"{shop.DB}-"):
        yield f"it removed {pod.name}, which is of no StatefulSet of the manifest"
    elif then and then[-1].body is not None:
        at = [each for each in facts.versions.get(owner, ()) if each.at <= request.at]
        if any(_is_of_template(then[-1].leaves, each.leaves) for each in at[-1:]):
            said = then[-1].body["metadata"]["labels"].get(shop.VERSION)
            yield f"it removed {pod.name} of version {said}, which is to run"


def _is_of_template(pod: Leaves, owner: Leaves) -> bool:
    """Whether a pod has all of its owner's template; two revisions may be of one version."""
    return not missing_paths(
        {path[len(_TEMPLATE) :]: value for path, value in template(owner).items()}, pod
    )


def never_a_mix_that_nobody_wrote(facts: Facts) -> Iterator[str]:
    """Of what the gate wrote or left, all is of one version, where its end is an orderly one."""
    if facts.exit_code not in {VERIFIED, REFUSED, ROLLED_BACK, FAILED}:
        return
    found: dict[str, list[str]] = {}
    for key in facts.manifest:
        path = shop.MARKERS.get(key.resource)
        if path is None or key.name == shop.CREATED:
            continue
        final = facts.final(key)
        if key.resource == "secrets" and facts.trial.start is Start.KEPT:
            continue  # the bad version before had that of version 1
        if final and path not in facts.changed_by_others(key, facts.verified):
            found.setdefault(_version_of(key, final[path]), []).append(named(key))
    if len(found) > 1:
        yield f"exit {facts.exit_code}, and a mix of versions stands: {found}"


def _version_of(key: Key, said: object) -> str:
    versions = (1, shop.NEW, shop.THIRD, shop.NEXT, shop.KEPT)
    return next((str(n) for n in versions if shop.marker(key.resource, n) == said), str(said))


def lock_is_given_back(facts: Facts) -> Iterator[str]:
    """Nobody of ours holds a Lease at the end; a record is left by a signal or lost contact alone.

    A lock that somebody else has taken is theirs to finish: its record stays, and its Secret.
    """
    may_leave = facts.exit_code == LOST_CONTACT or facts.exit_code > SIGNALS
    holders = {
        item["metadata"]["name"]: item["spec"].get("holderIdentity") or ""
        for item in facts.left
        if item["kind"] == "Lease"
    }
    for item in facts.left:
        name = item["metadata"]["name"]
        holder = holders.get(name, "")
        if holder == FOREIGN_HOLDER:
            continue
        if item["kind"] == "Lease" and holder:
            yield f"the lock {name} is held by {holder}"
        is_open = item["kind"] == "Lease" and _RECORD in item["metadata"].get("annotations", {})
        if is_open and not may_leave:
            yield f"the lock {name} has an open record"
        if item["kind"] == "Secret" and not may_leave:
            yield f"the Secret {name} is left"


def next_apply_works(facts: Facts) -> Iterator[str]:
    """A good version that is applied afterwards is verified."""
    if facts.next_apply is not None and facts.next_apply.exit_code != VERIFIED:
        last = facts.next_apply.stderr.strip().splitlines()[-3:]
        yield f"the next apply ended with {facts.next_apply.exit_code}: {' | '.join(last)}"
