"""Recordings: what `--record` writes, `replay` judges, and to the same verdict."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from gate.app.replay import recording
from gate.app.runtime.recorded_policy import recorded_policy
from gate.app.runtime.tape import Tape
from gate.config import Settings, load, policy
from gate.core.model.body import Body
from gate.core.model.field_manager import Verb
from gate.core.model.objects import Ref
from gate.core.protocol.effects import Write
from gate.errors import UsageError
from gate.virtual_time import VirtualClock
from tests.table import each
from tests.unit.app.bodies import service, settings, web
from tests.unit.app.conftest import Gate
from tests.unit.app.server import Server

TRACES = Path(__file__).parents[3] / "traces"
DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"
DRY_RUN = (("force", "false"), ("dryRun", "All"))
APPLY = (("fieldManager", "rollout-gate"), ("force", "false"))


@pytest.fixture
def trace(tmp_path: Path) -> str:
    """Return where a recording goes."""
    return str(tmp_path / "run.jsonl")


def header(trace: str) -> dict[str, Any]:
    """Return the first line of a recording."""
    found: dict[str, Any] = json.loads(Path(trace).read_text().splitlines()[0])
    return found


# -- what is recorded is judged the same -----------------------------------------------------------


@pytest.mark.contract("B276")
def test_several_deployments_are_replayed_together(gate: Gate, server: Server, trace: str) -> None:
    """The one that failed speaks for all, wherever it stands in the manifest."""
    server.put(web(), web(name="api"))
    path = gate.manifest(web("2", name="api"), web("crash"))
    assert gate("apply", file=[path], record=trace).code == 4
    document = gate("replay", trace).document
    assert (document["verdict"], document["reason"]) == ("failed", "CrashLoop")


@pytest.mark.contract("B274", "B276")
def test_the_policy_of_the_run_is_part_of_its_recording(gate: Gate, trace: str) -> None:
    """It judges the replay as it judged the run; a flag of the replay counts for more."""
    flags = {"require": "50%", "bake": "0s", "record": trace}
    assert gate.apply(web("half"), **flags).code == 0
    assert header(trace)["policy"] == {"require": "50%", "bake": 0.0}
    assert gate("replay", trace).document["verdict"] == "complete"
    assert gate("replay", trace, require="2").document["verdict"] == "progressing"


@pytest.mark.contract("B276", "B920")
def test_every_flag_of_the_judge_comes_back_as_it_was() -> None:
    """What a run was told, a recording tells, in a form that JSON can hold."""
    fail_fast = ["image-pull=90s", "crash=7", "pod-create=off"]
    flag_sets: list[dict[str, Any]] = [
        {},
        {"timeout": "10m", "bake": "30s", "wait_for_termination": True},
        {"progress_deadline": "90s"},
        {"tolerate": "25%", "require": "min-available", "fail_fast": fail_fast},
        {"require": "3", "fail_fast": ["readiness-lost=off", "replicaset-create=1m"]},
    ]
    for flags in flag_sets:
        run = load("apply", flags, environ={})
        recorded = json.loads(json.dumps(recorded_policy(run)))
        assert set(recorded) == {name.replace("_", "-") for name in flags}
        names = {key.replace("-", "_"): value for key, value in recorded.items()}
        assert policy(load("replay", names, environ={})) == policy(run)


def test_a_policy_that_cannot_be_read_is_a_usage_error(here: Gate, trace: str) -> None:
    """Somebody wrote into the recording: file and line are named."""
    first, *rest = (TRACES / "crashloop.jsonl").read_text().splitlines()
    changed = json.dumps({**json.loads(first), "policy": {"timeout": "soon", "later": 1}})
    Path(trace).write_text("\n".join([changed, *rest]))
    ended = here("replay", trace)
    assert (ended.code, ended.document["outcome"]) == (2, "usage")
    assert f"{trace}:1: the policy" in ended.err


# -- what cannot be recorded -----------------------------------------------------------------------


@pytest.mark.contract("B177")
def test_a_full_disk_changes_nothing(gate: Gate) -> None:
    """The verdict is the same, with a warning."""
    ended = gate.apply(web(), record="/dev/full")
    assert (ended.code, ended.document["outcome"]) == (0, "verified")
    assert any(each.startswith("recording stopped") for each in ended.document["warnings"])


def test_a_file_that_cannot_be_written_is_found_first(
    gate: Gate, server: Server, tmp_path: Path
) -> None:
    """Also what only opening shows: nothing was asked of the server yet."""
    with socket.socket(socket.AF_UNIX) as held:
        held.bind(str(tmp_path / "s"))
        ended = gate.apply(web(), record=str(tmp_path / "s"))
    assert (ended.code, ended.document["outcome"]) == (2, "usage")
    assert server.seen == []


@pytest.mark.contract("B651")
def test_that_nothing_can_be_recorded_is_said_before_anything_is_written(
    gate: Gate, trace: str
) -> None:
    """Whoever wants the recording can still end it; what an earlier run left stays as it is."""
    Path(trace).write_text("of another run", encoding="utf-8")
    ended = gate.apply(service(), settings(), record=trace)
    assert ended.code == 0
    assert "a recording is of workloads, the manifest has none" in ended.err.splitlines()[0]
    assert any("nothing is recorded" in warning for warning in ended.document["warnings"])
    assert Path(trace).read_text(encoding="utf-8") == "of another run"


def test_a_recording_of_a_refusal_is_warned_of(gate: Gate, trace: str) -> None:
    """There is nothing to judge in it."""
    ended = gate.apply(web(paused=True), record=trace)
    (warning,) = [each for each in ended.document["warnings"] if each.startswith(trace)]
    assert "the recording is empty" in warning


# -- replay ----------------------------------------------------------------------------------------


@pytest.mark.contract("B270")
def test_replay_tells_people_what_happened(here: Gate) -> None:
    """The lines with their times, the verdict with its causes, and where a rollback would go."""
    ended = here("replay", str(TRACES / "crashloop.jsonl"), output="text")
    *lines, verdict, cause, back = ended.out.splitlines()
    assert (ended.code, ended.err) == (0, "")
    assert lines
    assert verdict.startswith("failed: CrashLoop (after ")
    assert cause.startswith("  CrashLoop: ")
    assert back == "  a rollback would return to revision 1"
    quiet = here("replay", str(TRACES / "crashloop.jsonl"), output="text", quiet=True)
    assert quiet.out.splitlines() == [verdict, cause, back]


@pytest.mark.contract("B275")
def test_a_pipe_that_is_no_recording_is_not_waited_for(tmp_path: Path) -> None:
    """It was read to its end: to open it again would wait for another writer."""
    pipe = tmp_path / "notes"
    os.mkfifo(pipe)
    threading.Thread(target=pipe.write_text, args=["dear diary\n"], daemon=True).start()
    errors: list[str] = []

    def read() -> None:
        try:
            recording.load(str(pipe), Settings())
        except UsageError as error:
            errors.append(str(error))

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(20)
    assert not reader.is_alive()
    assert errors[0].startswith(f"{pipe}:1")


# -- the tape --------------------------------------------------------------------------------------


class Listener:
    """Stands in for a recorder."""

    def __init__(self) -> None:
        self.heard: list[tuple[Any, ...]] = []

    def header(self, at: float, applied: list[bytes], **about: Any) -> None:
        """Hear the header."""
        self.heard.append(("header", at, [*applied], [*about["before"]]))

    def line(self, at: float, line: bytes) -> None:
        """Hear a line."""
        self.heard.append(("line", at, line))

    def record_list(self, at: float, namespace: str, page: bytes, about: object) -> None:
        """Hear a list."""
        self.heard.append(("listed", at, namespace, page, about))

    def note_return(self, at: float) -> None:
        """Hear that the run goes back."""
        self.heard.append(("returned", at))


def test_the_tape_begins_with_the_last_apply() -> None:
    """Lists of before it are its header, lists of after it are lines."""
    listener, clock = Listener(), VirtualClock(7.0)
    tape = Tape(listener, clock, 2, {})  # type: ignore[arg-type]
    tape.on_answer("GET", "/api/v1/namespaces/shop/pods", (), b"pods")
    tape.on_answer("GET", f"{DEPLOYMENTS}/web", (), b"one object")
    tape.on_answer("GET", "/api/v1/namespaces/shop/secrets", (), b"secrets")
    tape.on_answer("PATCH", f"{DEPLOYMENTS}/web", DRY_RUN, b"a trial")
    tape.on_answer(
        "PATCH", f"{DEPLOYMENTS}/web", (("fieldManager", "rollout-gate"),), b"a take-over"
    )
    tape.on_answer("PATCH", f"{DEPLOYMENTS}/api", APPLY, b"api")
    tape.line(b"early")
    clock.advance_to(8.0)
    tape.on_answer("PATCH", f"{DEPLOYMENTS}/web", APPLY, b"web")
    clock.advance_to(9.0)
    tape.on_answer("PATCH", f"{DEPLOYMENTS}/web", APPLY, b"the rollback")
    tape.on_answer("GET", "/api/v1/namespaces/shop/pods", (), b"later")
    assert listener.heard == [
        ("line", 7.0, b"early"),
        ("header", 8.0, [b"api", b"web"], [b"pods"]),
        ("listed", 9.0, "shop", b"later", None),
    ]


@pytest.mark.contract("B276")
@each(
    ("query", "about"),
    [
        ((), None),
        ((("labelSelector", "app=web"),), ("Deployment/web",)),
        ((("labelSelector", "app in (api,web)"),), ("Deployment/api", "Deployment/web")),
        ((("fieldSelector", "metadata.name=api"),), ("Deployment/api",)),
        ((("fieldSelector", "type=Warning"),), None),
    ],
)
def test_a_list_says_whose_parts_it_selects(
    query: tuple[tuple[str, str], ...], about: tuple[str, ...] | None
) -> None:
    """What it does not select is not gone by it; one that was read between two applies no less."""
    listener, clock = Listener(), VirtualClock(7.0)
    tape = Tape(listener, clock, 2, {})  # type: ignore[arg-type]
    for name in ("api", "web"):
        template = {"metadata": {"labels": {"app": name}}}
        body = {"kind": "Deployment", "metadata": {"name": name}, "spec": {"template": template}}
        tape.on_answer("PATCH", f"{DEPLOYMENTS}/{name}", APPLY, json.dumps(body).encode())
        tape.on_answer("GET", "/api/v1/namespaces/shop/pods", query, b"pods")
    assert listener.heard[-1][-1] == about


@pytest.mark.contract("B469")
def test_the_tape_tells_where_the_run_goes_back() -> None:
    """Before the write is sent, so that it stands before all that comes of it."""
    listener, clock = Listener(), VirtualClock(7.0)
    tape = Tape(listener, clock, 1, {})  # type: ignore[arg-type]

    def write(kind: str) -> Write:
        body = Body.of({})
        return Write(1, Ref("apps/v1", kind, "shop", "web"), Verb.APPLY, body, None, None)

    tape.writing(write("Deployment"))
    tape.on_answer("PATCH", f"{DEPLOYMENTS}/web", APPLY, b"web")
    tape.writing(write("Service"))
    clock.advance_to(8.0)
    tape.writing(write("Deployment"))
    assert listener.heard[1:] == [("returned", 8.0)]
