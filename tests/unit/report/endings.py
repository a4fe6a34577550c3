"""Attempts that ended, one function an ending, made by the real core."""

from __future__ import annotations

from collections.abc import Callable

from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import Write
from gate.core.protocol.events import AttemptEvent, ContactLost, Interrupted, WriteRejected
from gate.core.rollout.observations import Vanished
from gate.core.rollout.policy import Budgets, OnFailure, OnFirstFailure, Policy, Response
from tests.unit.report.cluster import (
    NOT_READY,
    WAITING_CRASH,
    WAITING_PULL,
    Workload,
    config_map,
    managed_by,
    manifest,
    stored,
    warning,
)
from tests.unit.report.stage import Stage, log_lines

CRASH_LOG = (
    "2026-11-21T12:00:08Z INFO  starting web 2.0",
    "2026-11-21T12:00:08Z INFO  reading /etc/web/config.yaml",
    "panic: DATABASE_URL is not set",
    "",
    "goroutine 1 [running]:",
    "\tmain.main()",
    "\t\t/src/main.go:41 +0x1d",
)


def serving(name: str = "web", replicas: int = 4) -> Workload:
    """Return a Deployment that serves revision 1."""
    return Workload(name, f"shop/{name}:1", replicas).serving(f"shop/{name}:1", 1)


def applying(image: str = "shop/web:2", policy: Policy | None = None) -> tuple[Stage, Workload]:
    """Return an apply of an image to a Deployment that serves, and the Deployment."""
    web = serving()
    return Stage([web], [manifest("web", image)], policy), web


def with_config_map(
    policy: Policy | None = None, answer: Callable[[Write], AttemptEvent | None] | None = None
) -> tuple[Stage, Workload]:
    """Return the same with a ConfigMap that is changed before it."""
    web, before = serving(), config_map("web", "old")
    mode = stored(before, "uid-web-config", [managed_by("rollout-gate", before)])
    bodies = [config_map("web", "new"), manifest("web", "shop/web:2")]
    return Stage([web], bodies, policy, [mode], answer=answer), web


def under_way() -> tuple[Stage, Workload]:
    """Return an apply half of whose new pods are ready."""
    stage, web = applying()
    web.revision = 2
    web.fill("shop/web:2", 2, 2)
    web.counted(2, 3, 5)
    stage.show(2.0)
    return stage, web


def verified() -> Stage:
    """A new version that becomes complete."""
    stage, web = under_way()
    web.serving("shop/web:2", 2)
    stage.show(7.0)
    return stage


def unchanged() -> Stage:
    """The version that runs already."""
    stage, _ = applying("shop/web:1")
    stage.show(0.5)
    return stage


def vacuous() -> Stage:
    """A Deployment that asks for no pod."""
    web = serving()
    stage = Stage([web], [manifest("web", "shop/web:2", replicas=0)])
    web.replicas = 0
    web.revision = 2
    web.drop("shop/web:1")
    web.replica_set("shop/web:2", 2, 0, 0)
    web.counted(0, 0, 0)
    stage.show(1.0)
    return stage


def crashed(policy: Policy | None = None) -> Stage:
    """A new version whose pods crash, up to the verdict and what it leads to."""
    stage, web = with_config_map(policy)
    stage.evidence = (log_lines("web-2-p0", *CRASH_LOG),)
    web.rolling("shop/web:2")
    stage.show(1.0)
    web.rolling("shop/web:2", WAITING_CRASH, WAITING_CRASH)
    said = "Back-off restarting failed container web"
    stage.show(9.0, warning(web, "web-2-p0", "BackOff", said, "2026-11-21T12:00:10Z"))
    return stage


def rolled_back() -> Stage:
    """The same, with the rollback verified."""
    stage = crashed()
    stage.serve_again()
    return stage


def image_pull() -> Stage:
    """An image that does not exist, rolled back."""
    stage, web = applying("shop/web:typo")
    web.rolling("shop/web:typo", WAITING_PULL, WAITING_PULL)
    said = 'Failed to pull image "shop/web:typo": shop/web:typo: not found'
    stage.show(1.0, warning(web, "web-typo-p0", "Failed", said, "2026-11-21T12:00:03Z"))
    stage.wait_until(131.5)
    stage.serve_again(2.0)
    return stage


def first_failed(policy: Policy | None = None) -> Stage:
    """A first deployment that crashes: there is nothing to return to."""
    web = Workload("web", "shop/web:1", 2)
    stage = Stage([web], [manifest("web", "shop/web:1", 2)], policy, exists=False)
    stage.evidence = (log_lines("web-1-p0", *CRASH_LOG),)
    web.replica_set("shop/web:1", 1, 2, 0)
    web.pod("shop/web:1", "p0", WAITING_CRASH)
    web.pod("shop/web:1", "p1", WAITING_CRASH)
    web.counted(2, 0, 2)
    stage.show(10.0)
    return stage


def superseded() -> Stage:
    """Somebody else changes the image in mid-flight."""
    stage, web = under_way()
    web.body = manifest("web", "shop/web:hotfix")
    web.generation += 1
    web.managers = [managed_by("kubectl-edit", web.body, "Update")]
    stage.show(1.0)
    return stage


def conflict() -> Stage:
    """Another manager owns a field, which turns up at the write."""

    def refuse(write: Write) -> AttemptEvent:
        path = '.spec.template.spec.containers[name="web"].image'
        conflict = (
            f'Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: {path}'
        )
        return WriteRejected(100.1, write.effect_id, Reason.CONFLICT, CleanText(conflict), (path,))

    return Stage([serving()], [manifest("web", "shop/web:2")], answer=refuse)


def lost_contact() -> Stage:
    """The API server goes away for good after the write."""
    stage, _ = under_way()
    stage.readable = False
    stage.hear(ContactLost(stage.attempt.now + 20.0, "connection refused by 10.0.0.1:6443"))
    stage.wait_out()
    return stage


def interrupted() -> Stage:
    """SIGTERM in mid-flight, without evidence against the new version."""
    stage, _ = under_way()
    stage.hear(Interrupted(stage.attempt.now + 1.0, 15))
    return stage


def two_deployments() -> Stage:
    """Of two Deployments one crashes: both go back."""
    web, api = serving(), serving("api")
    stage = Stage([web, api], [manifest(name, f"shop/{name}:2") for name in ("api", "web")])
    stage.evidence = (log_lines("web-2-p0", *CRASH_LOG),)
    api.serving("shop/api:2", 2)
    web.rolling("shop/web:2", WAITING_CRASH, WAITING_CRASH)
    stage.show(9.0)
    stage.serve_again(4.0)
    return stage


def two_failed() -> Stage:
    """Two Deployments that both crash; the rollback of one is never complete."""
    web, api = serving(), serving("api")
    bodies = [manifest(name, f"shop/{name}:2") for name in ("api", "web")]
    stage = Stage([web, api], bodies, Policy(budgets=Budgets(rollback_timeout_seconds=60.0)))
    stage.evidence = (log_lines("web-2-p0", "web log"), log_lines("api-2-p0", "api log"))
    for workload in (web, api):
        workload.rolling(f"shop/{workload.name}:2", WAITING_CRASH, WAITING_CRASH)
    stage.show(9.0)
    web.serving("shop/web:1", 3)
    stage.show(4.0)
    stage.wait_out()
    return stage


def rollback_failed() -> Stage:
    """The version before does not start any more either."""
    stage = crashed(Policy(budgets=Budgets(rollback_timeout_seconds=120.0)))
    (web,) = stage.workloads.values()
    web.drop("shop/web:2")
    web.revision = 3
    web.replica_set("shop/web:1", 3, 4, 3)
    web.pod("shop/web:1", "p3", NOT_READY)
    web.counted(4, 3, 4)
    stage.show(3.0)
    stage.wait_out()
    return stage


def apply_rejected() -> Stage:
    """The ConfigMap was written, the Deployment is refused: the ConfigMap goes back."""

    def refuse(write: Write) -> AttemptEvent | None:
        if write.ref.kind != "Deployment":
            return None
        problem = (
            'Deployment.apps "web" is invalid: spec.template.spec.containers[0].image: Required'
        )
        return WriteRejected(100.1, write.effect_id, Reason.REJECTED, CleanText(problem))

    return with_config_map(answer=refuse)[0]


def interrupted_back() -> Stage:
    """SIGTERM while the new pods crash: the rollback is written, and not waited for."""
    stage, web = applying()
    web.rolling("shop/web:2", {**WAITING_CRASH, "restartCount": 1})
    stage.show(2.0)
    stage.hear(Interrupted(stage.attempt.now + 1.0, 15))
    return stage


def removed() -> Stage:
    """Somebody deletes the Deployment in mid-flight."""
    stage, web = applying()
    stage.hear(Vanished(stage.attempt.now + 1.0, DEPLOYMENT, web.uid))
    return stage


def never_ready() -> Stage:
    """New pods that run and never become ready, until the clock ends it; rolled back."""
    stage, web = applying()
    web.rolling("shop/web:2", NOT_READY, NOT_READY)
    stage.show(3.0)
    stage.wait_until(710.0)
    stage.serve_again()
    return stage


SCALES_TO_ZERO = Policy(response=Response(on_first_failure=OnFirstFailure.SCALE_TO_ZERO))
DELETES = Policy(response=Response(on_first_failure=OnFirstFailure.DELETE))
ENDINGS: dict[str, Callable[[], Stage]] = {
    "verified": verified,
    "unchanged": unchanged,
    "vacuous": vacuous,
    "rolled-back": rolled_back,
    "image-pull": image_pull,
    "first-failed": first_failed,
    "superseded": superseded,
    "conflict": conflict,
    "lost-contact": lost_contact,
    "interrupted": interrupted,
    "two-deployments": two_deployments,
    "rollback-failed": rollback_failed,
    "observed": lambda: crashed(Policy(observe=True)),
    "kept": lambda: crashed(Policy(response=Response(on_failure=OnFailure.KEEP))),
    "paused": lambda: crashed(Policy(response=Response(on_failure=OnFailure.PAUSE))),
    "scaled-to-zero": lambda: first_failed(SCALES_TO_ZERO),
    "deleted": lambda: first_failed(DELETES),
    "interrupted-back": interrupted_back,
    "removed": removed,
    "never-ready": never_ready,
}
