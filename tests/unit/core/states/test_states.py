"""States: the table of transitions, and what single ones wait for, read and remove."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

from gate.core.attempt.last_look import FindingKind
from gate.core.attempt.pod_replacement import Replacement, Stage
from gate.core.attempt.transitions import TRANSITIONS, IllegalTransition, State, Trigger, after
from gate.core.endings.rollback_ending import with_refused_removals
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, Release, SaveRecord
from gate.core.rollout.causes import Cause
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.core.states import closing
from gate.core.states.table import STATES
from gate.core.states.unblocking import ask_to_remove, describe_replacements
from tests.table import each
from tests.unit.core.diagram import mermaid
from tests.unit.core.leaves import IMAGE, manifest
from tests.unit.core.player import Player, ends, planned, rolling_out
from tests.unit.core.server import Server

PAGE = Path(__file__).parents[4] / "docs" / "states.md"


def test_the_documented_diagram_is_the_table() -> None:
    """docs/states.md holds what `python -m tests.unit.core.diagram` prints."""
    _, fence, rest = PAGE.read_text(encoding="utf-8").partition("```mermaid\n")
    assert fence
    assert rest.partition("\n```\n")[0] == mermaid()


def test_every_state_and_trigger_is_explained() -> None:
    """The page names each state; the table uses each trigger somewhere."""
    page = PAGE.read_text(encoding="utf-8")
    assert all(f"**{state.value}**" in page for state in State)
    used = {trigger for leg in Leg for row in TRANSITIONS[leg].values() for trigger in row}
    assert used == set(Trigger)


@pytest.mark.contract("B137")
def test_only_retreat_leaves_a_leg_and_nothing_leads_back() -> None:
    """At most one rollback, by the table alone."""
    ways = [
        (leg, trigger, place[0])
        for leg in Leg
        for row in TRANSITIONS[leg].values()
        for trigger, place in row.items()
        if place[0] is not leg
    ]
    assert set(ways) == {(Leg.FORWARD, Trigger.RETREAT, Leg.BACK)}


def test_what_the_table_does_not_have_is_an_error() -> None:
    """Nothing follows the end."""
    with pytest.raises(IllegalTransition):
        after(Leg.BACK, State.ENDED, Trigger.RETREAT)


FROM_OUTSIDE = {Trigger.LOST, Trigger.INTERRUPTED, Trigger.DEPARTED}
"""What `interference` derives in any state that is not final."""


def test_every_state_has_a_behaviour() -> None:
    """No state of the table is without one, in the table's order."""
    assert list(STATES) == list(State)


@pytest.mark.parametrize("leg", Leg)
def test_what_comes_from_outside_ends_every_state_that_is_not_final(leg: Leg) -> None:
    """The table has those transitions exactly where the state lets them be derived."""
    table = TRANSITIONS[leg]
    ended = {state for state in table if set(table[state]) >= FROM_OUTSIDE}
    touched = {state for state in table if set(table[state]) & FROM_OUTSIDE}
    assert ended == touched == {state for state in table if not STATES[state].is_final}


def test_nothing_is_written_before_the_record_or_after_writing() -> None:
    """Only the states that lead to the end of the writes have any ahead."""
    ahead = [state for state in State if STATES[state].has_writes_ahead]
    assert ahead == [State.RECORDING, State.WRITING, State.AWAITING]


NAMES = [f"web-{number:02}" for number in range(16)]


@pytest.mark.contract("B558")
@pytest.mark.parametrize("left_seconds", [math.inf, 0.5])
def test_the_release_of_many_locks_may_take_longer_within_the_budgets(left_seconds: float) -> None:
    """For each further Deployment there is a tenth of a second, or what is left."""
    server = Server()
    for name in NAMES:
        server.put(manifest("v1", name))
    player = Player(server, planned(server, *(manifest("v2", name) for name in NAMES)))
    player.hold = (Release,)
    player.run_to(State.CLOSING)
    attempt = player.attempt
    used_up = attempt.gives_up_at - left_seconds
    since = attempt.now if math.isinf(left_seconds) else used_up
    attempt = replace(attempt, course=replace(attempt.course, closing_since=since))
    more_seconds = min((len(NAMES) - 1) * 0.1, left_seconds)
    assert closing.closes_at(attempt) == pytest.approx(since + 2.0 + more_seconds)


@pytest.mark.contract("B1016")
def test_a_read_that_was_under_way_does_not_hide_who_changed_it() -> None:
    """Its answer is older than the change that the watch brought: it is read again."""
    player = rolling_out(v2="slow")
    server, web = player.server, player.web
    player.run_to(State.FOLLOWING)
    player.hold = (Read,)
    player.pass_to(player.attempt.requests.next_read_at)
    [regular] = [one for one in player.waiting if isinstance(one, Read)]
    player.waiting.remove(regular)
    older = player.read(regular)
    server.edit(web, "kubectl-set", {IMAGE: "shop/web:v3"})
    server.control(web)
    player.news()
    player.hear(older)
    player.hold = ()
    attempt = player.run()
    assert ends(attempt)[1] is Outcome.SUPERSEDED
    assert attempt.result.endings[web].message.endswith("(by kubectl-set)")
    found = attempt.ledger.findings[web]
    assert (found.kind, found.managers) == (FindingKind.CHANGED, ("kubectl-set",))


@pytest.mark.contract("B1308")
def test_a_removal_that_is_not_sent_gives_the_clock_back_and_leaves_the_record() -> None:
    """The pod is in the way no more when it was read again."""
    attempt = rolling_out(v2="slow").run_to(State.FOLLOWING)
    ((web, rollout),) = attempt.workloads.rollouts.items()
    restarted = rollout.restart_clock(attempt.now + 7)
    assert restarted.progress != rollout.progress
    decided = Replacement(
        web, "web-1", "u1", Stage.REREAD, attempt.now + 7, progress=rollout.progress
    )
    workloads = replace(
        attempt.workloads,
        rollouts=attempt.workloads.rollouts.put(web, restarted),
        replacements=FrozenMap({"u1": decided}),
    )
    requests = replace(attempt.requests, outstanding=FrozenMap())
    after, effects = ask_to_remove(replace(attempt, workloads=workloads, requests=requests))
    assert not after.workloads.replacements
    assert after.workloads.rollouts[web].progress == rollout.progress
    (saved,) = (one for one in effects if isinstance(one, SaveRecord))
    assert [one.removed for one in saved.record.followed] == [()]


NO_ANSWER = "its removal has no answer: no"


@pytest.mark.contract("B1582", "B1883")
@each(
    ("stage", "line", "cause"),
    [
        (Stage.ACCEPTED, "web-1 is gone, for the controller to replace it", "it waits"),
        (Stage.REFUSED, "web-1 was not replaced: no", "it waits; its removal is refused: no"),
        (Stage.UNANSWERED, f"web-1: {NO_ANSWER}", f"it waits; {NO_ANSWER}"),
    ],
)
def test_a_removal_without_an_answer_is_not_said_to_be_refused(
    stage: Stage, line: str, cause: str
) -> None:
    """It may have been done: neither the line nor the cause of the end says otherwise."""
    player = rolling_out(v2="slow")
    web, attempt = player.web, player.attempt
    sent = Replacement(web, "web-1", "u1", Stage.SENT, attempt.now)
    answered = replace(sent, stage=stage, message=CleanText("no"))
    before, after = (
        replace(attempt, workloads=replace(attempt.workloads, replacements=FrozenMap({"u1": one})))
        for one in (sent, answered)
    )
    ((_, words),) = describe_replacements(before, after)
    assert words == f"deployment/web: {line}"
    waits = Cause(Reason.BLOCKED_BY_POD, CleanText("it waits"), subject="pod/web-1")
    late = Verdict(VerdictKind.FAILED, Reason.BLOCKED_BY_POD, CleanText("late"), (waits,))
    (said,) = with_refused_removals(after, web, late).causes
    assert said.message == cause
