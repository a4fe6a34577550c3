"""The last look: what the end of an attempt says of each object that it wrote."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from gate.core.attempt.history_entries import closed_of
from gate.core.attempt.last_look import Finding, FindingKind
from gate.core.attempt.limits import INSPECTION_SECONDS
from gate.core.attempt.state import Attempt
from gate.core.attempt.transitions import State
from gate.core.endings.differences import differences
from gate.core.endings.last_reads import with_deletions_checked, with_unread
from gate.core.model.body import NOTHING
from gate.core.model.fact import Known, Unknown
from gate.core.model.outcome import Outcome, Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, Release, Write
from gate.core.protocol.events import AttemptEvent, Interrupted, ReadBack, Written
from gate.core.rollout.policy import Policy, Response
from gate.core.versions.history import Closing
from tests.unit.core.attempt.test_endings import AS_WRITTEN, DELETED, deleting
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import Player, ends, going_back, planned, rolling_out, serving
from tests.unit.core.server import Server
from tests.unit.core.world import config_ref, refusals

SETTINGS = config_ref()
Meddle = Callable[[Server], object]


def meddled(player: Player, meddle: Meddle) -> Attempt:
    """Let somebody meddle now, and the attempt run to its end."""
    meddle(player.server)
    return player.run()


def remove(server: Server) -> None:
    """Delete the ConfigMap."""
    server.remove(SETTINGS)


def edit(server: Server) -> None:
    """Change the value that the attempt wrote."""
    server.edit(SETTINGS, "kubectl-edit", {"data.mode": "c"})


def make_again(server: Server) -> None:
    """Delete the ConfigMap and create another one."""
    server.remove(SETTINGS)
    server.put(config("c"), "kubectl")


def add(server: Server) -> None:
    """Add what the attempt did not write."""
    server.edit(SETTINGS, "labeller", {"metadata.labels.team": "shop"})


MEDDLING = [
    (remove, DELETED, "is gone: somebody else deleted it after this run"),
    (
        edit,
        Finding(FindingKind.CHANGED, ("kubectl-edit",), ("data.mode",)),
        "kubectl-edit changed data.mode",
    ),
    (make_again, Finding(FindingKind.RECREATED, ("kubectl",)), "and kubectl created it again"),
    (add, AS_WRITTEN, ""),
]


# -- what it says ----------------------------------------------------------------------------------


@pytest.mark.contract("B49", "B51")
@pytest.mark.parametrize(("meddle", "found", "said"), MEDDLING)
def test_a_verified_end_says_what_is_not_as_written(
    meddle: Meddle, found: Finding, said: str
) -> None:
    """The Deployment runs what was applied: 0, and the ConfigMap is named."""
    player = rolling_out(config("a"))
    player.run_to(State.CONFIRMING)
    attempt = meddled(player, meddle)
    assert ends(attempt) == (0, Outcome.VERIFIED, Reason.COMPLETE)
    assert dict(attempt.ledger.findings) == {SETTINGS: found, player.web: AS_WRITTEN}
    lines = list(differences(attempt))
    assert [said in line for line in lines] == ([True] if said else [])
    assert player.lines("differs") == lines


def altered(player: Player, effect: Write, mode: str) -> AttemptEvent:
    """Answer a write of the ConfigMap with another mode than was sent, as a webhook may."""
    answer = player.answer(effect)
    assert isinstance(answer, Written)
    player.server.stored[SETTINGS].parts["rollout-gate", "Apply"]["data.mode"] = mode
    return replace(answer, live=player.server.read(SETTINGS))


@pytest.mark.contract("B49")
def test_what_a_server_makes_of_a_write_on_the_way_out_is_as_written() -> None:
    """Defaults and webhooks have their say there: the answer is what is compared."""
    player = rolling_out(config("a"))
    player.bend(Write, partial(altered, mode="B"))
    attempt = player.run()
    assert ends(attempt)[0] == 0
    assert attempt.ledger.findings[SETTINGS] == AS_WRITTEN


@pytest.mark.contract("B145")
@pytest.mark.parametrize("gone", [False, True, None], ids=["changed", "gone", "made-again"])
def test_a_superseded_end_names_what_is_still_ours(gone: bool | None) -> None:
    """Our ConfigMap stands beside somebody else's Deployment, and that is said."""
    player = rolling_out(config("a"), v2="stuck")
    player.run_to(State.FOLLOWING)
    if gone is not False:
        player.server.remove(player.web)
    if not gone:
        player.server.put(manifest("v3"), "kubectl")
    player.news()
    attempt = player.run()
    assert attempt.outcome is Outcome.SUPERSEDED
    assert attempt.ledger.findings[SETTINGS] == AS_WRITTEN
    kinds = {None: FindingKind.RECREATED, True: FindingKind.DELETED, False: FindingKind.CHANGED}
    assert attempt.ledger.findings[player.web].kind is kinds[gone]
    is_there = attempt.ledger.findings[player.web].kind is not FindingKind.DELETED
    end = "beside somebody else's deployment/web" if is_there else "though deployment/web is gone"
    assert list(differences(attempt)) == [
        f"configmap/settings still has what this run wrote, {end}"
    ]


@pytest.mark.contract("B145")
def test_what_was_as_it_is_before_the_run_is_no_leftover() -> None:
    """A ConfigMap that the apply did not change is nobody's concern."""
    server = serving(config("a"), v2="stuck")
    player = Player(server, planned(server, config("a"), manifest("v2")))
    player.run_to(State.FOLLOWING)
    server.put(manifest("v3"), "kubectl")
    player.news()
    assert player.run().outcome is Outcome.SUPERSEDED
    assert list(differences(player.attempt)) == []


@pytest.mark.contract("B49", "B133")
@pytest.mark.parametrize(("meddle", "said"), [(remove, "was deleted by"), (edit, "was left alone")])
def test_what_the_rollback_left_alone_is_said_as_it_is(meddle: Meddle, said: str) -> None:
    """Nobody is told that a ConfigMap was changed that is gone."""
    player = going_back(config("a"))
    attempt = meddled(player, meddle)
    assert ends(attempt)[0] == 4
    assert [said in line for line in differences(attempt)] == [True]
    did = "deleted" if meddle is remove else "changed"
    assert [f"somebody else {did} it" in line for line in player.lines("left")]


# -- deletions -------------------------------------------------------------------------------------


def held(player: Player, effect: Read, *finalizers: str) -> ReadBack:
    """Answer a read with the object as it is while it is being deleted."""
    live = player.server.read(effect.ref) or player.attempt.ledger.left[effect.ref].answer
    fact = Known(deleting(live, *finalizers))
    return ReadBack(player.attempt.now, effect.effect_id, fact)


def pruning() -> Player:
    """Begin a rollout that fails, with a new ConfigMap that is to go again."""
    server = serving(v2="crash")
    policy = Policy(response=Response(prune_created=True))
    player = Player(server, planned(server, config("b"), manifest("v2"), policy=policy))
    player.run_to(State.CONFIRMING, Leg.BACK)
    return player


@pytest.mark.contract("B144")
@pytest.mark.parametrize(
    ("finalizers", "said"),
    [
        ((), "it still exists"),
        (("example.com/hold",), "it waits for the finalizer example.com/hold"),
        (("a.io/hold", "b.io/hold"), "it waits for the finalizers a.io/hold and b.io/hold"),
    ],
)
def test_what_is_pruned_and_not_gone_is_named(finalizers: tuple[str, ...], said: str) -> None:
    """Its deletion was accepted, and it still exists: 4, with the finalizers."""
    player = pruning()
    player.let_pass(Read)
    player.bend(Read, lambda p, e: held(p, e, *finalizers))
    attempt = player.run()
    assert ends(attempt)[0] == 4
    assert attempt.ledger.findings[SETTINGS] == Finding(
        FindingKind.BEING_DELETED, finalizers=finalizers
    )
    (line,) = differences(attempt)
    assert line == f"configmap/settings is not gone yet, though this run deleted it: {said}"


def test_only_a_workload_that_this_run_deletes_has_to_be_gone() -> None:
    """One that went back, and that somebody else deletes then, went back."""
    attempt = rolling_out(config("a"), v2="crash").run()
    [web] = attempt.result.endings
    found = attempt.ledger.findings.put(web, Finding(FindingKind.BEING_DELETED))
    attempt = replace(attempt, ledger=replace(attempt.ledger, findings=found))
    assert with_deletions_checked(attempt).outcome is Outcome.ROLLED_BACK
    ours = replace(attempt, ledger=replace(attempt.ledger, deleted=(web,)))
    assert with_deletions_checked(ours).outcome is Outcome.FAILED


@pytest.mark.contract("B144")
def test_what_is_pruned_and_made_again_is_said() -> None:
    """Somebody else made it; it is not ours that still stands."""
    player = pruning()
    player.server.put(config("c"), "kubectl")
    attempt = player.run()
    assert [*differences(attempt)] == [
        "configmap/settings was deleted by this run, and kubectl created it again"
    ]


# -- bounds ----------------------------------------------------------------------------------------


@pytest.mark.contract("B49", "B280")
def test_each_other_object_is_read_once_and_no_deployment() -> None:
    """The confirming read has just read the Deployment; the rest is asked for at once."""
    server = serving()
    others = [config("b", name) for name in ("one", "two", "three")]
    player = Player(server, planned(server, *others, manifest("v2")))
    player.hold = (Read,)
    player.run(lambda attempt: attempt.course.state is State.CONFIRMING)
    player.hold = ()
    before = len(player.sent)
    player.run()
    asked = [effect for effect in player.sent[before:] if isinstance(effect, Read)]
    assert [effect.ref.name for effect in asked] == ["one", "two", "three"]
    assert not any(effect.whole_rollout for effect in asked)
    places = [type(effect) for effect in player.sent[before:]]
    assert places[:3] == [Read] * 3, "side by side, before the lock is given back"


@pytest.mark.contract("B49")
@pytest.mark.parametrize("why", ["timed out", ""])
def test_what_cannot_be_read_decides_nothing(why: str) -> None:
    """Unknown is not absent: the verdict stands, and the object is named."""
    player = rolling_out(config("a"))
    player.run_to(State.CONFIRMING)
    player.let_pass(Read)
    if why:
        player.bend(Read, lambda p, e: ReadBack(p.attempt.now, e.effect_id, Unknown(why)))
    else:
        player.bend(Read, lambda *_: None)
    attempt = player.run()
    assert ends(attempt)[0] == 0
    assert attempt.ledger.findings[SETTINGS].kind is FindingKind.UNREAD
    (line,) = differences(attempt)
    assert line.startswith("configmap/settings could not be read again after this run wrote it: ")
    assert attempt.now - (attempt.result.verdict_at or 0.0) <= INSPECTION_SECONDS


@pytest.mark.contract("B49", "B153")
def test_a_signal_ends_the_look_and_not_the_verdict() -> None:
    """Nobody who presses Ctrl-C waits for a courtesy."""
    player = rolling_out(config("a"))
    player.run_to(State.CONFIRMING)
    player.let_pass(Read)
    player.bend(Read, lambda p, _: Interrupted(p.attempt.now, signal.SIGINT))
    attempt = player.run()
    assert ends(attempt)[0] == 0
    assert attempt.now == attempt.result.verdict_at
    assert attempt.ledger.findings[SETTINGS].kind is FindingKind.UNREAD


@pytest.mark.contract("B49")
@pytest.mark.parametrize("number", [signal.SIGTERM, None])
def test_an_end_that_waits_for_nothing_says_only_that(number: int | None) -> None:
    """Interrupted or out of touch: every object is unread, and no line repeats it."""
    player = rolling_out(config("a"), v2="stuck")
    player.run_to(State.FOLLOWING)
    now = player.attempt.now
    events = [Interrupted(now, number)] if number is not None else refusals(now)
    for event in events:
        player.hear(event)
    attempt = player.run()
    assert attempt.outcome in (Outcome.INTERRUPTED, Outcome.LOST_CONTACT)
    assert {found.kind for found in attempt.ledger.findings.values()} == {FindingKind.UNREAD}
    assert list(differences(attempt)) == []


# -- what is remembered of it ----------------------------------------------------------------------


def remembered(player: Player) -> Closing:
    """Return what the end of an attempt leaves to be remembered."""
    [released] = player.asked(Release)
    [closing] = released.closed.workloads
    return closing


@pytest.mark.contract("B710")
@pytest.mark.parametrize(("meddle", "found", "said"), MEDDLING)
@pytest.mark.parametrize("way", [Leg.FORWARD, Leg.BACK])
def test_what_is_not_as_written_is_not_remembered_as_if_it_stood(
    way: Leg, meddle: Meddle, found: Finding, said: str
) -> None:
    """Of such an object the set has no body, and its digest is that of nothing."""
    player = rolling_out(config("a"), v2="good" if way is Leg.FORWARD else "crash")
    player.run_to(State.CONFIRMING, way)
    meddled(player, meddle)
    closing = remembered(player)
    version = closing.versions[-1]
    assert version.verified
    stood = found == AS_WRITTEN
    assert (version.members[SETTINGS] != NOTHING) is stood, said
    assert set(closing.bodies) == {digest for digest in version.members.values() if digest}
    assert version.members[player.web] in closing.bodies


@pytest.mark.contract("B710")
@pytest.mark.parametrize(
    ("found", "is_remembered"),
    [
        (AS_WRITTEN, True),
        (Finding(FindingKind.UNREAD, why="no answer"), True),
        (Finding(FindingKind.CHANGED, ("kubectl",), ("spec.replicas",)), True),
        (Finding(FindingKind.CHANGED, ("kubectl",), ("spec.template", "spec.replicas")), False),
        (DELETED, False),
    ],
)
def test_a_deployment_that_is_not_as_written_makes_no_verified_version(
    found: Finding, is_remembered: bool
) -> None:
    """Its number of replicas is no part of a version, and what was not read shows nothing."""
    player = rolling_out(config("a"))
    attempt = player.run()
    findings = attempt.ledger.findings.put(player.web, found)
    attempt = replace(attempt, ledger=replace(attempt.ledger, findings=findings))
    [closing] = closed_of(attempt).workloads
    [version] = closing.versions
    assert (version.verified, version.is_unjudged) == (is_remembered, not is_remembered)


@pytest.mark.contract("B1860")
@pytest.mark.parametrize(
    ("uid", "is_ours", "kind"),
    [
        ("made", False, FindingKind.DELETED),
        ("made", True, FindingKind.UNREAD),
        ("", False, FindingKind.UNREAD),
    ],
)
def test_what_is_gone_without_a_last_look_is_others_doing_where_it_can_be(
    uid: str, *, is_ours: bool, kind: FindingKind
) -> None:
    """Not what this run deleted, nor what a dead gate created, whose uid nobody knows."""
    attempt = going_back(config("a")).attempt
    ledger = attempt.ledger
    written = ledger.written[SETTINGS]
    written = replace(written, after=replace(written.after, uid=uid))
    ledger = replace(
        ledger,
        written=ledger.written.put(SETTINGS, written),
        live=ledger.live.drop(SETTINGS),
        deleted=(SETTINGS,) if is_ours else (),
    )
    assert with_unread(replace(attempt, ledger=ledger)).ledger.findings[SETTINGS].kind is kind
