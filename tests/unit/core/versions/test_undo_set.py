"""What an undo restores beside what is named, and whose fault the end of a version is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from gate.core.kinds.daemon_set.reasons import DaemonSetReason
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Absent, Known
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.live_object import LiveObject
from gate.core.model.lock import lock_of
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.plan.plan import PlannedObject, Target
from gate.core.plan.record import Kept, Record
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause
from gate.core.rollout.policy import Policy
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.shared_members import (
    Neighbours,
    SharedMember,
    shared_members,
    with_shared_members,
)
from gate.core.versions.surroundings import is_excused
from gate.core.versions.undo_set import find_returns_beyond, lacking_after
from tests.cluster.kubelet.api import JSON
from tests.table import each
from tests.unit.core.world import WEB, config_ref, deployment, replica_set, snapshot_of, template

WORKER, API = deployment_ref("shop", "worker"), deployment_ref("shop", "api")
SETTINGS = config_ref()
BODY = Body.of({"kind": "Deployment"})
TEMPLATE = template("shop/web:1")


def judged(web: str, worker: str = "", *, failed: bool = False) -> JudgedVersion:
    """Return a judgement of web, with worker where that was written too."""
    members = {WEB: web, **({WORKER: worker} if worker else {})}
    why = Cause(Reason.CRASH_LOOP, CleanText("why")) if failed else None
    return JudgedVersion(template_digest(TEMPLATE), (), FrozenMap(members), why=why)


@pytest.mark.contract("B766", "B703")
@pytest.mark.parametrize(("worker", "lacks"), [("k2", (WORKER,)), ("", ())])
def test_what_an_undo_would_lack_is_of_what_the_attempt_brings(
    worker: str, lacks: tuple[Ref, ...]
) -> None:
    """The attempt that writes worker takes it along, and what that was is not remembered."""
    found = History((judged("w1", "k1"),), FrozenMap({"w1": BODY}))
    target = Target(WEB, unseen(WEB), Known(Baseline("web-1", 1, TEMPLATE, "hash")))
    proposed = {WEB: "w2", **({WORKER: worker} if worker else {})}
    before = {WEB: "w1", WORKER: "k1" if worker else "k9"}
    lacking = lacking_after(Candidates((target,), (), {WEB: found}), before, proposed)
    assert lacking.get(WEB, ()) == lacks


@pytest.mark.contract("B280")
@pytest.mark.parametrize("count", [2, 12])
def test_the_preflight_asks_each_history_once_what_its_attempts_had_written(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    """However many Deployments have a history of their own that names all of them."""
    refs = [deployment_ref("shop", f"web-{number}") for number in range(count)]
    members = FrozenMap((ref, f"{ref.name}-1") for ref in refs)
    history = History((JudgedVersion(template_digest(TEMPLATE), (), members),))
    baseline = Known(Baseline("web-1", 1, TEMPLATE, "hash"))
    targets = tuple(Target(ref, unseen(ref), baseline) for ref in refs)
    asked: list[JudgedVersion] = []
    written_of = History.written_of

    def counted(self: History, version: JudgedVersion) -> Mapping[Ref, str]:
        asked.append(version)
        return written_of(self, version)

    monkeypatch.setattr(History, "written_of", counted)
    proposed = {ref: f"{ref.name}-2" for ref in refs}
    candidates = Candidates(targets, (), dict.fromkeys(refs, history))
    lacks = lacking_after(candidates, dict(members), proposed)
    assert set(lacks) == set(refs)
    assert len(asked) == count


def attempts(leg: Leg) -> Neighbours:
    """Return an unfinished attempt of another run on api, with the settings beside it."""
    kept = Kept(SETTINGS, Absent(), None, FIELD_MANAGER)
    return Neighbours(attempts={lock_of(API): Record("apply", leg, (kept,), (), Policy())})


@pytest.mark.contract("B766", "B1900")
@pytest.mark.parametrize(
    ("served", "neighbours", "lacks"),
    [
        ("web-1", Neighbours(), (SETTINGS,)),
        ("web-2", Neighbours(), ()),
        ("web-2", attempts(Leg.FORWARD), (SETTINGS,)),
        ("web-2", attempts(Leg.BACK), ()),
    ],
    ids=["unknown", "known", "needed", "returned"],
)
def test_an_undo_returns_to_the_replica_set_that_served_before(
    served: str, neighbours: Neighbours, lacks: tuple[Ref, ...]
) -> None:
    """Of two verified versions the one that ran counts: the other's configuration may be gone."""
    templates = {name: template(f"shop/{name}") for name in ("web-1", "web-2")}
    versions = tuple(
        JudgedVersion(template_digest(one), (), FrozenMap({WEB: f"of {name}", SETTINGS: name}))
        for name, one in templates.items()
    )
    known = dict.fromkeys(("of web-1", "of web-2", "web-2"), BODY)
    sets = (replica_set(name, template=one) for name, one in templates.items())
    snapshot = snapshot_of(WEB, deployment(template=templates[served]), *sets)
    target = Target(WEB, snapshot, Known(Baseline(served, 1, templates[served], "hash")))
    before, proposed = dict(versions[0].members), {WEB: "new", SETTINGS: "new"}
    histories = {WEB: History(versions, FrozenMap(known))}
    candidates = Candidates((target,), (), histories, neighbours=neighbours)
    assert lacking_after(candidates, before, proposed).get(WEB, ()) == lacks


def live_web(manager: str = "") -> LiveObject:
    """Return web at version 2, of which `manager` owns the image."""
    owned: JSON = {"f:spec": {"f:template": {"f:spec": {"f:image": {}}}}}
    entries = [{"manager": manager, "operation": "Update", "fieldsV1": owned}] if manager else []
    body = Body.of({"spec": {"template": {"spec": {"image": "shop/web:2"}}}})
    managed = Body.of({"managedFields": entries})
    return LiveObject(WEB, "u", "1", body, managed, deployment(template=template("shop/web:2")))


@pytest.mark.contract("B1498")
@each(
    ("proposed", "manager", "beside", "is_named"),
    [
        ({WEB: "w3"}, "", {}, True),
        ({WEB: "w1"}, "", {}, False),
        ({WEB: "w3"}, "kubectl-set", {}, False),
        ({WEB: "w3"}, "", {SETTINGS: "s1"}, False),
    ],
)
def test_an_undo_beyond_what_served_is_named_where_it_goes_there(
    proposed: Mapping[Ref, str], manager: str, beside: Mapping[Ref, str], *, is_named: bool
) -> None:
    """Not to what has just failed, nor through others' fields, nor without what belongs to it."""
    versions = tuple(
        JudgedVersion(template_digest(template(f"shop/web:{number}")), (), FrozenMap(members))
        for number, members in ((1, {WEB: "w1", **beside}), (2, {WEB: ""}))
    )
    known = FrozenMap({"w1": Body.of({"spec": {"template": {"spec": {"image": "shop/web:1"}}}})})
    snapshot = snapshot_of(WEB, deployment(template=template("shop/web:2")))
    target = Target(WEB, snapshot, Known(Baseline("web-2", 2, template("shop/web:2"), "hash")))
    objects = (PlannedObject(WEB, Known(live_web(manager))),)
    candidates = Candidates((target,), objects, {WEB: History(versions, known)})
    assert list(find_returns_beyond(candidates, proposed)) == ([WEB] if is_named else [])


def verified(own: Ref, digest: str, settings: str, hour: int) -> JudgedVersion:
    """Return a version of a Deployment that was verified at an hour, with its settings."""
    members = FrozenMap({own: digest, SETTINGS: settings})
    return JudgedVersion("1", (), members, judged_at=f"2026-11-21T{hour:02}:00:00Z")


FIRST = verified(WEB, "w1", "one", 10)
"""What an undo of web returns to."""
RUNS = {WEB: "w2", API: "a1", SETTINGS: "three"}


def shared(
    *of_api: JudgedVersion, runs: dict[Ref, str] = RUNS, returned: tuple[Ref, ...] = ()
) -> list[SharedMember]:
    """Return what a return of web to its first version shares with api."""
    histories = {WEB: History((FIRST,)), API: History(of_api)}
    return list(shared_members(FIRST, WEB, histories, runs, returned))


@pytest.mark.contract("B703")
@pytest.mark.parametrize(("hour", "counts"), [(9, False), (10, True), (11, True)])
def test_what_another_was_verified_with_counts_from_the_version_on(hour: int, counts: bool) -> None:
    """Of a verification before it, the version itself has the newer content."""
    found = shared(verified(API, "a1", "two", hour))
    assert found == ([SharedMember(SETTINGS, "two", API, is_live=False)] if counts else [])
    assert with_shared_members(FIRST, found).members[SETTINGS] == ("two" if counts else "one")


@pytest.mark.contract("B703")
def test_what_stands_as_another_needs_it_is_not_to_be_returned() -> None:
    """The undo is refused for it; the version itself is not changed."""
    found = shared(verified(API, "a1", "three", 11))
    assert found == [SharedMember(SETTINGS, "three", API, is_live=True)]
    assert with_shared_members(FIRST, found) == FIRST


@pytest.mark.contract("B703")
def test_of_another_its_newest_version_that_runs_counts() -> None:
    """What it was verified with earlier, or runs no more, needs nothing."""
    older, newer = verified(API, "a1", "two", 11), verified(API, "a1", "four", 12)
    assert [one.digest for one in shared(older, newer)] == ["four"]
    assert shared(older, verified(API, "a2", "four", 12))[0].digest == "two"
    assert shared(verified(API, "a2", "four", 12)) == []


@pytest.mark.contract("B703")
def test_nothing_is_shared_with_what_returns_too_or_belongs_to_the_set() -> None:
    """One goes where the undo takes it; the other was verified with just that version."""
    one = verified(API, "a1", "two", 11)
    assert [found.workload for found in shared(one)] == [API]
    assert shared(one, returned=(API,)) == []
    of_set = replace(FIRST, members=FrozenMap({**FIRST.members, API: "a1"}))
    histories = {WEB: History((of_set,)), API: History((one,))}
    assert shared_members(of_set, WEB, histories, RUNS, ()) == ()
    assert shared_members(of_set, WEB, histories, {**RUNS, API: "a3"}, ()) == ()


@pytest.mark.contract("B703")
def test_what_both_need_alike_is_not_shared() -> None:
    """It returns to what serves both."""
    assert shared(verified(API, "a1", "one", 11)) == []


STOOD = Reason.PROGRESS_DEADLINE_EXCEEDED


@pytest.mark.contract("B1361")
@pytest.mark.parametrize(
    ("reason", "causes", "excused"),
    [
        (STOOD, [Reason.UNSCHEDULABLE], True),
        (STOOD, [DaemonSetReason.BLOCKED_BY_NODE, Reason.NOT_STARTED], True),
        (STOOD, [Reason.UNSCHEDULABLE, Reason.NOT_READY], False),
        (STOOD, [Reason.UNREACHABLE, Reason.NOT_READY], True),
        (STOOD, [], False),
        (Reason.CHECK_FAILED, [Reason.UNSCHEDULABLE], False),
        (Reason.POD_CREATE_DENIED, [Reason.NOT_READY], True),
    ],
)
def test_only_surroundings_excuse_a_version(
    reason: Reason, causes: list[str], excused: bool
) -> None:
    """What the version's own pods show speaks against it, but after an outage."""
    assert is_excused(reason, causes) is excused
