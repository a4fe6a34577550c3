"""Evidence is bounded, of the failed pods alone, and told once."""

from __future__ import annotations

from dataclasses import replace

from gate.core.model.objects import CleanText
from gate.core.protocol.events import Evidence
from gate.report.document.evidence import MOST_LINES, MOST_PIECES, evidence
from gate.report.schema.result import EvidenceResult
from tests.unit.report.cluster import RUNNING, WAITING_CRASH, WAITING_PULL, manifest, warning
from tests.unit.report.endings import crashed, serving, two_failed
from tests.unit.report.stage import Stage


def pieces(stage: Stage) -> list[EvidenceResult]:
    """Return the evidence of a stage's first Deployment."""
    (ref, *_) = stage.workloads
    return evidence(stage.attempt, ref)


def test_old_pods_are_no_evidence() -> None:
    """A warning about a pod of the version that serves says nothing of the new one."""
    stage = crashed()
    (web,) = stage.workloads.values()
    web.fill("shop/web:1", 1, 3)
    event = warning(web, "web-1-p0", "Unhealthy", "probe failed", "2026-11-21T12:00:11Z")
    stage.show(0.5, event)
    stage.serve_again()
    assert not any("probe failed" in piece["text"] for piece in pieces(stage))


def test_the_evidence_is_bounded() -> None:
    """Ten pieces of twenty lines, however much there is; of a log the last lines."""
    stage = crashed()
    lines = "\n".join(f"line {index}" for index in range(100))
    many = tuple(
        Evidence("log", f"web-2-p{index}", "web", CleanText(f"{lines} {index}"), "")
        for index in range(9)
    )
    (web,) = stage.workloads.values()
    for index in range(9):
        at = f"2026-11-21T12:01:0{index}Z"
        stage.show(0.1, warning(web, "web-2-p0", f"Reason{index}", f"message {index}", at))
    stage.serve_again()
    stage.attempt = replace(stage.attempt, result=replace(stage.attempt.result, evidence=many))
    found = pieces(stage)
    assert len(found) <= MOST_PIECES
    assert all(len(piece["text"].splitlines()) <= MOST_LINES for piece in found)
    assert found[0]["text"].splitlines()[0] == "line 80"
    latest = next(piece for piece in found if piece["kind"] == "event")
    assert latest["text"] == "Reason8: message 8"


def test_two_that_failed_each_have_their_own() -> None:
    """Nobody reads the api's log under the web's name."""
    stage = two_failed()
    logs = {
        ref.name: [p["text"] for p in evidence(stage.attempt, ref) if p["kind"] == "log"]
        for ref in stage.workloads
    }
    assert logs == {"web": ["web log"], "api": ["api log"]}


def test_a_pod_that_recovered_is_no_evidence() -> None:
    """It crashed once, long ago, and is ready: its last termination tells nothing."""
    stage = Stage([web := serving()], [manifest("web", "shop/web:2")])
    web.replica_set("shop/web:2", 2, 3, 1)
    web.pod("shop/web:2", "a", {**WAITING_CRASH, **RUNNING, "restartCount": 1})
    web.pod("shop/web:2", "p0", WAITING_PULL)
    web.pod("shop/web:2", "p1", WAITING_PULL)
    web.counted(3, 4, 6)
    stage.show(1.0)
    stage.wait_until(140.0)
    stage.serve_again(2.0)
    assert stage.attempt.ended
    assert [piece for piece in pieces(stage) if piece["kind"] == "termination"] == []
