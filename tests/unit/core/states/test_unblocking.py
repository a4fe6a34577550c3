"""The removal of a pod that is in the way: what is left of one that does not come about."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.attempt.replacement import Replacement, Stage
from gate.core.attempt.transitions import State
from gate.core.endings.rollback_ending import with_refused_removals
from gate.core.model.body import FrozenMap
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Reason
from gate.core.protocol.effects import SaveRecord
from gate.core.rollout.causes import Cause
from gate.core.rollout.verdict import Verdict, VerdictKind
from gate.core.states.unblocking import ask_to_remove, describe_replacements
from tests.table import each
from tests.unit.core.leaves import manifest
from tests.unit.core.player import Player, planned
from tests.unit.core.server import Server


@pytest.mark.contract("B1308")
def test_a_removal_that_is_not_sent_gives_the_clock_back_and_leaves_the_record() -> None:
    """The pod is in the way no more when it was read again."""
    server = Server(v2="slow")
    web = server.put(manifest("v1"))
    player = Player(server, planned(server, manifest("v2")))
    player.news()
    player.run_to(State.FOLLOWING)
    attempt = player.attempt
    rollout = attempt.workloads.rollouts[web]
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


@pytest.mark.contract("B1582")
@each(
    ("stage", "line", "cause"),
    [
        (Stage.ACCEPTED, "web-1 was evicted, for the controller to replace it", "it waits"),
        (Stage.REFUSED, "web-1 was not replaced: no", "it waits; its removal is refused: no"),
        (
            Stage.UNANSWERED,
            "web-1: its removal has no answer: no",
            "it waits; its removal has no answer: no",
        ),
    ],
)
def test_a_removal_without_an_answer_is_not_said_to_be_refused(
    stage: Stage, line: str, cause: str
) -> None:
    """It may have been done: neither the line nor the cause of the end says otherwise."""
    server = Server(v2="slow")
    web = server.put(manifest("v1"))
    attempt = Player(server, planned(server, manifest("v2"))).attempt
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
