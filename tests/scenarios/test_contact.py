"""A server or controllers that are away for a while: what nobody saw decides nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gate.app.rehearsal.virtual_world import Handle
from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from sandbox.face import JSON_TYPE, Answer, Request
from tests.bed.expectations import assert_ended, assert_rolled_back, assert_runs, assert_verified
from tests.bed.interrupting import UNDER_WAY
from tests.bed.scene import Scene, settings, web
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.played.bed import PlayedUsers, sandbox_bed, scene_through
from tests.played.gate import PlayedGate

pytestmark = pytest.mark.sandbox_only("requests fail between the gate and its server")


APPLIED = UNDER_WAY
DEADLINE_SECONDS = 15
Meets = Callable[[Request], bool]


class Gateway:
    """Stands between the gate and its server; once `fails` is set, it answers instead."""

    def __init__(self, answer: Answer) -> None:
        """Pass everything on."""
        self._answer = answer
        self.fails: Meets = lambda _: False
        self.failed: list[Request] = []

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on, or answer it."""
        if not self.fails(request):
            return handle(request)
        self.failed.append(request)
        return self._answer


def status(code: int, message: str) -> Answer:
    """Return a Status of the API server."""
    body = {"kind": "Status", "apiVersion": "v1", "code": code, "message": message}
    return Answer(code, json.dumps(body).encode(), {"content-type": JSON_TYPE})


AWAY = status(503, "apiserver is shutting down")
FORBIDDEN = status(403, 'pods is forbidden: User "u" cannot list resource "pods" in API group ""')


def away(
    folder: Path, behaviour: str, seconds: float, *flags: str
) -> tuple[Result, Result, list[JSON]]:
    """Apply a second version while no request is answered for some seconds.

    Return the run, its replay, and what the history has of that version afterwards.
    """
    gateway, record = Gateway(AWAY), str(folder / "run.jsonl")
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed, gateway)
        scene.serve(web(replicas=1))
        second = web(2, replicas=1, behaviour=behaviour, progress_deadline_seconds=DEADLINE_SECONDS)
        assert isinstance(bed.users, PlayedUsers)
        clock = bed.users.played.clock
        with scene.applying(second, flags=["--record", record, *flags]) as running:
            running.wait_for_line(APPLIED)
            ends_at = clock.now() + seconds
            gateway.fails = lambda _: clock.now() < ends_at
            result = running.wait()
        gateway.fails = lambda _: False
        assert_runs(scene.objects, _running(result), replicas=1)
        replayed = scene.gate("replay", record, "--output", "json")
        shown = json.loads(scene.gate("history", "web", "--output", "json").stdout)
    assert gateway.failed
    return result, replayed, [one for one in shown if one["images"] == ["shop/web:2"]]


def _running(result: Result) -> str:
    return "shop/web:2" if result.exit_code == 0 else "shop/web:1"


@pytest.mark.contract("B116", "B118", "B164", "B276")
def test_a_good_version_outlives_an_outage_longer_than_its_deadline(tmp_path: Path) -> None:
    """Away for 25 s with a deadline of 15 s, and called late by its controller meanwhile."""
    result, replayed, _ = away(tmp_path, "ready=22", 25.0)
    assert_verified(result)
    assert (replayed.document["verdict"], replayed.document["reason"]) == ("complete", "Complete")
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    types = [json.loads(line).get("type") for line in lines]
    assert types.index("UNSEEN") < types.index("SEEN")


@pytest.mark.contract("B116", "B276")
def test_a_version_that_stays_late_is_late_after_an_outage_too(tmp_path: Path) -> None:
    """The outage is taken off once, and then it goes back."""
    result, replayed, _ = away(tmp_path, "never-ready", 25.0)
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded")
    assert 25.0 < result.document["duration_seconds"] < 2 * DEADLINE_SECONDS + 15.0
    found = (replayed.document["verdict"], replayed.document["reason"])
    assert found == ("failed", "ProgressDeadlineExceeded")


@pytest.mark.contract("B1310")
def test_a_version_that_an_outage_hid_did_not_complete_and_is_not_remembered_as_failed(
    tmp_path: Path,
) -> None:
    """Away for 20 s of a timeout of 25 s: the outage is the cause, and no probe is blamed."""
    result, replayed, (remembered,) = away(tmp_path, "ready=60", 20.0, "--timeout", "25")
    ended = assert_rolled_back(result, "ProgressDeadlineExceeded", cause="Unreachable")
    assert ended["causes"][0]["message"].startswith("nothing of it could be read")
    text = verdict_text(result.document, Style(width=200))
    assert "deployment/web did not complete" in text
    assert "see that the API server answers, then apply again" in text
    assert "probe" not in text
    assert (remembered["verdict"], remembered["reason"]) == ("not verified", "Unreachable")
    assert replayed.document["causes"][0]["reason"] == "Unreachable"


@pytest.mark.contract("B1603", "B1631")
def test_a_server_that_is_away_is_named_while_one_still_watches(tmp_path: Path) -> None:
    """Within ten seconds of the first request that it does not serve; and once it is back."""
    result, *_ = away(tmp_path, "ready=60", 25.0, "--progress-deadline", "90")
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


def every(nth: int, meets: Meets) -> Meets:
    """Meet each so-many-th request of a kind, the first among them."""
    seen = 0

    def met(request: Request) -> bool:
        nonlocal seen
        if not meets(request):
            return False
        seen += 1
        return seen % nth == 1

    return met


def is_read(request: Request) -> bool:
    """Tell whether a request looks at what runs."""
    kinds = ("/deployments", "/replicasets", "/pods")
    return request.method == "GET" and any(kind in request.path for kind in kinds)


def is_write(request: Request) -> bool:
    """Tell whether a request changes an object of the manifest."""
    kinds = ("/deployments", "/configmaps")
    return request.method == "PATCH" and any(kind in request.path for kind in kinds)


def is_renewal(request: Request) -> bool:
    """Tell whether a request writes into a lock."""
    return request.method == "PATCH" and "/leases" in request.path


CONFLICT = status(409, "the object has been modified")
UNAUTHORIZED = status(401, "Unauthorized")
NOT_SERVED = status(404, "the server could not find the requested resource")
FLAKY = {
    "reads-403": (FORBIDDEN, is_read),
    "reads-401": (UNAUTHORIZED, is_read),
    "reads-404": (NOT_SERVED, is_read),
    "writes-403": (FORBIDDEN, is_write),
    "writes-401": (UNAUTHORIZED, is_write),
    "writes-404": (NOT_SERVED, is_write),
    "renewals-403": (FORBIDDEN, is_renewal),
    "renewals-404": (NOT_SERVED, is_renewal),
    "renewals-409": (CONFLICT, is_renewal),
}


@pytest.mark.contract("B161")
@pytest.mark.parametrize(
    ("behaviour", "code"), [("ready=20", 0), ("crash=0.1", 4)], ids=["good", "bad"]
)
@pytest.mark.parametrize(("answer", "meets"), FLAKY.values(), ids=FLAKY)
def test_answers_that_are_wrong_now_and_then_change_no_verdict(
    tmp_path: Path, answer: Answer, meets: Meets, behaviour: str, code: int
) -> None:
    """Each third request of a kind is refused after the first write: it is asked again."""
    gateway = Gateway(answer)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, gateway)
        scene.serve(web(), settings("one"))
        with scene.applying(web(2, behaviour=behaviour), settings("two")) as running:
            running.wait_for_line("applied +configmap/settings changed")
            gateway.fails = every(3, meets)
            result = running.wait()
        gateway.fails = lambda _: False
        reason = "Complete" if code == 0 else "CrashLoop"
        assert_ended(result, code, "verified" if code == 0 else "rolled-back", reason)
        assert gateway.failed
        assert_runs(scene.objects, _running(result))
        wanted = "two" if code == 0 else "one"
        assert scene.objects.get("configmaps", "settings")["data"] == {"mode": wanted}


@pytest.mark.contract("B33")
def test_reads_that_stay_refused_end_it(tmp_path: Path) -> None:
    """Nothing is answered in between: 9, and the state is unknown."""
    gateway = Gateway(FORBIDDEN)
    with sandbox_bed(tmp_path) as bed:
        scene = scene_through(bed, gateway)
        scene.serve(web())
        with scene.applying(web(2, behaviour="never-ready")) as running:
            running.wait_for_line(APPLIED)
            gateway.fails = is_read
            result = running.wait()
        gateway.fails = lambda _: False
        assert_ended(result, 9, "lost-contact", "Forbidden", running="unknown")
        assert result.document["duration_seconds"] < 60.0
        path = scene.folder / "result.json"
        path.write_text(result.stdout)
        said = " ".join(scene.gate("report", path).stdout.split())
        assert "no longer lets this run read what it wrote; what runs is unknown" in said
        assert "once the rights are back, look: rollout-gate status web" in said


LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager"
MINUTE_SECONDS = 60
RENEWED = {"spec": {"holderIdentity": "kcm", "renewTime": "2026-01-01T00:00:00.000000Z"}}


class Looks:
    """Stands between the gate and its server, and notes when the Lease is read."""

    def __init__(self) -> None:
        """Renew nothing."""
        self.scene: Scene | None = None
        self.at: list[float] = []
        self.now: Callable[[], float] = float
        self.renews = False

    def __call__(self, request: Request, handle: Handle) -> Answer:
        """Pass a request on; a Lease that is renewed is another one at each look."""
        if request.path == LEASE and request.method == "GET":
            self.at.append(self.now())
            if self.renews and self.scene is not None:
                time = f"2026-01-01T00:{len(self.at):02}:00.000000Z"
                renewed = {"spec": {"renewTime": time}}
                self.scene.client.json("PATCH", LEASE, renewed, "application/merge-patch+json")
        return handle(request)


@contextmanager
def stuck(folder: Path, *, lease: bool, renews: bool = False) -> Iterator[tuple[Scene, Looks]]:
    """Open a scene that has, or has not, the Lease of a controller manager."""
    looks = Looks()
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed, looks)
        scene.serve(web())
        if lease:
            body = {"metadata": {"name": "kube-controller-manager"}, **RENEWED}
            scene.client.json("POST", LEASE.rpartition("/")[0], body)
        assert isinstance(bed.users, PlayedUsers)
        looks.now, looks.scene, looks.renews = bed.users.played.clock.now, scene, renews
        yield scene, looks


def slow(behaviour: str) -> dict[str, object]:
    """Return a second version with a deadline of a minute."""
    return web(2, behaviour=behaviour, progress_deadline_seconds=MINUTE_SECONDS)


def rolled_back_at(result: Result) -> float:
    """Return when the rollback was decided, in seconds since the start."""
    lines = result.document["timeline"]
    return next(float(one["at_seconds"]) for one in lines if one["event"] == "rollback")


@pytest.mark.contract("B119")
def test_a_lease_that_stays_the_same_stops_the_clock_and_is_named(tmp_path: Path) -> None:
    """Blind from the first look on, for one deadline; until then no condition counts."""
    with stuck(tmp_path, lease=True) as (scene, looks):
        result = scene.apply(slow("never-ready"))
    assert_ended(result, 4, "rolled-back", "ProgressDeadlineExceeded")
    found = result.document["deployments"][0]["causes"]
    causes = {one["reason"]: one["message"] for one in found}
    assert "has not renewed its Lease for" in causes["ControllerNotObserving"]
    assert rolled_back_at(result) >= MINUTE_SECONDS + 10.0
    assert min(b - a for a, b in zip(looks.at, looks.at[1:], strict=False)) >= 10.0


@pytest.mark.contract("B119")
def test_a_lease_that_cannot_be_read_is_asked_for_once(tmp_path: Path) -> None:
    """Nor is it an error: a version that starts slowly is verified without a word of it."""
    with stuck(tmp_path, lease=False) as (scene, looks):
        result = scene.apply(slow("ready=45"))
    assert_verified(result)
    assert len(looks.at) == 1
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
