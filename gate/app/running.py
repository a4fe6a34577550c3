"""Runs a plan to its end: lanes for the effects, watches for the facts, signals as events."""

from __future__ import annotations

from gate import signals
from gate.app.console import Console
from gate.app.lanes import Lanes
from gate.app.session import Session
from gate.app.watching import Watching
from gate.core.attempt import Attempt
from gate.core.events import Interrupted
from gate.core.plan import Plan
from gate.engine import Engine
from gate.kube.evidence import Collector
from gate.kube.reads import Reader
from gate.kube.writes import Writer


def run(session: Session, plan: Plan, watching: Watching, console: Console) -> Attempt:
    """Return the attempt in its end state; the watches are stopped by then."""
    clock, inbox = session.clock, session.inbox
    lanes = Lanes(
        clock,
        inbox,
        write=Writer(session.client, session.resources, clock).perform,
        read=Reader(session.client, session.resources, clock).perform,
        collect=Collector(session.client, clock).perform,
    )
    engine = Engine(clock, inbox, lanes.dispatch, console)
    with signals.delivered_to(lambda number: inbox.put(Interrupted(clock.now(), number))):
        try:
            return engine.run(plan)
        finally:
            watching.stop()
