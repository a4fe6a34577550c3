"""What was left unverified: what is known of it, and whether a failure returns to it."""

from __future__ import annotations

from dataclasses import replace

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
from gate.core.versions.obstacles import find_last_word, is_best_known, serves_by_on_delete
from gate.core.versions.open_findings import list_findings
from tests.table import each
from tests.unit.core.kinds.stateful_set.test_blocking import DB, NEW, OLD, member, stateful_set
from tests.unit.core.kinds.stateful_set.test_serving import revision
from tests.unit.core.world import config_ref, deployment, replica_set, template

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


def judged(
    why: Reason | None, web: str = "w", configuration: str = "c", judged_at: str = "12:01"
) -> JudgedVersion:
    """Return a judgement of the pods of `web-2` beside configuration, "" for none."""
    members = {WEB: web, **({config_ref(): configuration} if configuration else {})}
    cause = Cause(why, CleanText("why")) if why is not None else None
    version = JudgedVersion(template_digest(template()), (), FrozenMap(members), "web-2", 2, cause)
    return replace(version, judged_at=f"2026-11-21T{judged_at}:00Z")


@pytest.mark.contract("B1571")
@each(
    ("complete", "is_last"),
    [
        (judged(Reason.COMPLETE, web="more pods", judged_at="12:02"), True),
        (judged(Reason.COMPLETE, web="more pods", judged_at="12:01"), True),
        (judged(Reason.COMPLETE, web="more pods", judged_at="12:00"), False),
        (judged(Reason.COMPLETE, configuration="d", judged_at="12:02"), False),
        (judged(Reason.VACUOUS, web="more pods", judged_at="12:02"), False),
        (judged(Reason.NO_ROLLOUT, web="more pods", judged_at="12:02"), False),
    ],
)
def test_what_was_verified_otherwise_and_ran_complete_since_is_complete(
    complete: JudgedVersion, *, is_last: bool
) -> None:
    """If pods of it ran, and the workload itself was another one, as by its partition."""
    verified = judged(None)
    found = find_last_word(History((verified,), unjudged=(complete,)), replica_set(), WEB)
    assert found == (complete if is_last else verified)


@pytest.mark.contract("B1572")
@each(
    ("failed", "is_open"),
    [
        (judged(Reason.CRASH_LOOP), False),
        (judged(Reason.CRASH_LOOP, configuration=""), False),
        (judged(Reason.CRASH_LOOP, configuration="d"), True),
    ],
)
def test_pods_that_failed_are_a_finding_unless_they_were_verified_just_so(
    failed: JudgedVersion, *, is_open: bool
) -> None:
    """With the same objects beside them, as far as their failure names any."""
    found = list_findings(History((judged(None), failed)), template())
    assert found == ((failed,) if is_open else ())
