"""Sequences of attempts on one manifest: whatever happens, what returns is one set that served."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from gate.core.attempt.state import Attempt
from gate.core.model.body import FrozenMap
from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.core.model.outcome import Outcome
from gate.core.plan.plan import Plan
from gate.core.protocol.effects import Release
from gate.core.rollout.policy import OnFailure, Policy, Response
from gate.core.versions.candidates import Candidates
from gate.core.versions.history import History
from gate.core.versions.selection import kept_bodies_needed, select, unnamed_members
from tests.long import longer
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.player import Player
from tests.unit.core.recovery.test_resumption import Dying, deaths, plan_of, resumed
from tests.unit.core.server import Server

ROLLBACK, KEEP = OnFailure.ROLLBACK, OnFailure.KEEP
CHOICES = list(itertools.product(("good", "crash"), (ROLLBACK, KEEP)))
CONFIG, WEB, API = (ref_of(body) for body in (config("x"), manifest("x"), manifest("x", "api")))


class Pipeline:
    """A server, what its locks remember, and the versions that were verified, newest last."""

    def __init__(self) -> None:
        """Begin with a version v0 of all that somebody else rolled out."""
        self.server = Server()
        self.histories: dict[Ref, History] = {}
        self.attempts = 0
        self.verified = [0]
        for body in self.bodies(0):
            self.server.put(body)

    @staticmethod
    def bodies(number: int) -> tuple[Mapping[str, Any], ...]:
        """Return all objects of a version."""
        return config(f"v{number}"), manifest(f"v{number}"), manifest(f"v{number}", "api")

    def plan(self, number: int, on_failure: OnFailure, *refs: Ref) -> Plan:
        """Plan to apply a version, all or some of its objects, as a preflight does."""
        bodies = (body for body in self.bodies(number) if not refs or ref_of(body) in refs)
        policy = Policy(response=Response(on_failure=on_failure))
        return self.with_target_set(plan_of(self.server, *bodies, policy=policy))

    def with_target_set(self, plan: Plan) -> Plan:
        """Choose what a failure returns to, by what stands of all that is remembered."""
        versions = (one for found in self.histories.values() for one in found.versions)
        members = {ref for version in versions for ref in version.members}
        named = {one.ref for one in plan.objects}
        beside = {ref for ref in members - named if ref.kind != "Deployment"}
        candidates = Candidates(
            plan.targets, plan.objects, self.histories, beside=self.facts(beside)
        )
        others = self.facts(unnamed_members(candidates))
        chosen = select(candidates, others)
        return replace(plan, targets=chosen.targets, target_set=chosen.target_set)

    def facts(self, refs: Iterable[Ref]) -> dict[Ref, Fact[LiveObject]]:
        """Read objects."""
        live = {ref: self.server.read(ref) for ref in refs}
        return {ref: Absent() if one is None else Known(one) for ref, one in live.items()}

    def apply(self, behaviour: str, on_failure: OnFailure, *refs: Ref) -> Attempt:
        """Apply the next version, all or some of its objects, and remember how it ended."""
        self.attempts += 1
        self.server.behaviour[f"shop/web:v{self.attempts}"] = behaviour
        player = Player(self.server, self.plan(self.attempts, on_failure, *refs))
        player.run()
        return self.remember(player)

    def remember(self, player: Player) -> Attempt:
        """Take down what the end of an attempt leaves to be remembered."""
        for released in player.asked(Release):
            for closing in released.closed.workloads:
                before = self.histories.get(closing.ref, History())
                after = before.after(closing, "", "", f"{self.attempts:03}")
                self.histories[closing.ref] = after
        return player.attempt

    def runs(self) -> set[str]:
        """Return the versions that configuration and templates have."""
        stored = self.server.stored
        images = {stored[ref].image.rpartition(":")[2] for ref in (WEB, API)}
        return images | {str(stored[CONFIG].leaves["data.mode"])}

    def check(self, attempt: Attempt) -> None:
        """Hold an end to what it says: one set, and that of the newest verified version."""
        match attempt.outcome:
            case Outcome.VERIFIED:
                assert self.runs() == {f"v{self.attempts}"}
                self.verified.append(self.attempts)
            case Outcome.ROLLED_BACK:
                assert self.runs() == {f"v{self.verified[-1]}"}
            case Outcome.FAILED:
                assert self.runs() == {f"v{self.attempts}"}
            case _:
                pytest.fail(f"{attempt.outcome} of what nobody interfered with")


@pytest.mark.contract("B700")
@pytest.mark.parametrize("length", [2, longer(4)])
def test_any_sequence_of_attempts_returns_to_what_was_verified_last(length: int) -> None:
    """Good and bad versions, kept and rolled back, in each order of so many."""
    rolled_back = 0
    for choices in itertools.product(CHOICES, repeat=length):
        pipeline = Pipeline()
        for behaviour, on_failure in choices:
            attempt = pipeline.apply(behaviour, on_failure)
            pipeline.check(attempt)
            rolled_back += attempt.outcome is Outcome.ROLLED_BACK
    assert rolled_back > len(CHOICES) ** (length - 1)


@pytest.mark.contract("B700", "B531")
@pytest.mark.parametrize("behaviour", ["crash", longer("good")])
def test_a_death_after_a_kept_failure_leaves_no_mixture(behaviour: str) -> None:
    """v1 verified, a bad v2 kept, and the gate that applies v3 ends at any effect."""
    ends, pipelines = set(), list[Pipeline]()

    def begin() -> Dying:
        pipeline = Pipeline()
        pipelines.append(pipeline)
        pipeline.check(pipeline.apply("good", ROLLBACK))
        pipeline.check(pipeline.apply("crash", KEEP))
        pipeline.server.behaviour["shop/web:v3"] = behaviour
        return Dying(pipeline.server, pipeline.plan(3, ROLLBACK))

    for player in deaths(begin):
        plan = resumed(player.server, player.record)
        if plan is None:
            assert pipelines[-1].runs() == {"v2"}
        else:
            outcome = Player(player.server, plan).run().outcome
            ends.add((outcome, *sorted(pipelines[-1].runs())))
    whole = {(Outcome.VERIFIED, "v3"), (Outcome.ROLLED_BACK, "v1")}
    # Before any Deployment was written all is put as it was, and the kept v2 stays.
    as_before = {(Outcome.ROLLED_BACK, "v2")}
    assert ends <= whole | as_before, ends
    assert (Outcome.ROLLED_BACK, "v1") in ends


@pytest.mark.contract("B701")
def test_a_member_that_could_not_be_read_makes_no_set_whole() -> None:
    """v1 of all, a bad v2 kept, a bad v3 of the Deployments alone: the ConfigMap is not known."""
    pipeline = Pipeline()
    assert pipeline.apply("good", ROLLBACK).outcome is Outcome.VERIFIED
    assert pipeline.apply("crash", KEEP).outcome is Outcome.FAILED
    plan = plan_of(pipeline.server, *pipeline.bodies(3)[1:])
    candidates = Candidates(plan.targets, plan.objects, pipeline.histories)
    assert set(unnamed_members(candidates)) == {CONFIG}
    target_set = select(candidates, {CONFIG: Unknown("configmaps is forbidden")}).target_set
    assert set(target_set.missing) == {CONFIG}
    assert "could not be read" in target_set.missing[CONFIG]


@pytest.mark.contract("B700", "B709")
@pytest.mark.parametrize(("hotfix", "is_read"), [("good", False), ("crash", True)])
def test_bodies_in_secrets_are_read_only_for_a_return_to_what_was_verified(
    hotfix: str, is_read: bool
) -> None:
    """A hotfix that nobody remembers and that serves is what a failure returns to."""
    pipeline = Pipeline()
    assert pipeline.apply("good", ROLLBACK).outcome is Outcome.VERIFIED
    histories = {
        ref: replace(one, bodies=FrozenMap(), kept=FrozenMap(dict.fromkeys(one.bodies, 1)))
        for ref, one in pipeline.histories.items()
    }
    pipeline.server.behaviour["shop/web:hotfix"] = hotfix
    pipeline.server.put(manifest("hotfix"))
    plan = plan_of(pipeline.server, *pipeline.bodies(2))
    candidates = Candidates(plan.targets, plan.objects, histories)
    [version] = histories[WEB].verified
    needed = {WEB: frozenset({version.members[WEB]})} if is_read else {}
    assert kept_bodies_needed(candidates) == needed


@pytest.mark.contract("B700")
def test_configuration_that_failed_beside_an_unchanged_deployment_is_not_returned_to() -> None:
    """Web did not change in v2, and its configuration stands unverified all the same."""
    pipeline = Pipeline()
    assert pipeline.apply("good", ROLLBACK).outcome is Outcome.VERIFIED
    pipeline.attempts = 2
    pipeline.server.behaviour["shop/web:v2"] = "crash"
    bodies = (config("v2"), manifest("v1"), manifest("v2", "api"))
    plan = plan_of(pipeline.server, *bodies, policy=Policy(response=Response(on_failure=KEEP)))
    player = Player(pipeline.server, plan)
    player.run()
    assert pipeline.remember(player).outcome is Outcome.FAILED
    assert pipeline.apply("crash", ROLLBACK, CONFIG, WEB).outcome is Outcome.ROLLBACK_FAILED
    assert pipeline.server.stored[CONFIG].leaves["data.mode"] == "v1"
    assert pipeline.server.stored[WEB].image == "shop/web:v1"
