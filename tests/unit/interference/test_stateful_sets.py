"""What holds of the StatefulSet of a trial: whose version it is, and which pods may be removed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bed.invariants import Key
from tests.cluster.kubelet.api import JSON
from tests.interference import shop
from tests.interference.facts import Facts, Writer
from tests.interference.invariants import broken
from tests.interference.invariants.statements import statement_is_true
from tests.interference.invariants.writes import only_the_manifest_is_written
from tests.unit.interference.story import NAMESPACE, complete, said, verified, write_of

DB = Key("statefulsets", NAMESPACE, shop.DB)
POD = Key("pods", NAMESPACE, "db-1")
RESTARTED = {"kubectl.kubernetes.io/restartedAt": "2026-01-01T00:00:00Z"}


def beside_a_set(writer: Writer, annotations: JSON | None = None) -> Facts:
    """Return an attempt with db-1 of version 2, whose set somebody has written since."""
    story = verified()
    body = shop.version(shop.NEW, parts=["stateful-set"])[-1]
    template = body["spec"]["template"]
    metadata = template["metadata"]
    pod = {**template, "metadata": {**metadata, "name": POD.name}}
    story.write(Writer.MACHINERY, POD, pod)
    added = {**metadata.get("annotations", {}), **(annotations or {})}
    live = {**template, "metadata": {**metadata, "annotations": added}}
    story.write(writer, DB, complete({**body, "spec": {**body["spec"], "template": live}}))
    facts = story.facts(0)
    ended = replace(facts.ended, last_read_at={DB: story.now()})
    return replace(facts, ended=ended, manifest={**facts.manifest, DB: body})


def removed_a_pod(facts: Facts) -> list[str]:
    """Return what is wrong with the removal of db-1 as the only write of an attempt."""
    request = replace(
        write_of(facts.manifest[DB]),
        at=facts.versions[DB][-1].at,
        verb="delete",
        resource="pods",
        name=POD.name,
        body={"preconditions": {"uid": "1"}},
    )
    return broken(replace(facts, requests=(request,)), [only_the_manifest_is_written])


def test_a_pod_of_the_template_is_not_to_be_removed() -> None:
    """It is the one that is to run."""
    [wrong] = removed_a_pod(beside_a_set(Writer.OTHERS))
    assert "it removed db-1 of version 2, which is to run" in wrong


def test_a_pod_of_the_same_version_may_be_in_the_way_of_a_restart() -> None:
    """The template has another annotation since: the pod is of the revision before."""
    assert not removed_a_pod(beside_a_set(Writer.OTHERS, RESTARTED))


@pytest.mark.parametrize(("writer", "is_true"), [(Writer.OTHERS, True), (Writer.MACHINERY, False)])
def test_what_runs_is_somebody_elses_only_where_they_wrote_it(
    writer: Writer, is_true: bool
) -> None:
    """Its pods may still be of the versions before."""
    document = said(running="other")
    [workload] = document["workloads"]
    images = {"baseline": {"images": ["shop/db:1"]}, "new": {"images": ["shop/db:2"]}}
    of_set = {**workload, "kind": "StatefulSet", "name": DB.name, **images}
    facts = beside_a_set(writer)
    told = replace(facts.ended, document={**document, "workloads": [of_set]})
    assert bool(broken(replace(facts, ended=told), [statement_is_true])) is not is_true
