"""What was left unverified is returned to where it was complete, and nothing else is known."""

from __future__ import annotations

import pytest

from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.kinds.registry import unseen
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Known
from gate.core.model.objects import CleanText, Pod, Watched
from gate.core.model.outcome import Reason
from gate.core.plan.plan import Target
from gate.core.rollout.baseline import Baseline
from gate.core.rollout.causes import Cause
from gate.core.rollout.observations import Observed
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, template_digest
from gate.core.versions.obstacles import is_best_known, serves_by_on_delete
from tests.table import each
from tests.unit.core.kinds.stateful_set.test_blocking import DB, NEW, OLD, member, stateful_set
from tests.unit.core.kinds.stateful_set.test_serving import revision
from tests.unit.core.world import deployment, replica_set, template

WEB = deployment_ref("shop", "web")


@pytest.mark.contract("B1372")
@each(
    ("available", "why", "is_best"),
    [
        (4, Reason.CHECK_ERROR, True),
        (2, Reason.CHECK_ERROR, False),
        (4, Reason.CHECK_FAILED, False),
    ],
)
def test_what_serves_unverified_is_the_best_known_if_it_is_complete(
    available: int, why: Reason, *, is_best: bool
) -> None:
    """Not half of it, and nothing that failed."""
    web = deployment(available_replicas=available, updated_replicas=available)
    pods = replica_set(replicas=4, available_replicas=available)
    snapshot = unseen(WEB).fold(Observed(0.0, web)).fold(Observed(0.0, pods))
    target = Target(WEB, snapshot, Known(Baseline("web-2", 2, template(), "hash")))
    cause = Cause(why, CleanText("smoke: why"))
    left = JudgedVersion(template_digest(template()), (), FrozenMap({WEB: "w"}), "web-2", 2, cause)
    assert is_best_known(target, History((left,)), {WEB: "w"}) is is_best


@pytest.mark.contract("B1604")
@each(
    ("pods", "name"),
    [
        ((member(0, OLD), member(1, OLD, ready=False)), OLD),
        ((member(0, OLD), member(1, "db-tried", ready=False)), ""),
        ((member(0, OLD), member(1, NEW, ready=False)), ""),
        ((member(0, OLD, ready=False),), ""),
    ],
)
def test_beside_a_template_that_no_pod_takes_all_pods_run_one_version(
    pods: tuple[Pod, ...], name: str
) -> None:
    """Pods of another count also while they are not ready, and one at least has to serve."""
    live = stateful_set(on_delete=True)
    revisions = [
        revision(name, number, template(f"shop/db:{number}"))
        for number, name in enumerate((OLD, "db-tried", NEW), 1)
    ]
    snapshot = unseen(DB)
    there: tuple[Watched, ...] = (live, *revisions, *pods)
    for thing in there:
        snapshot = snapshot.fold(Observed(0.0, thing))
    found = serves_by_on_delete(snapshot)
    assert (found.name if found is not None else "") == name
