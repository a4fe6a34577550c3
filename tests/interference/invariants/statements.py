"""What the document says of Deployments and objects, held against what is there."""

from __future__ import annotations

from collections.abc import Iterator

from tests.bed.invariants import Key, key_of
from tests.interference.expected import (
    REFUSED,
    REPLICAS,
    comparable,
    is_left_to_others,
    missing_paths,
    named,
    not_as_written,
    old_template,
    sets_that_served,
    was_deleted_by_others,
)
from tests.interference.facts import Facts, Writer
from tests.interference.leaves import (
    Leaves,
    changes,
    differences,
    leaves,
    template,
)


def statement_is_true(facts: Facts) -> Iterator[str]:
    """What the document says of each Deployment and each object is so."""
    document = facts.ended.document
    if document is None:
        return
    for said in document["deployments"]:
        key = Key("deployments", said["namespace"], said["name"])
        yield from _running_is_true(facts, key, said["running"])
    for said in document["objects"]:
        metadata = {"name": said["name"], "namespace": said["namespace"]}
        key = key_of({"kind": said["kind"], "metadata": metadata}, said["namespace"])
        if key in facts.manifest:
            yield from _action_is_true(facts, key, said["action"])


def _running_is_true(facts: Facts, key: Key, running: str) -> Iterator[str]:
    final = template(facts.final(key))
    if running == "new":
        if any(not_as_written(facts, key)) and missing_paths(
            template(leaves(facts.manifest[key])), final
        ):
            yield f"it says that {named(key)} runs the new version, and its template is another"
    elif running == "baseline":
        numbers = [base(key) for base in sets_that_served(facts)]
        olds = [old_template(facts, key, number, facts.ended.ended) for number in numbers]
        if final not in olds and facts.exit_code not in {2, REFUSED}:
            yield f"it says that {named(key)} runs the baseline, and its template is another"
    elif running == "other" and not any(
        each.writer is Writer.OTHERS
        for own in facts.versions
        if own in (key, Key("leases", key.namespace, f"rollout-gate.deployment.{key.name}"))
        for each in facts.after(own, facts.ended.started)
    ):
        yield f"it says that {named(key)} runs somebody else's version, and nobody wrote one"


def _action_is_true(facts: Facts, key: Key, action: str) -> Iterator[str]:
    final, own = facts.final(key), facts.own(key)
    if action in {"created", "changed", "kept"}:
        if not final and was_deleted_by_others(facts, key):
            yield f"it says {action} of {named(key)}, which somebody else has deleted"
        yield from (f"it says {action}, and {each}" for each in not_as_written(facts, key))
    elif action == "restored":
        bases = [facts.at(key, base(key)) for base in sets_that_served(facts)]
        numbers = [base(key) for base in sets_that_served(facts)]
        expected = [
            comparable(facts.with_changes_of_others(base, key, number))
            for base, number in zip(bases, numbers, strict=True)
        ]
        if not any(_is_like(each, comparable(final), facts, key) for each in expected):
            unlike = list(differences(expected[0], comparable(final)))[:3]
            yield f"it says restored of {named(key)}, and {'; '.join(unlike)}"
    elif action == "deleted" and final:
        yield f"it says deleted of {named(key)}, which is there"
    elif action == "unchanged" and own:
        yield f"it says unchanged of {named(key)}, and wrote it as {own[-1].number}"


def _is_like(expected: Leaves, final: Leaves, facts: Facts, key: Key) -> bool:
    unlike = set(changes(expected, final))
    return not unlike or (unlike == {REPLICAS} and is_left_to_others(facts, key, REPLICAS))
