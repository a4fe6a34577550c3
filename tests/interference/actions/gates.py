"""What others do to locks, with other gates, and to the gate itself."""

from __future__ import annotations

import random
import signal

from tests.interference import shop
from tests.interference.actions.table import action
from tests.interference.stage import Stage

FOREIGN_HOLDER = "somebody/else"

# -- locks and other gates -------------------------------------------------------------------------

_LEASE = "rollout-gate.deployment.web"


@action()
def lease_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the Deployment's Lease."""
    stage.objects.delete("leases", _LEASE)


@action(ends=[8], early=[3])
def lease_taken(stage: Stage, chance: random.Random) -> None:
    """Take the Deployment's Lease in another holder's name."""
    stage.patch("leases", _LEASE, {"spec": {"holderIdentity": FOREIGN_HOLDER}})


@action()
def kept_secret_deleted(stage: Stage, chance: random.Random) -> None:
    """Delete the Secret in which the gate keeps what it changes of Secrets."""
    stage.objects.delete("secrets", _LEASE)


_WAITING = ("--lock-wait", "45s", "--output", "json")
_DEADLINE = ("--progress-deadline", f"{shop.DEADLINE_SECONDS}s")
_BUDGETS = ("--timeout", "20s", "--rollback-timeout", "20s", *_DEADLINE, *_WAITING)


def _second_apply(stage: Stage, number: int) -> None:
    words = ("apply", "-f", stage.manifest(number), *_BUDGETS)
    stage.start_gate(*words, manifest=number)


@action(early=[3], runs_gate=True)
def second_gate_applies_the_same(stage: Stage, chance: random.Random) -> None:
    """Apply the same manifest with another gate."""
    _second_apply(stage, shop.NEW)


@action(early=[3], runs_gate=True)
def second_gate_applies_another(stage: Stage, chance: random.Random) -> None:
    """Apply version 3 with another gate."""
    _second_apply(stage, shop.THIRD)


@action(early=[3], runs_gate=True)
def second_gate_undoes(stage: Stage, chance: random.Random) -> None:
    """Undo with another gate."""
    stage.start_gate("undo", "web", *_BUDGETS)


@action(early=[3], runs_gate=True)
def second_gate_recovers(stage: Stage, chance: random.Random) -> None:
    """Recover with another gate."""
    stage.start_gate("recover", "--lock-wait", "5s", "--output", "json")


# -- the gate itself -------------------------------------------------------------------------------


@action(ends=[143], early=[143])
def terminated(stage: Stage, chance: random.Random) -> None:
    """End the gate as a CI host does."""
    stage.send(signal.SIGTERM)


@action(ends=[130], early=[130])
def interrupted(stage: Stage, chance: random.Random) -> None:
    """End the gate by Ctrl-C."""
    stage.send(signal.SIGINT)


@action(ends=[0, 4, 5, 6, 8], early=[0, 3])
def killed(stage: Stage, chance: random.Random) -> None:
    """Kill the gate; what it leaves is recovered afterwards."""
    stage.running.kill()
