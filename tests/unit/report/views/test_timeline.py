"""One line a change, and a heartbeat that says what is waited for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.transitions import State
from gate.core.checks.spec import During
from gate.core.model.body import FrozenMap
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Announce, Write
from gate.core.protocol.events import AccessRefused, AttemptEvent, ContactLost
from gate.core.rollout.policy import Budgets, Policy
from gate.report.views.timeline import timeline_line, waiting_for
from tests.unit.core.checks.count_looks import counts, started, steady
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Player, rejected, serving
from tests.unit.core.server import Server
from tests.unit.core.writes.test_write_answers import errs
from tests.unit.report.endings import ENDINGS, ReportPlayer, under_way


@pytest.mark.contract("B170")
def test_a_line_has_the_seconds_since_the_start() -> None:
    """Seconds, what kind of change, what changed; aligned."""
    announce = Announce(112.34, "progress", "deployment/web: 2 of 4 new pods available")
    line = timeline_line(announce, 100.0)
    assert line == "  12.3s  progress    deployment/web: 2 of 4 new pods available"
    several = Announce(100.0, "replicaset", "a\nb\r\n  c")
    assert timeline_line(several, 100.0) == "   0.0s  replicaset  a b c"


@pytest.mark.contract("B170", "B1553")
def test_a_heartbeat_says_what_is_waited_for_and_why() -> None:
    """The count and the most telling cause; behind contact that was lost, and a bake window."""
    player = under_way()
    waited_for = (
        "deployment/web: 0 of 4 new pods available, 3 old pods remain"
        " (NotReady: running, but not ready (2 of 2 created pods))"
    )
    assert waiting_for(player.attempt, player.attempt.now) == waited_for
    player.hear(ContactLost(player.attempt.now, "no route to host"))
    away = f"the API server is unreachable: no route to host; {waited_for}"
    assert waiting_for(player.attempt, player.attempt.now) == away
    for seconds in (0.0, 8.0, 16.0):
        refused = AccessRefused(player.attempt.now + seconds, "shop/Pod", "no", Reason.FORBIDDEN)
        player.hear(refused)
    refuses = "the API server refuses this user: no; "
    assert waiting_for(player.attempt, player.attempt.now).startswith(refuses)
    policy = Policy(budgets=Budgets(bake_seconds=60.0))
    baking = ReportPlayer(serving(), manifest("v1"), policy=policy)
    baking.run(at_most=baking.attempt.now)
    line = waiting_for(baking.attempt, baking.attempt.course.baked_since + 20.0)
    assert line == "complete; watching for another 40 s"
    comparison = {"errors": steady(started(counts(During.BAKE)), 5, (1, 100), (1, 100))}
    health = replace(baking.attempt.health, checks=FrozenMap(comparison))
    counting = replace(baking.attempt, health=health)
    looks = comparison["errors"].tally.measured
    said = waiting_for(counting, baking.attempt.course.baked_since + 20.0)
    assert said == f"{line}; errors: undecided after {looks} looks"
    stranger = ENDINGS["superseded"]().attempt
    assert waiting_for(stranger, stranger.now) == "done"


@pytest.mark.contract("B1802")
def test_several_workloads_wait_for_one_configuration() -> None:
    """Each is named, and no command: whoever returns one alone has to choose."""
    server = serving(config("a"))
    server.put(manifest("v1", "api"))
    bodies = config("b"), manifest("v2"), manifest("v2", "api")
    player = ReportPlayer(server, *bodies)
    player.behave("crash", "v2")
    player.run_to(State.RECORDING, Leg.BACK)
    player.bend(Write, errs, times=3)
    player.run(lambda attempt: attempt.writes.uncertain)
    line = waiting_for(player.attempt, player.attempt.now)
    assert "until configmap/settings is back, for another " in line
    assert line.endswith("deployment/web, deployment/api stay at the new versions")


@pytest.mark.contract("B1802")
def test_a_workload_that_did_not_fail_is_not_said_to_have() -> None:
    """The server refused what comes behind it, and it goes back with the rest."""
    bodies = config("b"), manifest("v2"), config("x", "late")
    player = ReportPlayer(serving(config("a")), *bodies)

    def refuse_late(player: Player, effect: Write) -> AttemptEvent:
        if player.attempt.course.leg is Leg.BACK:
            return errs(player, effect)
        return rejected(player, effect) if effect.ref.name == "late" else player.answer(effect)

    player.bend(Write, refuse_late, times=100)
    player.run(lambda attempt: attempt.writes.uncertain)
    line = waiting_for(player.attempt, player.attempt.now)
    assert "at most, deployment/web stays at the new version" in line
    assert "failed" not in line


@pytest.mark.contract("B1802")
def test_a_way_back_without_an_error_holds_nothing() -> None:
    """A write was sent, and its answer is awaited as that of any other."""
    player = ReportPlayer(serving(config("a")), config("b"), manifest("v2"))
    player.behave("crash", "v2")
    player.run_to(State.WRITING, Leg.BACK)
    line = waiting_for(player.attempt, player.attempt.now)
    assert line == "writing configmap/settings, deployment/web"


@pytest.mark.contract("B1802")
def test_a_workload_that_gets_the_errors_itself_holds_no_other() -> None:
    """Nobody could return it before it is returned; the other one comes after it."""
    server = serving()
    server.put(manifest("v1", "api"))
    player = ReportPlayer(server, manifest("v2"), manifest("v2", "api"))
    player.behave("crash", "v2")
    player.run_to(State.RECORDING, Leg.BACK)
    player.bend(Write, errs, times=3)
    player.run(lambda attempt: attempt.writes.uncertain)
    line = waiting_for(player.attempt, player.attempt.now)
    assert line == "writing deployment/web, deployment/api"


@pytest.mark.contract("B1802")
def test_a_workload_of_the_same_version_is_not_held_at_another() -> None:
    """The way out changed another field of it: there is no version to return to."""
    server = serving(config("a"))
    player = ReportPlayer(server, config("b"), manifest("v1", minReadySeconds=7))
    player.behave("crash", "v1")
    player.run_to(State.RECORDING, Leg.BACK)
    player.bend(Write, errs, times=3)
    player.run(lambda attempt: attempt.writes.uncertain)
    line = waiting_for(player.attempt, player.attempt.now)
    assert line == "writing configmap/settings, deployment/web"


def test_many_deployments_are_counted_not_listed() -> None:
    """A heartbeat is one line."""
    names = [f"web{index}" for index in range(5)]
    server = Server()
    for name in names:
        server.put(manifest("v1", name))
    player = ReportPlayer(server, *(manifest("v2", name) for name in names))
    player.control = False
    player.run(at_most=player.attempt.now)
    line = waiting_for(player.attempt, player.attempt.now)
    assert line.count("deployment/") == 3
    assert line.endswith("; 2 more Deployments")
