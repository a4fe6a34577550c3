"""Evidence is bounded, of the failed pods alone, and told once."""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.objects import CleanText
from gate.core.protocol.events import Evidence
from gate.core.rollout.observations import Observed
from gate.report.document.evidence import MOST_LINES, MOST_PIECES, evidence
from gate.report.schema.result import EvidenceResult
from tests.unit.core.world import container, later, terminated
from tests.unit.report.endings import ReportPlayer, two_failed, under_way


def pieces(player: ReportPlayer) -> list[EvidenceResult]:
    """Return the evidence of an attempt's first Deployment."""
    return evidence(player.attempt, player.web)


def test_old_pods_are_no_evidence() -> None:
    """A warning about a pod of the version that serves says nothing of the new one."""
    player = under_way("never-ready")
    for pod in (player.pods()[0], player.pods()[-1]):
        player.warn(pod, "Unhealthy", f"probe of {pod.name} failed")
    player.run()
    said = [piece["text"] for piece in pieces(player) if piece["kind"] == "event"]
    assert said == ["Unhealthy: probe of web-2-p1 failed"]


def test_the_evidence_is_bounded() -> None:
    """Ten pieces of twenty lines, however much there is; of a log the last lines."""
    lines = "\n".join(f"line {index}" for index in range(100))
    many = tuple(
        Evidence("log", f"web-2-p{index}", "web", CleanText(f"{lines} {index}"), "")
        for index in range(9)
    )
    player = under_way("never-ready")
    for index in range(9):
        player.warn(player.pods()[-1], f"Reason{index}", f"message {index}")
    player.run()
    player.attempt = replace(player.attempt, result=replace(player.attempt.result, evidence=many))
    found = pieces(player)
    assert len(found) <= MOST_PIECES
    assert all(len(piece["text"].splitlines()) <= MOST_LINES for piece in found)
    assert found[0]["text"].splitlines()[0] == "line 80"
    latest = next(piece for piece in found if piece["kind"] == "event")
    assert latest["text"] == "Reason8: message 8"


def test_two_that_failed_each_have_their_own() -> None:
    """Nobody reads of the api's pods under the web's name."""
    player = two_failed()
    pods = {
        one.ref.name: {piece["pod"] for piece in evidence(player.attempt, one.ref)}
        for one in player.attempt.plan.targets
    }
    assert pods == {"web": {"web-2-p0"}, "api": {"api-2-p0"}}


def test_a_pod_that_recovered_is_no_evidence() -> None:
    """It crashed once, long ago, and is ready: its last termination tells nothing."""
    player = under_way("never-ready")
    first, second = player.pods()[-2:]
    crashed_once = container(restarts=1, last_terminated=terminated())
    for pod, is_ready in ((first, True), (second, False)):
        status = replace(crashed_once, ready=is_ready)
        changed = later(pod, 9999, containers=(status,), ready=is_ready)
        player.hear(Observed(player.attempt.now, changed))
    player.run()
    of = [piece["pod"] for piece in pieces(player) if piece["kind"] == "termination"]
    assert of == [second.name]
