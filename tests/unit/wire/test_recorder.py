"""What is recorded is what was said, masked; and recording never breaks what it records."""

from __future__ import annotations

import dataclasses
import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from gate.clock import SystemClock
from gate.core.checks.questions import (
    Answers,
    Errored,
    Exit,
    Form,
    HttpReply,
    Samples,
    Series,
    Trouble,
)
from gate.core.checks.tick_grid import Tick
from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.model.objects import CleanText, Pod, Revision, Template, Workload
from gate.core.rollout.observations import Listed, Observed
from gate.wire import trace as traces
from gate.wire.masking import Masker
from gate.wire.measurements import Measured
from gate.wire.recorder import Recorder
from tests.table import each

CANARY = "s3cr3t-canary"


def listed(kind: str, *items: dict[str, Any], following: str = "") -> bytes:
    """Make a page of a list as the server sends it, its items without their kind."""
    bare = [{k: v for k, v in item.items() if k not in {"kind", "apiVersion"}} for item in items]
    metadata = {"resourceVersion": "1", **({"continue": following} if following else {})}
    body = {"kind": f"{kind}List", "apiVersion": "v1", "metadata": metadata}
    return json.dumps({**body, "items": bare}).encode()


def recorded(source: Path, target: Path) -> traces.Recording:
    """Record what a recording says, and read it back."""
    header, *lines = [json.loads(line) for line in source.read_bytes().splitlines()]
    warnings: list[str] = []
    recorder = Recorder.create(target, warnings.append)
    by_kind = [listed(o["kind"], o) for o in header["before"]]
    recorder.header(
        100.0,
        [json.dumps(header["applied"]).encode()],
        before=by_kind,
        kubernetes=header["kubernetes"],
        policy={"tolerate": "1"},
    )
    for line in lines:
        recorder.line(100.0 + line["t"], json.dumps(line).encode())
    recorder.finish()
    recorder.run(SystemClock())
    assert warnings == []
    return traces.read(target)


def bare(found: Any) -> Any:
    """Return a value without its template: masking changes that, and its digest."""
    if isinstance(found, Workload | Revision):
        return dataclasses.replace(found, template=None)  # type: ignore[arg-type]
    return found


def templates(recording: traces.Recording) -> list[Template]:
    """Return all templates of a recording, in order."""
    heard = [event.object for event in recording.events() if isinstance(event, Observed)]
    found = [*recording.before, *(live.workload for live in recording.applied), *heard]
    return [each.template for each in found if isinstance(each, Workload | Revision)]


def pattern(found: list[Template]) -> list[int]:
    """Say of each template which earlier one it equals."""
    return [found.index(each) for each in found]


@pytest.mark.contract("B276", "B277")
def test_what_is_recorded_is_judged_alike(trace: Path, tmp_path: Path) -> None:
    """All that the judge looks at is read back the same, and the same templates are equal."""
    original, copy = traces.read(trace), recorded(trace, tmp_path / "copy")
    assert [bare(found) for found in copy.before] == [bare(found) for found in original.before]
    (was,), (now,) = original.applied, copy.applied
    assert (now.ref, now.uid, bare(now.workload)) == (was.ref, was.uid, bare(was.workload))
    assert (copy.kubernetes, copy.policy) == (original.kubernetes, {"tolerate": "1"})
    for before, after in zip(original.events(), copy.events(), strict=True):
        assert after.at == before.at
        if isinstance(before, Observed) and isinstance(after, Observed):
            assert bare(after.object) == bare(before.object)
        else:
            assert after == before
    assert pattern(templates(copy)) == pattern(templates(original))
    assert [t.containers for t in templates(copy)] == [t.containers for t in templates(original)]


@pytest.fixture
def secretive(deployment: dict[str, Any]) -> dict[str, Any]:
    """A Deployment with canaries in it."""
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    container.update(env=[{"name": "A", "value": CANARY}], args=[CANARY])
    deployment["metadata"]["annotations"]["x"] = CANARY
    deployment["metadata"]["managedFields"].append(
        {"manager": "else", "operation": "Update", "fieldsV1": {f'v:"{CANARY}"': {}}}
    )
    return deployment


@pytest.mark.contract("B252", "B277")
def test_no_canary_is_in_any_byte_of_a_recording(secretive: dict[str, Any], tmp_path: Path) -> None:
    """Header, lines and lists are masked alike, and what the gate owned is kept."""
    path = tmp_path / "t"
    recorder = Recorder.create(path, pytest.fail)
    body = json.dumps(secretive).encode()
    recorder.header(0.0, [body, body], before=[listed("Deployment", secretive)])
    recorder.line(1.0, json.dumps({"type": "MODIFIED", "object": secretive}).encode())
    recorder.record_list(2.0, "shop", listed("Deployment", secretive))
    recorder.finish()
    recorder.run(SystemClock())
    data = path.read_bytes()
    assert CANARY.encode() not in data
    assert data.count(b"\n") == 3
    recording = traces.read(path)
    assert len(recording.applied) == 2
    (entry,) = recording.applied[0].managed.thaw()["managedFields"]
    assert entry["fieldsV1"] == {"f:spec": {"f:replicas": {}}}
    observed, *lists = recording.events()
    assert isinstance(observed, Observed)
    assert all(isinstance(each, Listed) and each.objects == (observed.object,) for each in lists)
    assert {each.kind for each in lists if isinstance(each, Listed)} == {DEPLOYMENT}
    assert recording.before == (observed.object,)
    assert recording.applied[0].workload == observed.object


@pytest.mark.contract("B465")
def test_measurements_are_recorded_among_what_was_heard(
    deployment: dict[str, Any], tmp_path: Path
) -> None:
    """On the recording's own time, and what was asked on it too."""
    path = tmp_path / "t"
    recorder = Recorder.create(path, pytest.fail)
    recorder.header(100.0, [json.dumps(deployment).encode()])
    said = Answers(Samples(Form.VECTOR, (Series(0.2, CleanText('{pod="a"}')),)))
    error = Errored(CleanText("connection refused"), Trouble.REFUSED)
    recorder.record_measurement(110.25, "errors", Tick(1, 110.0), said)
    recorder.record_measurement(120.5, "errors", Tick(2, 120.0), error)
    recorder.finish()
    recorder.run(SystemClock())
    assert [*traces.read(path).events()] == [
        Measured(10.25, "errors", Tick(1, 10.0), said),
        Measured(20.5, "errors", Tick(2, 20.0), error),
    ]


def web_and_api(deployment: dict[str, Any], path: Path) -> Recorder:
    """Begin a recording in which two Deployments were applied."""
    api = {**deployment, "metadata": {**deployment["metadata"], "name": "api"}}
    recorder = Recorder.create(path, pytest.fail)
    recorder.header(0.0, [json.dumps(body).encode() for body in (deployment, api)])
    return recorder


def heard(recorder: Recorder, path: Path) -> list[tuple[str, list[str]]]:
    """End a recording of lists; return which Deployment hears which pods, list by list."""
    recorder.finish()
    recorder.run(SystemClock())
    lists = [event for event in traces.read(path).events() if isinstance(event, Listed)]
    return [(a.about.name, [o.name for o in a.objects if isinstance(o, Pod)]) for a in lists]


@pytest.mark.contract("B276")
@each(
    ("about", "hear"),
    [
        (None, ["web", "api"]),
        (("Deployment/api",), ["api"]),
        (("Deployment/api", "Deployment/web"), ["web", "api"]),
        (("StatefulSet/api",), []),
        ((), []),
    ],
)
def test_a_list_is_heard_by_the_workloads_that_it_is_about(
    deployment: dict[str, Any], tmp_path: Path, about: tuple[str, ...] | None, hear: list[str]
) -> None:
    """To any other the pods that it lacks would be gone; one that selects nothing is for all."""
    recorder = web_and_api(deployment, tmp_path / "t")
    recorder.record_list(1.0, "shop", listed("Pod", named("a")), about)
    assert heard(recorder, tmp_path / "t") == [(name, ["a"]) for name in hear]


@pytest.mark.contract("B276")
def test_pages_about_other_workloads_do_not_mix(deployment: dict[str, Any], tmp_path: Path) -> None:
    """Two lists of pods of one namespace, read at the same time."""
    recorder = web_and_api(deployment, tmp_path / "t")
    web, api = ("Deployment/web",), ("Deployment/api",)
    recorder.record_list(1.0, "shop", listed("Pod", named("web-1"), following="more"), web)
    recorder.record_list(1.0, "shop", listed("Pod", named("api-1"), following="more"), api)
    recorder.record_list(2.0, "shop", listed("Pod", named("web-2")), web)
    recorder.record_list(2.0, "shop", listed("Pod", named("api-2")), api)
    pods = [("web", ["web-1", "web-2"]), ("api", ["api-1", "api-2"])]
    assert heard(recorder, tmp_path / "t") == pods


@pytest.mark.contract("B466")
def test_what_checks_run_and_ask_for_is_masked(deployment: dict[str, Any], tmp_path: Path) -> None:
    """The program, the host and the path stay, and all that judges."""
    path = tmp_path / "t"
    recorder = Recorder.create(path, pytest.fail)
    checks = [
        {"name": "errors", "query": "up", "min": 1},
        {"name": "smoke", "command": ["./smoke.sh", "--token", CANARY], "timeout": 5.0},
        {"name": "page", "http": {"url": f"https://web/x?token={CANARY}", "status": 200}},
        {"name": "part", "http": {"url": f"https://web/x#{CANARY}"}},
        {"name": "plain", "http": {"url": "https://web/x"}},
    ]
    policy = {"bake": 30.0, "checks": checks}
    recorder.header(0.0, [json.dumps(deployment).encode()], policy=policy)
    recorder.record_measurement(1.0, "smoke", Tick(0, 1.0), Answers(Exit(1, CleanText(CANARY))))
    moved = HttpReply(302, 0.1, location=CleanText(CANARY))
    recorder.record_measurement(1.0, "page", Tick(0, 1.0), Answers(moved))
    recorder.finish()
    recorder.run(SystemClock())
    assert CANARY.encode() not in path.read_bytes()
    found = traces.read(path).policy
    errors, smoke, page, part, plain = found["checks"]
    assert (found["bake"], errors, plain) == (30.0, checks[0], checks[4])
    assert (smoke["command"][0], smoke["timeout"], page["http"]["status"]) == ("./smoke.sh", 5, 200)
    assert page["http"]["url"].startswith("https://web/x?masked:")
    assert part["http"]["url"].startswith("https://web/x#masked:")
    replies = [each.said for each in traces.read(path).events() if isinstance(each, Measured)]
    assert [type(each) for each in replies] == [Answers, Answers]


def named(name: str) -> dict[str, Any]:
    """Make the least of a pod."""
    return {"kind": "Pod", "metadata": {"name": name, "uid": name}}


def pod_line(name: str) -> bytes:
    """Make a line of a watch about a pod."""
    return json.dumps({"type": "ADDED", "object": named(name)}).encode()


def test_lines_from_many_threads_are_all_written(
    deployment: dict[str, Any], tmp_path: Path
) -> None:
    """Watches hand over from their own threads, also before the apply was answered."""
    recorder = Recorder.create(tmp_path / "t", pytest.fail)
    writer = threading.Thread(target=recorder.run, args=(SystemClock(),))
    writer.start()
    recorder.line(4.9, pod_line("early"))

    def hand_over(watch: int) -> None:
        for number in range(50):
            recorder.line(6.0, pod_line(f"{watch}-{number}"))

    recorder.header(5.0, [json.dumps(deployment).encode()])
    watches = [threading.Thread(target=hand_over, args=(watch,)) for watch in range(4)]
    for watch in watches:
        watch.start()
    for watch in watches:
        watch.join()
    recorder.finish()
    writer.join(timeout=10)
    assert not writer.is_alive()
    heard = [event for event in traces.read(tmp_path / "t").events() if isinstance(event, Observed)]
    assert (heard[0].object.uid, heard[0].at) == ("early", 0.0)
    assert {event.at for event in heard[1:]} == {1.0}
    assert len({event.object.uid for event in heard}) == 201


class Full(io.BytesIO):
    """A file on a disk that is full after the first line."""

    def write(self, data: Any) -> int:
        """Take one line."""
        if self.getvalue():
            raise OSError(28, "No space left on device")
        return super().write(data)


@pytest.mark.contract("B177")
def test_a_full_disk_stops_the_recording_alone(deployment: dict[str, Any]) -> None:
    """It is said once; what comes after is dropped, and nobody is held up."""
    warnings: list[str] = []
    recorder = Recorder(Full(), Masker(), warnings.append)
    recorder.header(0.0, [json.dumps(deployment).encode()])
    for number in range(3):
        recorder.line(1.0, pod_line(str(number)))
    recorder.finish()
    recorder.run(SystemClock())
    assert warnings == ["recording stopped: No space left on device"]
    assert recorder._queue.empty()


def test_a_recording_has_a_cap(deployment: dict[str, Any]) -> None:
    """A rollout that never ends does not fill the disk."""
    warnings: list[str] = []
    file = Kept()
    body = json.dumps(deployment).encode()
    recorder = Recorder(file, Masker(), warnings.append, most_bytes=2 * len(body))
    recorder.header(0.0, [body])
    for _ in range(1000):
        recorder.line(1.0, pod_line("a"))
    recorder.finish()
    recorder.run(SystemClock())
    assert len(file.kept) <= 2 * len(body)
    assert warnings == ["recording stopped: it is as long as a recording may be"]


@pytest.mark.contract("B284")
def test_what_is_not_written_yet_is_bounded(deployment: dict[str, Any]) -> None:
    """A disk that hangs, or an apply that never comes back, does not fill the memory."""
    warnings: list[str] = []
    lines = [pod_line(str(number)) for number in range(100)]
    recorder = Recorder(Kept(), Masker(), warnings.append, most_waiting_bytes=5 * len(lines[0]))
    for line in lines:
        recorder.line(1.0, line)
        assert recorder._waiting_bytes <= 5 * len(lines[0])
    recorder.finish()
    recorder.run(SystemClock())
    assert warnings == ["recording stopped: it is not written as fast as the cluster speaks"]


class Kept(io.BytesIO):
    """A file whose bytes can be looked at after it was closed."""

    kept = b""

    def close(self) -> None:
        """Keep what was written."""
        self.kept = self.kept or self.getvalue()
        super().close()


@pytest.mark.contract("B177")
def test_what_cannot_be_masked_is_left_out_and_counted(deployment: dict[str, Any]) -> None:
    """A malformed line is not written as it came: nobody knows what is in it."""
    warnings: list[str] = []
    file = Kept()
    recorder = Recorder(file, Masker(), warnings.append)
    recorder.header(0.0, [json.dumps(deployment).encode()])
    odd = {"kind": "Pod", "metadata": {"managedFields": [CANARY]}}
    for line in (b"", CANARY.encode(), b"[" * 9000, json.dumps({"type": "ADDED", "object": odd})):
        recorder.line(1.0, line if isinstance(line, bytes) else line.encode())
    recorder.record_list(1.0, "shop", CANARY.encode())
    recorder.line(2.0, pod_line("good"))
    recorder.finish()
    recorder.run(SystemClock())
    assert warnings == ["lines that could not be masked and were not recorded: 5"]
    assert file.kept.count(b"\n") == 2
    assert CANARY.encode() not in file.kept
