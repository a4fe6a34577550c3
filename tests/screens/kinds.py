"""Screens of workloads that are no Deployments, and of a manifest with one of each kind."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.bed.nodes import Nodes, NodeState
from tests.bed.scene import settings
from tests.cluster.kubelet.api import JSON
from tests.cluster.workloads import daemon_set, job, stateful_set
from tests.screens.objects import web
from tests.screens.stage import Stage

_STEADY: Final = {"minReadySeconds": 1}
_CLAIM: Final = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def _db(version: int = 1, **over: object) -> JSON:
    """Return a StatefulSet `db` of three pods."""
    given: dict[str, object] = {"image": f"shop/db:{version}", **_STEADY, **over}
    return stateful_set(**given)  # type: ignore[arg-type]


def kinds_all_verified(stage: Stage) -> None:
    """A migration, then a Deployment, a StatefulSet and a DaemonSet beside configuration."""
    agent = daemon_set(**_STEADY)  # type: ignore[arg-type]
    stage.apply(settings(), job(), web(), _db(), agent, page=True)


def kinds_stateful_set_partitioned(stage: Stage) -> None:
    """A partition leaves two of three pods at the version before."""
    stage.scene.serve(_db())
    stage.apply(_db(2, partition=2))


def kinds_stateful_set_power(stage: Stage) -> None:
    """What a comparison by counts could show with one of ten pods at the new version."""
    stage.scene.serve(_db(replicas=10, partition=9))
    selector = 'requests_total{pod=~"${statefulset}-.*",revision="${controller_revision_hash}"'
    bad, total = selector + ',code=~"5.."}', selector + "}"
    check = {"name": "errors", "bad": bad, "total": total, "during": "bake"}
    stage.file("checks.yaml", {"checks": [check]})
    stage.run("checks sts/db --config checks.yaml --power --traffic 20 --rate 1%")


def kinds_stateful_set_on_delete(stage: Stage) -> None:
    """With OnDelete nothing rolls by itself."""
    strategy = {"type": "OnDelete"}
    stage.scene.serve(_db(updateStrategy=strategy))
    stage.apply(_db(2, updateStrategy=strategy))


def kinds_stateful_set_unblocked(stage: Stage) -> None:
    """A crash loop: on the way back the pod that blocks is replaced; volumes stay as they are."""
    stage.scene.serve(_db(volumeClaimTemplates=[_CLAIM]))
    stage.apply(_db(2, behaviour="crash", volumeClaimTemplates=[_CLAIM]))


def kinds_stateful_set_blocked(stage: Stage) -> None:
    """The pod that blocks the way back is to be left alone; somebody deletes it, as advised."""
    stage.scene.serve(_db())
    flags = "--replace-blocked-pods never --progress-deadline 40s --rollback-timeout 1m"
    stage.apply(_db(2, behaviour="crash"), flags=flags)
    stage.run("status sts/db")
    stage.scene.objects.delete("pods", "db-2")
    stage.note("kubectl delete pod/db-2")
    stage.run("verify sts/db")


def kinds_job_failed(stage: Stage) -> None:
    """A migration fails: its configuration goes back, and the Deployment is never written."""
    stage.scene.serve(settings(), web())
    stage.apply(settings("two"), job(behaviour="crash", backoffLimit=1), web(2))


def kinds_job_status(stage: Stage) -> None:
    """A migration while it runs, and after it; another one that failed."""
    stage.scene.apply_as("kubectl", job(behaviour="complete=70"))
    stage.scene.apply_as("kubectl", job("again", behaviour="crash=5", backoffLimit=0))
    stage.users.played.clock.wait(10.0)
    stage.run("status job/migrate")
    stage.users.played.clock.wait(70.0)
    stage.run("status job/migrate")
    stage.run("status job/again")


def kinds_daemon_set_blocked(stage: Stage) -> None:
    """A dead node uses up maxUnavailable: the clock ends it, and the way back does without it."""
    nodes = Nodes(stage.bed.client, stage.scene.objects)
    *_, last = nodes.join(3)
    agent = partial(daemon_set, pool=nodes.pool, tolerates_all=True, **_STEADY)  # type: ignore[arg-type]
    stage.scene.serve(agent())
    nodes.turn(last, NodeState.DEAD)
    nodes.wait(last, "Unknown")
    stage.note(f"the machine of node {last} stops")
    flags = "--progress-deadline 20s"
    stage.apply(agent(image="shop/agent:2"), flags=flags)
    stage.run("status ds/agent")
