"""Runs a plan to its end: lanes for the effects, watches for the facts, signals as events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gate.app.console import Console
from gate.app.lanes import Lanes
from gate.app.session import Session
from gate.core.attempt import Attempt
from gate.core.body import FrozenMap
from gate.core.events import Interrupted
from gate.core.objects import Ref
from gate.core.plan import Plan
from gate.engine import Engine
from gate.kube.evidence import Collector
from gate.kube.reads import Reader
from gate.kube.writes import Writer
from gate.signals import Delivery


@dataclass(frozen=True, slots=True)
class Ready:
    """An attempt that nothing has refused; the watches of its session already run.

    `selectors` are those of the Deployments that it follows.
    """

    session: Session
    plan: Plan
    selectors: Mapping[Ref, Mapping[str, Any]] = FrozenMap()


def run(ready: Ready, console: Console, delivered: Delivery) -> Attempt:
    """Return the attempt in its end state.

    A bug of ours that breaks it off is raised, after a warning that names what was written.
    """
    clock, inbox = ready.session.clock, ready.session.inbox
    client, resources = ready.session.client, ready.session.resources
    lanes = Lanes(
        clock,
        inbox,
        write=Writer(client, resources, clock).perform,
        read=Reader(client, resources, clock, ready.selectors).perform,
        collect=Collector(client, clock).perform,
    )
    engine = Engine(clock, inbox, lanes.dispatch, console)
    try:
        with delivered(lambda number: inbox.put(Interrupted(clock.now(), number))):
            return engine.run(ready.plan)
    except Exception:
        if lanes.sent:
            sent = ", ".join(map(str, lanes.sent))
            console.warn(f"broken off after writes to {sent}: they stand as they are")
        raise
    finally:
        lanes.stop()
