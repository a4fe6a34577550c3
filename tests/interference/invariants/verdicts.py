"""What each exit code promises of the cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bed.invariants import Key
from tests.cluster.kubelet.api import JSON
from tests.cluster.rollouts import DONE
from tests.interference import shop
from tests.interference.actions import ACTIONS
from tests.interference.expected import (
    FAILED,
    REFUSED,
    REPLICAS,
    ROLLBACK_FAILED,
    ROLLED_BACK,
    SUPERSEDED,
    VERIFIED,
    is_verified,
    missing_paths,
    named,
    not_as_written,
    old_template,
    sets_that_served,
    unlike_set,
)
from tests.interference.facts import Facts, Version, Writer
from tests.interference.leaves import Leaves, changes, leaves, template
from tests.interference.trial import LOCK_WAIT_SECONDS, ROLLBACK_SECONDS, TIMEOUT_SECONDS, Start

_MOST_SECONDS = LOCK_WAIT_SECONDS + 15.0


def ends_as_it_may(facts: Facts) -> Iterator[str]:
    """The exit code is the one that the version asks for, or one that an action may lead to."""
    may = {_undisturbed(facts)}
    for performed in facts.performed:
        action = ACTIONS[performed.name]
        may |= action.ends | (action.early_ends if facts.is_early(performed) else frozenset())
        if action.may_fail and not performed.error:
            may |= {ROLLED_BACK, ROLLBACK_FAILED, FAILED}
    if facts.trial.start is Start.NOTHING and ROLLED_BACK in may:
        may |= {FAILED}  # there is nothing to go back to
    if may & {ROLLED_BACK, ROLLBACK_FAILED} and _was_forgotten(facts):
        may |= {FAILED}
    if facts.exit_code not in may:
        yield f"exit {facts.exit_code}, and it may only be {sorted(may)}"


def _was_forgotten(facts: Facts) -> bool:
    """Whether no version serves alone, and others deleted the Lease that tells which was verified.

    That counts before the attempt has taken the lock: after that it knows where to return to.
    """
    return facts.trial.is_kept and any(
        version.body is None and version.writer is Writer.OTHERS
        for key in facts.versions
        if key.resource == "leases"
        for version in facts.after(key, facts.ended.started)
        if version.number <= facts.before_attempt(key)
    )


def _undisturbed(facts: Facts) -> int:
    if facts.trial.is_good:
        return VERIFIED
    if "--on-failure" in facts.trial.flags or facts.trial.start is Start.NOTHING:
        return FAILED
    # A Secret that has changed since it was verified cannot be returned to what it was.
    return ROLLBACK_FAILED if facts.trial.start is Start.KEPT_WITH_SECRET else ROLLED_BACK


def ends_in_time(facts: Facts) -> Iterator[str]:
    """A run ends within its budgets."""
    most = TIMEOUT_SECONDS + ROLLBACK_SECONDS + _MOST_SECONDS
    for result in facts.ended.results:
        if result.duration_seconds > most:
            yield f"it took {result.duration_seconds:.0f} s of {most:.0f} s"


def is_no_bug(facts: Facts) -> Iterator[str]:
    """No run ends with a traceback, and the document has the exit code of its process."""
    for result in facts.ended.results:
        if "Traceback (most recent call last)" in result.stderr or result.exit_code == 1:
            yield "it ended with a bug of its own"
    document = facts.ended.document
    if document is not None and document["exit_code"] != facts.exit_code:
        yield f"the document says exit {document['exit_code']}, the process {facts.exit_code}"


def verified_is_complete(facts: Facts) -> Iterator[str]:
    """Exit 0: every workload was complete, with the manifest's template, when read last."""
    if not is_verified(facts):
        return
    for key in facts.workloads():
        wanted = template(leaves(facts.manifest[key]))
        moments = facts.seen_at_the_end(key)
        if not any(_complete_with(key, version, wanted) for version in moments):
            what = f"{named(key)} was not complete with the new template"
            yield f"exit 0, and {what}: {_what(moments)}"


def _complete_with(key: Key, version: Version, wanted: Leaves) -> bool:
    return _is_complete(key, version) and not missing_paths(wanted, version.leaves)


def verified_stands_as_written(facts: Facts) -> Iterator[str]:
    """Exit 0: each object is as the manifest says, but for what others changed after its write."""
    if is_verified(facts):
        for key in facts.manifest:
            yield from not_as_written(facts, key)


def set_that_served_stands(facts: Facts) -> Iterator[str]:
    """Exit 4: every object is as it was before the attempt, or all are as the last verified set.

    What others changed of an object after that stands, and may be the reason for a difference.
    """
    if facts.exit_code != ROLLED_BACK:
        return
    wrong = [list(unlike_set(facts, base)) for base in sets_that_served(facts)]
    if all(wrong):
        yield from min(wrong, key=len)


def old_version_is_complete(facts: Facts) -> Iterator[str]:
    """Exit 4: every workload was complete with the old template when it was read last."""
    if facts.exit_code != ROLLED_BACK:
        return
    for key in facts.workloads():
        numbers = [base(key) for base in sets_that_served(facts)]
        if not any(facts.at(key, number) for number in numbers):
            continue  # there was none before
        if _stands_as_it_was_kept(facts, key):
            continue
        moments = facts.seen_at_the_end(key)
        if not any(_complete_as_at(facts, key, each, numbers) for each in moments):
            what = f"{named(key)} was not complete with the old template"
            yield f"exit 4, and {what}: {_what(moments)}"


def _stands_as_it_was_kept(facts: Facts, key: Key) -> bool:
    """Whether a bad version was kept here before the attempt, which then never came to write it.

    Its other objects went back to what they were, and no version was complete before.
    """
    began = facts.until(key, facts.ended.started)
    was_complete = bool(began) and _is_complete(key, began[-1])
    return facts.trial.is_kept and not was_complete and not facts.own(key)


def _complete_as_at(facts: Facts, key: Key, version: Version, numbers: list[int]) -> bool:
    """Whether a version is complete with the template of one of these counts of writes.

    What others had changed by then is part of it.
    """
    if not _is_complete(key, version):
        return False
    olds = [old_template(facts, key, number, version.number) for number in numbers]
    return template(version.leaves) in [old for old in olds if old]


def superseded_by_somebody(facts: Facts) -> Iterator[str]:
    """Exit 8: there is somebody else's change of a template or a Lease, and it stands, or a 0."""
    if facts.exit_code != SUPERSEDED:
        return
    if not any(_overtakes(facts, key) for key in facts.versions):
        yield "exit 8, and nobody else changed a template, a Deployment or a lock, or scaled to 0"
    for key in facts.workloads():
        theirs = facts.changed_by_others(key, facts.before_attempt(key))
        final = facts.final(key)
        for path, value in template(theirs).items():
            if final and final.get(path) != value:
                yield f"exit 8, and {named(key)}: {'.'.join(path)} is not as somebody else left it"


def _overtakes(facts: Facts, key: Key) -> bool:
    steps = facts.steps(key, facts.ended.started)
    theirs = [each for each in steps if each[1].writer is Writer.OTHERS]
    if key.resource == "leases":
        return bool(theirs)
    if key not in facts.manifest or key.resource not in shop.WORKLOADS:
        return False
    # Before our own write any change supersedes what was decided on; after it one of the template
    # does, and a scale to 0.
    was_written = bool(facts.own(key))
    found = [changes(before, version.leaves) for before, version in theirs]
    gone = any(version.body is None for _, version in theirs)
    return gone or any(
        template(each) or each.get(REPLICAS) == 0 if was_written else each for each in found
    )


def refused_wrote_nothing(facts: Facts) -> Iterator[str]:
    """Exit 2 and 3: no object was written."""
    if facts.exit_code not in {2, REFUSED}:
        return
    for key in facts.versions:
        if key in facts.manifest and facts.own(key):
            yield f"exit {facts.exit_code}, and {named(key)} was written"


def failed_version_stands(facts: Facts) -> Iterator[str]:
    """Exit 6: the version stands, but for what others changed of it since.

    Of one whose gate was killed before it had written all, what was written stands.
    """
    was_killed = len(facts.ended.results) > 1
    if facts.exit_code == FAILED:
        for key in facts.manifest:
            if facts.own(key) or not (was_killed or key.resource in shop.WORKLOADS):
                yield from (f"exit 6, and {each}" for each in not_as_written(facts, key))


def failure_is_no_pessimism(facts: Facts) -> Iterator[str]:
    """Exit 5 is not said where all that served stands, complete, when it was read last."""
    if facts.exit_code != ROLLBACK_FAILED:
        return
    for base in sets_that_served(facts):
        if any(unlike_set(facts, base)) or _lacks_a_secret(facts, base):
            continue
        moments = {key: facts.seen_at_the_end(key)[:1] for key in facts.workloads()}
        if all(_is_complete(key, each) for key, versions in moments.items() for each in versions):
            yield "exit 5, and the set that served stands whole and complete"
            return


def _lacks_a_secret(facts: Facts, base: Callable[[Key], int]) -> bool:
    """Whether a Secret of a set was another one before the attempt wrote anything, and still is.

    A verified set has no body of it, whoever changed it: the attempt could not put it back.
    """
    first = facts.first_write()
    for key in facts.keys("secrets"):
        was = facts.at(key, base(key))
        if was not in (facts.at(key, first - 1), facts.final(key)):
            return True
    return False


def _is_complete(key: Key, version: Version) -> bool:
    return version.body is not None and DONE[key.resource](version.body)


def _what(versions: list[Version]) -> JSON | None:
    body = versions[-1].body if versions else None
    if body is None:
        return None
    image = body["spec"]["template"]["spec"]["containers"][0]["image"]
    return {"image": image, "replicas": body["spec"].get("replicas"), **_counts(body)}


def _counts(body: JSON) -> JSON:
    status = body.get("status", {})
    names = ("replicas", "updatedReplicas", "availableReplicas", "observedGeneration")
    return {name: status.get(name) for name in names} | {
        "generation": body["metadata"]["generation"]
    }
