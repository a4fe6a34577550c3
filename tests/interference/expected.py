"""What an object has to be at the end of an attempt: as written, or as what served before."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.bed.invariants import Key
from tests.interference.facts import Facts, Writer, others_changes
from tests.interference.leaves import Leaves, Path, changes, differences, leaves, template

VERIFIED, REFUSED, ROLLED_BACK, ROLLBACK_FAILED, FAILED, SUPERSEDED = 0, 3, 4, 5, 6, 8
LOST_CONTACT, SIGNALS = 9, 128
REPLICAS: Path = ("spec", "replicas")
KUBECTLS_ANNOTATION: Path = (
    "metadata",
    "annotations",
    "kubectl.kubernetes.io/last-applied-configuration",
)


def is_verified(facts: Facts) -> bool:
    """Whether exit 0 says that the new version runs.

    A `recover` that finds nothing to finish says that the killed gate had ended its attempt, or
    not begun it.
    """
    if facts.exit_code != VERIFIED or len(facts.ended.results) == 1:
        return facts.exit_code == VERIFIED
    return all(any(unlike_set(facts, base)) for base in sets_that_served(facts))


def missing_paths(wanted: Leaves, found: Leaves) -> list[Path]:
    """Return the paths of `wanted` that do not stand in `found`."""
    return [path for path, value in wanted.items() if found.get(path) != value]


def named(key: Key) -> str:
    """Return what messages call an object."""
    return f"{key.resource}/{key.name}"


def not_as_written(facts: Facts, key: Key) -> Iterator[str]:
    """Say what an object lacks of the manifest, others' changes since the attempt's start aside."""
    written = facts.own(key)
    since = written[0].number if written else facts.ended.started
    theirs = facts.changed_by_others(key, since)
    final = facts.final(key)
    if not final and facts.until(key, facts.ended.ended)[-1:] and was_deleted_by_others(facts, key):
        return
    missing = [
        path
        for path in missing_paths(leaves(facts.manifest[key]), final)
        if path not in theirs and not is_left_to_others(facts, key, path)
    ]
    for path in missing:
        yield f"{named(key)}: {'.'.join(path)} is {final.get(path)!r}, not as the manifest says"


def was_deleted_by_others(facts: Facts, key: Key) -> bool:
    """Whether it was somebody else who deleted an object last."""
    gone = [each for each in facts.after(key, facts.ended.started) if each.body is None]
    return bool(gone) and gone[-1].writer is Writer.OTHERS


def is_left_to_others(facts: Facts, key: Key, path: Path) -> bool:
    """Replicas belong to an autoscaler where there is one, and stay as others scaled them."""
    if path != REPLICAS:
        return False
    scaled = path in facts.changed_by_others(key, facts.verified)
    autoscaler = Key("horizontalpodautoscalers", key.namespace, key.name)
    return scaled or bool(facts.versions.get(autoscaler))


def sets_that_served(facts: Facts) -> list[Callable[[Key], int]]:
    """Return where the sets lie that a rollback may restore, object by object.

    A bad version that was kept is none, unless the attempt never came to its Deployments.
    """
    verified = [lambda _key: facts.verified] if facts.verified else []
    came_to_deployments = any(facts.own(key) for key in facts.workloads())
    if facts.trial.is_kept and came_to_deployments:
        return verified
    return [facts.before_attempt, *verified]


def unlike_set(facts: Facts, base: Callable[[Key], int]) -> Iterator[str]:
    """Say what is not as it was at a count of writes, others' changes since aside."""
    for key in facts.manifest:
        number = base(key)
        before = facts.at(key, number)
        if not before:
            continue  # what the attempt created may stay
        expected = facts.with_changes_of_others(before, key, number)
        final = facts.final(key)
        if not expected and not list(differences(before, final)):
            continue  # deleted by others, and restored with the rest
        unlike = [*differences(comparable(expected), comparable(final))]
        if unlike and replicas_alone(expected, final, facts, key):
            continue
        yield from (f"exit 4, and {named(key)}: {each}" for each in unlike)


def comparable(flat: Leaves) -> dict[Path, object]:
    """Leave out kubectl's annotation, a rewritten copy of what is compared in full."""
    return {path: value for path, value in flat.items() if path != KUBECTLS_ANNOTATION}


def replicas_alone(expected: Leaves, final: Leaves, facts: Facts, key: Key) -> bool:
    """Whether only replicas differ, which go by what others scaled them to last."""
    paths = set(changes(comparable(expected), comparable(final)))
    return paths == {REPLICAS} and is_left_to_others(facts, key, REPLICAS)


def old_template(facts: Facts, key: Key, number: int, until: int) -> dict[Path, object]:
    """Return a Deployment's template at a count of writes, with what others changed by another."""
    before = facts.at(key, number)
    steps = (step for step in facts.steps(key, number) if step[1].number <= until)
    return template(others_changes(before, steps)) if before else {}
