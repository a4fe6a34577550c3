"""What an undo restores beside the Deployment that is named: other ones that came with it."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.registry import unseen
from gate.core.model.body import Body, FrozenMap
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import CleanText, Ref
from gate.core.model.outcome import Reason
from gate.core.plan.plan import PlannedObject, Target
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause
from gate.core.rollout.observations import Observed
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.undo_set import find_returns_beyond, lacking_after
from tests.cluster.kubelet.api import JSON
from tests.table import each
from tests.unit.core.world import deployment, replica_set, template

WEB, WORKER = deployment_ref("shop", "web"), deployment_ref("shop", "worker")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")
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


@pytest.mark.contract("B766")
@pytest.mark.parametrize(("served", "lacks"), [("web-1", (SETTINGS,)), ("web-2", ())])
def test_an_undo_returns_to_the_replica_set_that_served_before(
    served: str, lacks: tuple[Ref, ...]
) -> None:
    """Of two verified versions the one that ran counts: the other's configuration may be gone."""
    templates = {name: template(f"shop/{name}") for name in ("web-1", "web-2")}
    versions = tuple(
        JudgedVersion(template_digest(one), (), FrozenMap({WEB: f"of {name}", SETTINGS: name}))
        for name, one in templates.items()
    )
    known = dict.fromkeys(("of web-1", "of web-2", "web-2"), BODY)
    snapshot = unseen(WEB).fold(Observed(0.0, deployment(template=templates[served])))
    for name, one in templates.items():
        snapshot = snapshot.fold(Observed(0.0, replica_set(name, template=one)))
    target = Target(WEB, snapshot, Known(Baseline(served, 1, templates[served], "hash")))
    before, proposed = dict(versions[0].members), {WEB: "new", SETTINGS: "new"}
    histories = {WEB: History(versions, FrozenMap(known))}
    lacking = lacking_after(Candidates((target,), (), histories), before, proposed)
    assert lacking.get(WEB, ()) == lacks


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
    snapshot = unseen(WEB).fold(Observed(0.0, deployment(template=template("shop/web:2"))))
    target = Target(WEB, snapshot, Known(Baseline("web-2", 2, template("shop/web:2"), "hash")))
    objects = (PlannedObject(WEB, Known(live_web(manager))),)
    candidates = Candidates((target,), objects, {WEB: History(versions, known)})
    assert list(find_returns_beyond(candidates, proposed)) == ([WEB] if is_named else [])
