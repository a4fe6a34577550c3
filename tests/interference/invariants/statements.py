"""What the document says of Deployments and objects, held against what is there."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bed.invariants import Key, key_of
from tests.cluster.kubelet.api import JSON
from tests.interference.expected import (
    REPLICAS,
    comparable,
    is_left_to_others,
    missing_paths,
    named,
    not_as_written,
    sets_that_served,
    was_deleted_by_others,
)
from tests.interference.facts import Facts, Version, Writer
from tests.interference.leaves import Leaves, Path, changes, differences, leaves


def statement_is_true(facts: Facts) -> Iterator[str]:
    """What the document says of each workload and each object is so."""
    document = facts.ended.document
    if document is None:
        return
    for said in document["workloads"]:
        yield from _running_is_true(facts, _key_said(said), said)
    for said in document["objects"]:
        key = _key_said(said)
        if key in facts.manifest:
            at_end = said.get("at_end") or {}
            if not _is_said_unknown(document, said):
                yield from _action_is_true(facts, key, said["action"], at_end.get("state", ""))
            if said["action"] != "restored":  # held against what was before, above
                yield from _state_is_true(facts, key, at_end.get("state", ""))


def _is_said_unknown(document: JSON, said: JSON) -> bool:
    """Whether the document says of what was done to an object that nobody saw what came of it."""
    name = f"{said['kind'].lower()}/{said['name']}"
    in_words = any(
        "not read again" in each and name in each for each in document.get("warnings", ())
    )
    is_unread = (said.get("at_end") or {}).get("state") == "unread"
    return is_unread and in_words and said["action"] in {"created", "changed", "kept"}


def _key_said(said: JSON) -> Key:
    metadata = {"name": said["name"], "namespace": said["namespace"]}
    return key_of({"kind": said["kind"], "metadata": metadata}, said["namespace"])


# -- workloads -------------------------------------------------------------------------------------


def _running_is_true(facts: Facts, key: Key, said: JSON) -> Iterator[str]:
    """Hold whose pods are said to run against the images of the pods that there were.

    The statement is of when they were seen last: any moment since the workload was read last
    may be the one.
    """
    running = said["running"]
    if running not in {"new", "baseline", "other"}:
        return
    version = said.get(running) or {}
    images = [_images_of_pods(facts, key, number) for number in _moments(facts, key)]
    if running == "other":
        known = {*_images_said(said, "new"), *_images_said(said, "baseline")}
        if all(found and found <= known for found in images) and not _is_others(facts, key):
            what = f"{named(key)} runs somebody else's version"
            yield f"it says that {what}, and all its pods have {sorted(images[-1])}"
    elif not any(found <= set(version.get("images", [])) for found in images):
        yield f"it says that {named(key)} runs {running}, and its pods have {sorted(images[-1])}"


def _images_said(said: JSON, version: str) -> list[str]:
    return list((said.get(version) or {}).get("images", []))


def _moments(facts: Facts, key: Key) -> list[int]:
    """Return the counts of writes from a workload's last read on, as far as pods changed."""
    read_at, end = facts.ended.last_read_at.get(key), facts.ended.ended
    pods = [own for own in facts.versions if own.resource == "pods"]
    seen = sorted((each for own in pods for each in facts.until(own, end)), key=_number)
    before = [each.number for each in seen if read_at is not None and each.at <= read_at]
    since = before[-1] if before else facts.ended.started
    return [since, *(each.number for each in seen if each.number > since)]


def _number(version: Version) -> int:
    return version.number


def _images_of_pods(facts: Facts, key: Key, number: int) -> set[str]:
    """Return the images of a workload's pods at a count of writes, of those that stay."""
    found = set()
    for own in facts.versions:
        if own.resource != "pods":
            continue
        versions = facts.until(own, number)
        body = versions[-1].body if versions else None
        if body is not None and body["metadata"]["labels"].get("app") == key.name and _stays(body):
            found.add(next(_images(body, key.name)))
    return found


def _images(pod: JSON, container: str) -> Iterator[str]:
    for each in pod["spec"]["containers"]:
        if each["name"] == container:
            yield str(each["image"])


def _stays(pod: JSON) -> bool:
    is_over = pod.get("status", {}).get("phase") in {"Failed", "Succeeded"}
    return not is_over and "deletionTimestamp" not in pod["metadata"]


def _is_others(facts: Facts, key: Key) -> bool:
    """Whether somebody else wrote a workload, or took its lock."""
    kind = key.resource.removesuffix("s")
    lease = Key("leases", key.namespace, f"rollout-gate.{kind}.{key.name}")
    return any(
        each.writer is Writer.OTHERS
        for own in (key, lease)
        for each in facts.after(own, facts.ended.started)
    )


# -- objects ---------------------------------------------------------------------------------------


def _action_is_true(facts: Facts, key: Key, action: str, state: str) -> Iterator[str]:
    """Hold what is said to have been done against what was, and against what is there."""
    final, own = facts.final(key), facts.own(key)
    if action in {"created", "changed", "kept"}:
        if state != "recreated" and _was_gone_when_read(facts, key):
            yield f"it says {action} of {named(key)}, which somebody else has deleted"
        yield from (f"it says {action}, and {each}" for each in not_as_written(facts, key))
        if state == "recreated" and not (final and was_deleted_by_others(facts, key)):
            yield f"it says that somebody made {named(key)} again, which nobody did"
    elif action == "restored" and state in {"", "as-written"}:
        yield from _not_restored(facts, key)
    elif action == "deleted" and final:
        yield f"it says deleted of {named(key)}, which is there"
    elif action == "gone" and not was_deleted_by_others(facts, key):
        yield f"it says gone of {named(key)}, which nobody else has deleted"
    elif action == "left" and not facts.changed_by_others(key, facts.ended.started):
        yield f"it says left of {named(key)}, which nobody else has changed"
    elif action == "unchanged" and own:
        yield f"it says unchanged of {named(key)}, and wrote it as {own[-1].number}"


def _was_gone_when_read(facts: Facts, key: Key) -> bool:
    seen = facts.until(key, facts.count_when_read_last(key))
    return bool(seen) and seen[-1].body is None and was_deleted_by_others(facts, key)


def _not_restored(facts: Facts, key: Key) -> Iterator[str]:
    final = comparable(facts.final(key))
    numbers = {facts.before_attempt(key), *(base(key) for base in sets_that_served(facts))}
    bases = [(facts.at(key, number), number) for number in numbers]
    # What others changed before the attempt read it is overridden by a return to a verified set.
    expected = [
        comparable(facts.with_changes_of_others(before, key, since))
        for before, number in bases
        for since in (number, facts.before_attempt(key))
    ]
    if not any(_is_like(each, final, facts, key) for each in expected):
        unlike = list(differences(expected[0], final))[:3]
        yield f"it says restored of {named(key)}, and {'; '.join(unlike)}"


def _is_like(expected: Leaves, final: Leaves, facts: Facts, key: Key) -> bool:
    unlike = set(changes(expected, final))
    return not unlike or (unlike == {REPLICAS} and is_left_to_others(facts, key, REPLICAS))


def _state_is_true(facts: Facts, key: Key, state: str) -> Iterator[str]:
    """Hold how an object is said to stand against what others did to it after our last write.

    What they did after it was read last counts for nothing.
    """
    own = facts.own(key)
    if not own or state in {"", "unread"}:
        return
    seen = facts.until(key, facts.count_when_read_last(key))
    if not seen or seen[-1].number < own[-1].number:
        return
    ours = own[-1].leaves
    if state == "as-written" and (seen[-1].body is None or _theirs(facts, key, ours, seen[-1])):
        yield f"it says as-written of {named(key)}, and somebody else has changed it"
    # A watch may have told of it after the last read.
    later = [seen[-1], *facts.after(key, seen[-1].number)]
    if state == "deleted" and all(each.body is not None for each in later):
        yield f"it says that {named(key)} is deleted, and it is there"
    if state == "changed" and not any(missing_paths(ours, each.leaves) for each in later):
        yield f"it says that {named(key)} was changed, and it is as it was written"


def _theirs(facts: Facts, key: Key, ours: Leaves, seen: Version) -> bool:
    """Whether a version lacks something of ours that the manifest has."""
    wanted = leaves(facts.manifest[key])
    return any(path in wanted for path in _lost(ours, seen.leaves))


def _lost(ours: Leaves, found: Leaves) -> list[Path]:
    return [path for path in missing_paths(ours, found) if path != REPLICAS]
