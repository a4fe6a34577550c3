"""Attempts that ended, one function an ending, played by the real core on the model of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.model.fact import Unknown
from gate.core.model.objects import CleanText, Pod
from gate.core.model.outcome import Reason
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, Write
from gate.core.protocol.events import (
    AttemptEvent,
    ContactLost,
    Interrupted,
    ReadBack,
    WriteRejected,
)
from gate.core.rollout.observations import Observed, Vanished
from gate.core.rollout.policy import Budgets, OnFailure, OnFirstFailure, Policy, Response
from gate.report.document.course import Course
from gate.report.document.run import Run, RunCluster, RunIdentity, RunLines, RunRecord, RunTimes
from tests.unit.core.leaves import IMAGE, config, manifest
from tests.unit.core.player import Player, planned, rejected, serving
from tests.unit.core.server import Server
from tests.unit.core.world import warning

ATTEMPT_ID = "5f0c2d9a41be"
STARTED = "2026-11-21T12:00:00+00:00"


class ReportPlayer(Player):
    """An attempt on what a server has, and its course, as a run keeps it."""

    def __init__(
        self, server: Server, *bodies: Mapping[str, Any], policy: Policy | None = None
    ) -> None:
        """Begin to apply the bodies."""
        super().__init__(server, planned(server, *bodies, policy=policy))
        self.course = Course().after_step(self.attempt)

    def hear(self, event: AttemptEvent) -> None:
        """Step once, and note how far it came."""
        super().hear(event)
        self.course = self.course.after_step(self.attempt)

    def news(self) -> None:
        """Let the attempt hear what the watches tell a second later, so that time goes on."""
        for event in self.server.news(self.attempt.now + 1.0):
            self.hear(event)

    def warn(self, pod: Pod, reason: str, message: str, *, after_seconds: float = 0.1) -> None:
        """Let an event about a pod be heard after a while."""
        at = self.attempt.now + after_seconds
        self.hear(Observed(at, warning(pod, reason, message, uid=f"{reason}-{at}")))

    def read_nothing(self) -> None:
        """Let no read be answered by what is there any more."""

        def unread(player: Player, read: Read) -> AttemptEvent:
            return ReadBack(player.attempt.now, read.effect_id, Unknown("timed out"))

        self.bend(Read, unread, times=1000)

    def lose_deployment(self) -> None:
        """Let the first Deployment be deleted, its pods be there still, and run to the end."""
        uid = self.server.stored[self.web].uid
        self.server.remove(self.web)
        self.news = lambda: None  # type: ignore[method-assign]
        self.hear(Vanished(self.attempt.now + 1.0, DEPLOYMENT, uid))
        self.run()

    def pods(self, name: str = "web") -> tuple[Pod, ...]:
        """Return the pods of a Deployment, the new version's last."""
        (ref,) = (one.ref for one in self.attempt.plan.targets if one.ref.name == name)
        return self.server.parts(ref)[1]


def run_of(player: ReportPlayer) -> Run:
    """Return the run of an attempt, which began 1.5 s before it."""
    return Run(
        RunIdentity("1.0.0", ATTEMPT_ID, "apply", "https://ci.example/runs/42"),
        RunTimes(STARTED, 98.5, player.attempt.now + 0.2),
        RunCluster("https://10.0.0.1:6443", "prod", uid="c0ffee"),
        lines=RunLines(tuple(player.said)),
        record=RunRecord(is_locked=True),
        course=player.course,
    )


def applied(
    *bodies: Mapping[str, Any], policy: Policy | None = None, **behaviour: str
) -> ReportPlayer:
    """Return an attempt up to its end, on a server whose images behave so."""
    player = ReportPlayer(serving(config("a"), **behaviour), *bodies, policy=policy)
    player.run()
    return player


def under_way(behaviour: str = "never-ready", policy: Policy | None = None) -> ReportPlayer:
    """Return an apply with two new pods, which behave so, and three old ones."""
    player = ReportPlayer(serving(v2=behaviour), manifest("v2"), policy=policy)
    player.run(at_most=player.attempt.now)
    return player


def crashed(policy: Policy | None = None) -> ReportPlayer:
    """A new version whose pods crash, with configuration: the verdict and what it leads to."""
    return applied(config("b"), manifest("v2"), policy=policy, v2="crash")


def going_back() -> ReportPlayer:
    """A new version has crashed, and the version before is on its way back."""
    player = ReportPlayer(serving(v2="crash"), manifest("v2"))
    player.run(lambda attempt: attempt.course.leg is Leg.BACK)
    player.control = False
    player.run(at_most=player.attempt.now)
    return player


def first_failed(policy: Policy | None = None) -> ReportPlayer:
    """A first deployment that crashes: there is nothing to return to."""
    player = ReportPlayer(Server(v1="crash"), manifest("v1"), policy=policy)
    player.run()
    return player


def superseded() -> ReportPlayer:
    """Somebody else changes the image in mid-flight."""
    player = under_way()
    player.server.edit(player.web, "kubectl-edit", {IMAGE: "shop/web:hotfix"})
    player.news()
    player.run()
    return player


def conflict() -> ReportPlayer:
    """Another manager owns a field, which turns up at the write."""
    said = f'Apply failed with 1 conflict: conflict with "kubectl-edit" using apps/v1: .{IMAGE}'

    def refuse(player: Player, write: Write) -> AttemptEvent:
        at, text = player.attempt.now, CleanText(said)
        return WriteRejected(at, write.effect_id, Reason.CONFLICT, text, (f".{IMAGE}",))

    player = ReportPlayer(serving(), manifest("v2"))
    player.bend(Write, refuse)
    player.run()
    return player


def lost_contact() -> ReportPlayer:
    """The API server goes away for good after the write."""
    player = under_way()
    player.read_nothing()
    player.hear(ContactLost(player.attempt.now + 20.0, "connection refused by 10.0.0.1:6443"))
    player.run()
    return player


def interrupted(behaviour: str = "never-ready") -> ReportPlayer:
    """SIGTERM in mid-flight: without evidence against the new version it is left as it is."""
    player = under_way(behaviour)
    player.hear(Interrupted(player.attempt.now + 1.0, 15))
    player.run()
    return player


def two(web: str, api: str, policy: Policy | None = None) -> ReportPlayer:
    """Return an apply of these versions of two Deployments that has written both; v2 crashes."""
    server = serving(v2="crash")
    server.put(manifest("v1", "api"))
    player = ReportPlayer(server, manifest(web), manifest(api, "api"), policy=policy)
    player.control = False
    player.run(at_most=player.attempt.now)
    for one in player.attempt.plan.targets:
        server.control(one.ref)
    player.control = True
    player.news()
    return player


def one_failed() -> ReportPlayer:
    """Of two Deployments one crashes: both go back."""
    player = two("v2", "v3")
    player.run()
    return player


def two_failed() -> ReportPlayer:
    """Two Deployments that both crash; the rollback is never complete."""
    player = two("v2", "v2", Policy(budgets=Budgets(rollback_timeout_seconds=60.0)))
    player.server.behaviour["shop/web:v1"] = "never-ready"
    player.run()
    return player


def rollback_failed() -> ReportPlayer:
    """The version before does not start any more either."""
    player = ReportPlayer(
        serving(config("a"), v2="crash"),
        config("b"),
        manifest("v2"),
        policy=Policy(budgets=Budgets(rollback_timeout_seconds=120.0)),
    )
    player.server.behaviour["shop/web:v1"] = "never-ready"
    player.run()
    return player


def apply_rejected() -> ReportPlayer:
    """The ConfigMap was written, the Deployment is refused: the ConfigMap goes back."""
    player = ReportPlayer(serving(config("a")), config("b"), manifest("v2"))
    player.bend(Write, lambda player, write: player.answer(write))
    player.bend(Write, rejected)
    player.run()
    return player


def removed() -> ReportPlayer:
    """Somebody deletes the Deployment in mid-flight; its pods are not gone yet."""
    player = under_way()
    player.lose_deployment()
    return player


def response(**how: Any) -> Policy:
    """Return a policy that answers a failure so."""
    return Policy(response=Response(**how))


ENDINGS: dict[str, Callable[[], ReportPlayer]] = {
    "verified": lambda: applied(manifest("v2")),
    "unchanged": lambda: applied(manifest("v1")),
    "vacuous": lambda: applied(manifest("v2", replicas=0)),
    "rolled-back": crashed,
    "image-pull": lambda: applied(manifest("v2"), v2="pull"),
    "first-failed": first_failed,
    "superseded": superseded,
    "conflict": conflict,
    "lost-contact": lost_contact,
    "interrupted": interrupted,
    "two-deployments": one_failed,
    "rollback-failed": rollback_failed,
    "observed": lambda: crashed(Policy(observe=True)),
    "kept": lambda: crashed(response(on_failure=OnFailure.KEEP)),
    "paused": lambda: crashed(response(on_failure=OnFailure.PAUSE)),
    "scaled-to-zero": lambda: first_failed(response(on_first_failure=OnFirstFailure.SCALE_TO_ZERO)),
    "deleted": lambda: first_failed(response(on_first_failure=OnFirstFailure.DELETE)),
    "interrupted-back": lambda: interrupted("crashed-once"),
    "removed": removed,
    "never-ready": lambda: applied(manifest("v2"), v2="never-ready"),
}
