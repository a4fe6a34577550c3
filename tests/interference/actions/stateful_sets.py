"""What others do to the StatefulSet while it rolls out, or while its way back is blocked."""

from __future__ import annotations

import random

from tests.cluster.workloads import disruption_budget
from tests.interference import shop
from tests.interference.actions.table import CONFLICT, OVERTAKEN, action
from tests.interference.stage import Stage


def _spec(stage: Stage, spec: dict[str, object]) -> None:
    stage.patch("statefulsets", shop.DB, {"spec": spec})


@action()
def stateful_pod_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete one of its pods, which frees it where that was the one in the way."""
    stage.objects.delete("pods", f"{shop.DB}-{chance.randrange(shop.DB_PODS)}")


@action(early=CONFLICT)
def stateful_scaled(stage: Stage, chance: random.Random) -> None:
    """Scale it by hand."""
    replicas = chance.choice((1, 3))
    stage.run_kubectl("scale", "statefulset/db", f"--replicas={replicas}")


@action(ends=[8], early=OVERTAKEN)
def stateful_image_set(stage: Stage, chance: random.Random) -> None:
    """Roll out another image by hand."""
    stage.run_kubectl("set", "image", "statefulset/db", "db=shop/db:hand")


@action(early=CONFLICT)
def stateful_restart(stage: Stage, chance: random.Random) -> None:
    """Restart its pods."""
    stage.run_kubectl("rollout", "restart", "statefulset/db")


@action(ends=[5], early=CONFLICT | {5})
def stateful_partition_set(stage: Stage, chance: random.Random) -> None:
    """Hold pods back from new versions: a broken one below the partition stays."""
    partition = chance.randint(1, shop.DB_PODS)
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}
    _spec(stage, {"updateStrategy": strategy})


@action(ends=[5], early=CONFLICT | {5})
def stateful_on_delete(stage: Stage, chance: random.Random) -> None:
    """Leave the replacement of pods to whoever deletes them."""
    _spec(stage, {"updateStrategy": {"type": "OnDelete", "rollingUpdate": None}})


@action(ends=[5], early=[5])
def stateful_budget_created(stage: Stage, chance: random.Random) -> None:
    """Forbid evictions of its pods."""
    body = disruption_budget(shop.DB, minAvailable=shop.DB_PODS)
    stage.objects.create("poddisruptionbudgets", body)


@action(ends=[8], early=[0, 3, 4, 6, 8])
def stateful_set_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the StatefulSet."""
    stage.objects.delete("statefulsets", shop.DB)
