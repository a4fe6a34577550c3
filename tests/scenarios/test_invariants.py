"""The invariants themselves: each is shown to see what breaks it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.bed import invariants
from tests.bed.invariants import CANARY, Run
from tests.bed.scene import settings, web
from tests.cluster.audit import Request, Requests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import job, stateful_set

START = datetime(2026, 1, 1, tzinfo=UTC)
GUARD = {"uid": "1", "resourceVersion": "7"}


def written(number: int, **over: object) -> Request:
    """Return the gate's `number`-th write: an apply of a Deployment, guarded and in its name."""
    body = web(number)
    body["metadata"] |= GUARD
    request = Request(
        at=START + timedelta(seconds=number),
        verb="patch",
        group="apps",
        resource="deployments",
        subresource="",
        namespace="shop",
        name="web",
        code=200,
        user="gate",
        user_agent="rollout-gate/1",
        uri="/apis/apps/v1/namespaces/shop/deployments/web?fieldManager=rollout-gate&force=false",
        body=body,
        answer={"metadata": {"uid": "1", "resourceVersion": str(number)}},
    )
    return replace(request, **over)  # type: ignore[arg-type]


def run(
    *requests: Request,
    code: int = 4,
    outcome: str = "rolled-back",
    said: str = "",
    arguments: tuple[str, ...] = ("apply", "-f", "web.yaml"),
) -> Run:
    """Return a run of `apply` with these requests."""
    ended = {"namespace": "shop", "name": "web", "outcome": outcome}
    return Run(
        arguments=arguments,
        manifest=(web(),) if "-f" in arguments else (),
        namespace="shop",
        result=Result(arguments, code, said, "", 1.0),
        document={"deployments": [ended]},
        requests=Requests(requests),
        written=(),
        secrets=("token",),
    )


class Seen:
    """Versions that a Deployment went through, in the place of the run's history."""

    def __init__(self, *versions: JSON) -> None:
        self._versions = versions

    def versions(
        self, namespace: str, name: str, until: int, resource: str = "deployments"
    ) -> list[JSON]:
        """Return all of them."""
        del namespace, name, until, resource
        return list(self._versions)


def version(number: int, image: int, uid: str = "1") -> JSON:
    """Return a version of the Deployment that runs the image of this number."""
    body = web(image)
    body["metadata"] |= {"uid": uid, "resourceVersion": str(number)}
    return body


def wrong_with(run: Run, *versions: JSON) -> str:
    """Return what the invariants say of a run, "" where all hold."""
    nothing_to_look_at: object = None
    try:
        invariants.hold(run, nothing_to_look_at, Seen(*versions))  # type: ignore[arg-type]
    except AssertionError as error:
        return str(error)
    return ""


def test_a_rollback_over_our_own_version_is_fine() -> None:
    """An apply and one way back over it keep every invariant."""
    there, back = written(1), written(3)
    assert not wrong_with(run(there, back), version(1, 1), version(2, 1), version(3, 3))


def test_a_rollback_over_somebody_elses_change_is_seen() -> None:
    """S2: what stood right before the way back has to hold what the gate had sent."""
    there, back = written(1), written(4)
    wrong = wrong_with(run(there, back), version(1, 1), version(3, 9), version(4, 4))
    assert "S2" in wrong
    again = wrong_with(run(there, back), version(1, 1), version(3, 1, "2"), version(4, 4))
    assert "S2" in again


def test_a_second_way_back_is_seen() -> None:
    """S3: two writes after the apply are one too many."""
    wrong = wrong_with(run(written(1), written(2), written(3)), *(version(n, n) for n in (1, 2, 3)))
    assert "S3" in wrong


@pytest.mark.parametrize(
    ("said", "secret"),
    [
        (f"env: {CANARY}", True),
        ("c2VzYW1lLThkMWYyYzdhOTA=", True),
        ("Bearer token", True),
        ("env: ***", False),
    ],
)
def test_a_secret_is_seen(said: str, secret: bool) -> None:
    """S5: a planted secret is seen as it is and in base64, and so is the token."""
    assert ("S5" in wrong_with(run(written(1), said=said), version(1, 1))) is secret


def test_a_secret_in_a_file_is_seen(tmp_path: Path) -> None:
    """S5: what a run writes into files counts as what it says."""
    path = tmp_path / "run.jsonl"
    path.write_text(CANARY)
    wrong = wrong_with(replace(run(written(1)), written=(path,)), version(1, 1))
    assert "run.jsonl" in wrong


def test_a_write_elsewhere_is_seen() -> None:
    """S6: only the manifest's objects are written, and nothing by a command that looks."""
    elsewhere = written(2, name="api")
    assert "S6" in wrong_with(run(written(1), elsewhere), version(1, 1))
    looking = run(written(1), code=0, arguments=("verify", "web", "--tolerate", "1"))
    assert "S6" in wrong_with(looking, version(1, 1))
    rehearsing = run(written(1), code=0, arguments=("apply", "-f", "web.yaml", "--dry-run"))
    assert "S6" in wrong_with(rehearsing, version(1, 1))


def test_a_write_of_what_was_refused_is_seen() -> None:
    """Exit 2 and 3 mean that nothing was written."""
    assert "exit 3 after" in wrong_with(run(written(1), code=3, outcome="refused"), version(1, 1))


def test_a_write_after_a_verdict_that_asks_for_none_is_seen() -> None:
    """S7: a Deployment that is kept, or verified, has no second write."""
    kept = run(written(1), written(2), code=6, outcome="failed")
    assert "S7" in wrong_with(kept, version(1, 1), version(2, 2))


def test_a_write_that_changed_nothing_is_none() -> None:
    """After a lost answer the same write is sent again: that is no way back, nor a second one."""
    body = web(2) | {"metadata": {"name": "web", "uid": "1", "resourceVersion": "3"}}
    idle = written(3, body=body)
    assert not wrong_with(run(written(1), idle, code=6, outcome="failed"), version(1, 1))
    effective = replace(idle, answer={"metadata": {"uid": "1", "resourceVersion": "4"}})
    wrong = wrong_with(run(written(1), effective, code=6, outcome="failed"), version(1, 1))
    assert "S7" in wrong


@pytest.mark.parametrize(
    ("over", "word"),
    [
        ({"body": web()}, "guards"),
        ({"body": [{"op": "replace", "path": "/metadata/managedFields"}]}, "guards"),
        ({"uri": "/x?fieldManager=kubectl"}, "field manager"),
        ({"uri": "/x?fieldManager=rollout-gate&force=true"}, "force"),
    ],
)
def test_a_careless_write_is_seen(over: dict[str, object], word: str) -> None:
    """A write without precondition, in another name, or by force is told."""
    assert word in wrong_with(run(written(1, **over)), version(1, 1))


def test_a_run_that_takes_too_long_is_seen() -> None:
    """L1: the budgets that were given, those of connecting, and 10 s."""
    arguments = ("apply", "-f", "web.yaml", "--timeout", "20s", "--rollback-timeout", "5s")
    said = Result(arguments, 9, "", "", 50.1)
    late = replace(run(written(1), arguments=arguments), result=said)
    assert "L1" in wrong_with(late, version(1, 1))
    in_time = replace(late, result=replace(said, duration_seconds=49.9))
    assert not wrong_with(in_time, version(1, 1))


def test_other_objects_go_back_once_too() -> None:
    """S3 holds for every object of the manifest."""
    body = {**settings(), "metadata": {"name": "settings", **GUARD}}
    there = [
        written(number, resource="configmaps", group="", name="settings", body=body)
        for number in (1, 2, 3)
    ]
    wrong = wrong_with(replace(run(*there), manifest=(settings(),)))
    assert "S3" in wrong


def eviction(pod: str, uid: str = "9", **options: object) -> Request:
    """Return the eviction of a pod, by its uid."""
    guard: JSON = {"preconditions": {"uid": uid}} if uid else {}
    body = {"metadata": {"name": pod}, "deleteOptions": {**guard, **options}}
    place: JSON = {"group": "", "resource": "pods", "subresource": "eviction", "name": pod}
    return written(2, verb="create", code=201, uri="/x", body=body, **place)


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        (eviction("db-1"), ""),
        (eviction("web-1"), "S6"),
        (eviction("db-x"), "S6"),
        (eviction("db-1", uid=""), "guards"),
        (eviction("db-1", gracePeriodSeconds=0), "grace"),
    ],
)
def test_only_a_pod_of_the_stateful_set_is_replaced(request_: Request, word: str) -> None:
    """S6: by its uid, since another pod has its name next, and with its grace."""
    wrong = wrong_with(replace(run(request_), manifest=(stateful_set(),)))
    assert word in wrong if word else not wrong


def test_a_name_that_the_gate_chooses_is_of_the_manifest() -> None:
    """S6: a Job with `generateName` gets a name that begins so, and no other does."""
    migration = job()
    migration["metadata"] = {"generateName": "migrate-"}
    for name, is_meant in (("migrate-1a2b", True), ("report-1a2b", False)):
        created = written(1, verb="create", code=201, uri="/x", resource="jobs", name=name)
        wrong = wrong_with(replace(run(created), manifest=(migration,)))
        assert ("S6" not in wrong) is is_meant
