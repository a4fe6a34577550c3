"""Reading recordings: all that the shared ones say, and all that a file may get wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.core.kinds.deployment.objects import REPLICA_SET, deployment_ref
from gate.core.model.objects import Pod
from gate.core.protocol.events import Suspended
from gate.core.rollout.observations import Kind, Listed, Observed, Vanished
from gate.errors import UsageError
from gate.wire import decode
from gate.wire import trace as traces
from tests.table import each


def test_each_shared_recording_is_read_whole(trace: Path) -> None:
    """Header and every line come out as core values, in the order and at the times of the file."""
    header, *lines = [json.loads(line) for line in trace.read_bytes().splitlines()]
    recording = traces.read(trace)
    assert (recording.scenario, recording.kubernetes) == (header["scenario"], header["kubernetes"])
    assert recording.before == tuple(decode.decode_watched(found) for found in header["before"])
    named = header.get("workload") or {"kind": "Deployment", "name": header.get("deployment")}
    assert recording.before_live == tuple(
        decode.live_object(found) for found in header["before"] if found["kind"] == named["kind"]
    )
    assert recording.applied == (decode.live_object(header["applied"]),)
    applied = recording.applied[0].ref
    assert (applied.kind, applied.name) == (named["kind"], named["name"])
    assert applied.namespace == header["namespace"]
    assert recording.policy == {}
    for event, line in zip(recording.events(), lines, strict=True):
        at, found = max(line["t"], 0.0), line["object"]
        if line["type"] == "DELETED":
            assert event == Vanished(at, Kind(found["kind"]), found["metadata"]["uid"])
        else:
            assert event == Observed(at, decode.decode_watched(found))


@pytest.fixture
def header(deployment: dict[str, Any]) -> dict[str, Any]:
    """The least that a header says."""
    return {"trace": 1, "namespace": "shop", "deployment": "web", "applied": deployment}


A_POD = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}}'


def write(path: Path, *lines: object) -> Path:
    """Write lines, JSON of what is no text."""
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n", encoding="utf-8")
    return path


def pod(name: str, **more: Any) -> dict[str, Any]:
    """Make a line about a pod."""
    found = {"kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name}}
    return {"t": 1.0, "type": "ADDED", "object": found, **more}


def test_bookmarks_and_errors_are_passed_over(tmp_path: Path, header: dict[str, Any]) -> None:
    """They are what the server said, and say nothing of the rollout."""
    bookmark = pod("", type="BOOKMARK")
    gone = {"t": 1.5, "type": "ERROR", "object": {"kind": "Status", "code": 410}}
    recording = traces.read(write(tmp_path / "t", header, bookmark, gone, "", pod("a")))
    (event,) = recording.events()
    assert isinstance(event, Observed)
    assert event.at == 1.5, "time does not go back behind a line that was passed over"


def test_time_neither_goes_back_nor_starts_before_the_apply(
    tmp_path: Path, header: dict[str, Any]
) -> None:
    """Lines of several watches may be out of order by a little."""
    lines = [pod("a", t=-0.1), pod("b", t=2.0), pod("c", t=1.9)]
    recording = traces.read(write(tmp_path / "t", header, *lines))
    assert [event.at for event in recording.events()] == [0.0, 2.0, 2.0]


def test_a_list_is_heard_once_with_all_its_pages(
    tmp_path: Path, header: dict[str, Any], deployment: dict[str, Any]
) -> None:
    """Each Deployment of that namespace hears the whole list; lists of other kinds do not mix."""
    other = {**deployment, "metadata": {**deployment["metadata"], "namespace": "else"}}

    def page(kind: str, *names: str, following: str = "") -> dict[str, Any]:
        items = [pod(name)["object"] for name in names]
        body = {"kind": f"{kind}List", "metadata": {"continue": following}, "items": items}
        return {"t": 3.0, "type": "LISTED", "namespace": "shop", "object": body}

    path = write(
        tmp_path / "t",
        {**header, "also_applied": [other]},
        page("Pod", "a", following="more"),
        page("ReplicaSet"),
        page("Pod", "b"),
    )
    empty, listed = traces.read(path).events()
    about = deployment_ref("shop", "web")
    assert empty == Listed(3.0, REPLICA_SET, about, ())
    assert isinstance(listed, Listed)
    assert (listed.kind, listed.about) == (Kind.POD, about)
    assert [found.name for found in listed.objects if isinstance(found, Pod)] == ["a", "b"]


@pytest.mark.contract("B275")
@pytest.mark.parametrize(
    "first",
    [
        "",
        "no JSON",
        "[]",
        "{}",
        '{"trace": 2, "namespace": "a", "deployment": "b", "applied": {}}',
        '{"trace": 1, "namespace": "a", "deployment": "b", "applied": {}}',
        '{"trace": 1, "namespace": "a", "deployment": "b", "applied": ' + A_POD + "}",
        "[" * 9000 + "]" * 9000,
    ],
)
def test_a_file_that_is_no_recording_is_named(tmp_path: Path, first: str) -> None:
    """The error is of usage, one clean line, with the file and its line 1."""
    path = write(tmp_path / "t", first)
    with pytest.raises(UsageError) as caught:
        traces.read(path)
    assert caught.value.message.startswith(f"{path}:1: ")
    assert caught.value.message.isprintable()


@pytest.mark.contract("B275")
@pytest.mark.parametrize(
    "broken",
    [
        '{"t": 2.0, "type": "ADDED", "obj',
        '{"type": "ADDED", "object": {"kind": "Pod", "metadata": {}}}',
        '{"t": NaN, "type": "ADDED", "object": {"kind": "Pod", "metadata": {}}}',
        '{"t": 2, "type": "ADDED", "object": {"kind": "Secret", "metadata": {}}}',
        '{"t": 2, "type": "LISTED", "object": {"kind": "SecretList"}}',
        '{"t": 2, "type": "LISTED", "object": []}',
        "\x1b[31m",
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, header: dict[str, Any], broken: str) -> None:
    """What stood before it is still heard."""
    path = write(tmp_path / "t", header, pod("a"), "", broken, pod("b"))
    events = traces.read(path).events()
    assert isinstance(next(events), Observed)
    with pytest.raises(UsageError) as caught:
        list(events)
    assert caught.value.message.startswith(f"{path}:4: ")
    assert caught.value.message.isprintable()
    assert caught.value.exit_code == 2


def test_lines_and_files_have_their_caps(
    tmp_path: Path, header: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line without end is not read to its end, nor a file."""
    path = write(tmp_path / "t", header, *[pod("a") for _ in range(200)])
    monkeypatch.setattr(traces, "MAX_FILE_BYTES", path.stat().st_size)
    assert len(list(traces.read(path).events())) == 200
    monkeypatch.setattr(traces, "MAX_FILE_BYTES", path.stat().st_size - 1)
    with pytest.raises(UsageError, match="t:201: too long"):
        list(traces.read(path).events())
    monkeypatch.setattr(decode, "MAX_BODY_BYTES", len(json.dumps(header)))
    with pytest.raises(UsageError, match="t:1: too long"):
        traces.read(path)


@pytest.mark.contract("B469")
def test_what_a_run_did_about_its_verdict_is_not_read(
    tmp_path: Path, header: dict[str, Any]
) -> None:
    """The recording of the rollout ends where the run went back."""
    returned = {"t": 2.0, "type": "RETURNED", "object": {}}
    path = write(tmp_path / "t", header, pod("a"), returned, pod("b", t=3.0), "no JSON at all")
    heard, reached = traces.read(path).events()
    assert isinstance(heard, Observed)
    assert heard.object.uid == "a"
    assert reached == traces.Reached(2.0)


@pytest.mark.contract("B1611")
@each(
    ("until", "heard"),
    [(400.0, [Suspended(400.0, 300.0)]), (5.0, [Suspended(5.0, 5.0)]), (0.0, []), (-1.0, [])],
)
def test_of_a_standstill_only_the_part_after_the_last_apply_is_given_back(
    tmp_path: Path, header: dict[str, Any], until: float, heard: list[Suspended]
) -> None:
    """The clocks of a replay begin at that apply: what the gate slept before is in none."""
    stood = {"t": until, "type": "SUSPENDED", "object": {"at": until, "seconds": 300.0}}
    recording = traces.read(write(tmp_path / "t", header, stood, pod("a", t=500.0)))
    *standstills, seen = recording.events()
    assert standstills == heard
    assert (type(seen), seen.at) == (Observed, 500.0)
