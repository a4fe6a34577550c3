"""A server or controllers that are away for a while: what nobody saw decides nothing."""

from __future__ import annotations

import json
from datetime import datetime
from itertools import pairwise

import pytest

from sandbox.face import Answer
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, settings, web
from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.gate import PlayedGate
from tests.scenarios.proxy import (
    AWAY,
    UNAUTHORIZED,
    Meets,
    Proxy,
    counted,
    reads,
    says,
    status,
    writes,
)
from tests.scenarios.versions import DOCUMENT, history_rows, mode, screen

pytestmark = pytest.mark.sandbox_only("requests fail between the gate and its server")

DEADLINE_SECONDS = 15


def away(
    proxy: Proxy, behaviour: str, seconds: float, *flags: str
) -> tuple[Result, Result, list[JSON]]:
    """Apply a second version while no request is answered for some seconds.

    Return the run, its replay, and what the history has of that version afterwards.
    """
    scene = proxy.scene
    scene.serve(web(replicas=1))
    second = web(2, replicas=1, behaviour=behaviour, progress_deadline_seconds=DEADLINE_SECONDS)
    with scene.applying(second, flags=["--record", "run.jsonl", *flags]) as running:
        running.wait_for_line(UNDER_WAY)
        ends_at = proxy.clock.now() + seconds
        proxy.on(lambda _: proxy.clock.now() < ends_at, says(AWAY))
        result = running.wait()
    assert proxy.met
    assert_runs(scene.objects, _running(result), replicas=1)
    replayed = scene.gate("replay", "run.jsonl", *DOCUMENT)
    shown = history_rows(scene)
    return result, replayed, [one for one in shown if one["images"] == ["shop/web:2"]]


def _running(result: Result) -> str:
    return "shop/web:2" if result.exit_code == 0 else "shop/web:1"


@pytest.mark.contract("B116", "B118", "B164", "B276")
def test_a_good_version_outlives_an_outage_longer_than_its_deadline(proxy: Proxy) -> None:
    """Away for 25 s with a deadline of 15 s, and called late by its controller meanwhile."""
    result, replayed, _ = away(proxy, "ready=22", 25.0)
    assert_verified(result)
    assert (replayed.document["verdict"], replayed.document["reason"]) == ("complete", "Complete")
    lines = (proxy.scene.folder / "run.jsonl").read_text().splitlines()
    types = [json.loads(line).get("type") for line in lines]
    assert types.index("UNSEEN") < types.index("SEEN")


@pytest.mark.contract("B1310")
def test_a_version_that_an_outage_hid_did_not_complete_and_is_not_remembered_as_failed(
    proxy: Proxy,
) -> None:
    """Away for 20 s of a timeout of 25 s: the outage is the cause, and no probe is blamed."""
    result, replayed, (remembered,) = away(proxy, "ready=60", 20.0, "--timeout", "25")
    ended = assert_rolled_back(result, "ProgressDeadlineExceeded", cause="Unreachable")
    assert ended["causes"][0]["message"].startswith("nothing of it could be read")
    text = screen(result)
    assert "deployment/web did not complete" in text
    assert "see that the API server answers, then apply again" in text
    assert "probe" not in text
    assert (remembered["verdict"], remembered["reason"]) == ("not verified", "Unreachable")
    assert replayed.document["causes"][0]["reason"] == "Unreachable"


@pytest.mark.contract("B1603", "B1631")
def test_a_server_that_is_away_is_named_while_one_still_watches(proxy: Proxy) -> None:
    """Within ten seconds of the first request that it does not serve; and once it is back."""
    result, *_ = away(proxy, "ready=60", 25.0, "--progress-deadline", "90")
    lines = [one for one in result.document["timeline"] if one["event"] == "contact"]
    gone, back = (one["message"] for one in lines)
    got = "requests to the API server have got only 503 Service Unavailable for 8 s"
    assert gone.startswith(f"{got}: apiserver is shutting down; nothing was seen for ")
    assert gone.endswith(" s; the gate goes on, and asks again")
    assert back == "the API server serves requests again"
    first_failed_at = 5.0
    assert first_failed_at < lines[0]["at_seconds"] <= first_failed_at + 10.0
    assert 25.0 <= lines[1]["at_seconds"] < 35.0


# -- an authorizer that fails now and then ---------------------------------------------------------


READS = reads("/deployments", "/replicasets", "/pods")
WRITES = writes("/deployments", "/configmaps")
RENEWALS = writes("/leases")
FORBIDDEN = status(403, 'pods is forbidden: User "u" cannot list resource "pods" in API group ""')
NOT_SERVED = status(404, "the server could not find the requested resource")
FLAKY = {
    "reads-403": (FORBIDDEN, READS),
    "reads-401": (UNAUTHORIZED, READS),
    "reads-404": (NOT_SERVED, READS),
    "writes-403": (FORBIDDEN, WRITES),
    "writes-401": (UNAUTHORIZED, WRITES),
    "writes-404": (NOT_SERVED, WRITES),
    "renewals-403": (FORBIDDEN, RENEWALS),
    "renewals-404": (NOT_SERVED, RENEWALS),
    "renewals-409": (status(409, "the object has been modified"), RENEWALS),
}


@pytest.mark.contract("B161")
@pytest.mark.parametrize(
    ("behaviour", "code"), [("ready=20", 0), ("crash=0.1", 4)], ids=["good", "bad"]
)
@pytest.mark.parametrize(("answer", "meets"), FLAKY.values(), ids=FLAKY)
def test_answers_that_are_wrong_now_and_then_change_no_verdict(
    proxy: Proxy, answer: Answer, meets: Meets, behaviour: str, code: int
) -> None:
    """Each third request of a kind is refused after the first write: it is asked again."""
    scene = proxy.scene
    scene.serve(web(), settings("one"))
    with scene.applying(web(2, behaviour=behaviour), settings("two")) as running:
        running.wait_for_line("applied +configmap/settings changed")
        proxy.on(counted(meets, lambda number: number % 3 == 1), says(answer))
        result = running.wait()
    reason = "Complete" if code == 0 else "CrashLoop"
    assert_ended(result, code, "verified" if code == 0 else "rolled-back", reason)
    assert proxy.met
    assert_runs(scene.objects, _running(result))
    assert mode(scene) == ("two" if code == 0 else "one")


LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"
MINUTE_SECONDS = 60
RENEWED = {"spec": {"holderIdentity": "kcm", "renewTime": "2026-01-01T00:00:00.000000Z"}}


def looks(audit: Trail) -> list[datetime]:
    """Return when the Lease of the controller manager was read."""
    there = audit.requests().of(namespace="kube-system", resource="leases")
    return [one.at for one in there]


def slow(behaviour: str) -> dict[str, object]:
    """Return a second version with a deadline of a minute."""
    return web(2, behaviour=behaviour, progress_deadline_seconds=MINUTE_SECONDS)


def rolled_back_at(result: Result) -> float:
    """Return when the rollback was decided, in seconds since the start."""
    lines = result.document["timeline"]
    return next(float(one["at_seconds"]) for one in lines if one["event"] == "rollback")


@pytest.mark.contract("B119")
def test_a_lease_that_stays_the_same_stops_the_clock_and_is_named(
    scene: Scene, audit: Trail
) -> None:
    """Blind from the first look on, for one deadline; until then no condition counts."""
    scene.serve(web())
    scene.client.json("POST", LEASES, {"metadata": {"name": "kube-controller-manager"}, **RENEWED})
    result = scene.apply(slow("never-ready"))
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded")
    found = result.document["deployments"][0]["causes"]
    causes = {one["reason"]: one["message"] for one in found}
    assert "has not renewed its Lease for" in causes["ControllerNotObserving"]
    assert rolled_back_at(result) >= MINUTE_SECONDS + 10.0
    pauses = [(later - at).total_seconds() for at, later in pairwise(looks(audit))]
    assert min(pauses) >= 10.0


@pytest.mark.contract("B119")
def test_a_lease_that_cannot_be_read_is_asked_for_once(scene: Scene, audit: Trail) -> None:
    """Nor is it an error: a version that starts slowly is verified without a word of it."""
    scene.serve(web())
    result = scene.apply(slow("ready=45"))
    assert_verified(result)
    assert len(looks(audit)) == 1
    assert "controller manager" not in result.stderr


# -- a gate that itself stood still ----------------------------------------------------------------

ALL_BUDGETS_SECONDS = 200.0


@pytest.mark.contract("B1365", "B1520")
@pytest.mark.parametrize(
    ("behaviour", "line", "exit_code", "image"),
    [
        ("never-ready", "rollback ", 4, "shop/web:1"),
        ("never-ready", "restored ", 4, "shop/web:1"),
        ("ready=8", UNDER_WAY, 0, "shop/web:2"),
        ("ready=1", "baking ", 0, "shop/web:2"),
    ],
)
def test_a_budget_does_not_end_while_the_gate_sleeps(
    scene: Scene, program: PlayedGate, behaviour: str, line: str, exit_code: int, image: str
) -> None:
    """It goes on where it was, on both legs; of a window that it slept through it watches all.

    A replay of its recording knows that it slept.
    """
    assert_verified(scene.apply(web()))
    path = scene.manifest(web(2, behaviour=behaviour))
    budgets = ("--timeout", "40s", "--rollback-timeout", "40s", "--bake", "20s")
    flags = (*budgets, "--output", "json")
    with program.start("apply", "-f", path, *flags, "--record", "run.jsonl") as running:
        running.wait_for_line(line, 60.0)
        running.suspend(ALL_BUDGETS_SECONDS)
        result = running.wait(400.0)
    assert result.exit_code == exit_code, result.stdout
    assert_runs(scene.objects, image)
    said = [one for one in result.document["timeline"] if one["event"] == "suspended"]
    assert len(said) == 1
    assert "the gate itself stood still" in said[0]["message"]
    if exit_code == 0:
        awake_seconds = result.duration_seconds - ALL_BUDGETS_SECONDS
        assert awake_seconds >= 20
    replayed = scene.gate("replay", "run.jsonl", *flags[:2], "--bake", "20s", "--output", "json")
    verdict = replayed.document["verdict"]
    assert verdict == ("failed" if exit_code else "complete"), str(replayed)
