"""Reports reach their files, and a file that cannot be written changes nothing."""

from __future__ import annotations

import json
import os
import socket
import threading
from pathlib import Path

import pytest

from gate.report.formats.files import write_report
from gate.report.formats.format import Format
from gate.report.schema.printed_result import with_deployments
from gate.report.schema.result import Result
from tests.unit.report.results import example


@pytest.fixture(scope="module")
def result() -> Result:
    """A document."""
    return example("rolled-back")


@pytest.mark.contract("B178")
@pytest.mark.parametrize("there", ["file", "nothing", "device"])
def test_a_link_is_replaced_and_not_followed(result: Result, tmp_path: Path, there: str) -> None:
    """Whoever may write to the folder could lead the report to any file of ours."""
    ours = Path("/dev/null") if there == "device" else tmp_path / "ours"
    if there == "file":
        ours.write_text("precious")
    link = tmp_path / "r.json"
    link.symlink_to(ours)
    assert write_report(Format.JSON, link, result) is None
    assert not link.is_symlink()
    assert json.loads(link.read_text()) == with_deployments(result)
    assert ours.exists() is (there != "nothing")
    assert there != "file" or ours.read_text() == "precious"


@pytest.mark.contract("B178")
def test_what_is_planted_beside_a_report_is_neither_written_nor_followed(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that was guessed is refused; and no two reports use the same."""
    ours = tmp_path / "ours"
    ours.write_text("precious")
    for name in (f".r.json.{os.getpid()}.tmp", ".r.json.guessed.tmp"):
        (tmp_path / name).symlink_to(ours)
    assert write_report(Format.JSON, tmp_path / "r.json", result) is None
    monkeypatch.setattr("gate.wire.files.secrets.token_hex", lambda _: "guessed")
    warning = write_report(Format.JSON, tmp_path / "r.json", result)
    assert warning is not None
    assert "File exists" in warning
    assert ours.read_text() == "precious"


@pytest.mark.contract("B177", "B178")
@pytest.mark.parametrize("name", ["missing/r.json", "folder", "link", "socket", "r" * 300, "bug"])
def test_a_broken_sink_is_a_warning(result: Result, tmp_path: Path, name: str) -> None:
    """It says which report and why, and raises nothing; a bug of a report changes no verdict."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path)
    broken: Result = {"workloads": None}  # type: ignore[typeddict-item]
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        given = (Format.TEXT, broken) if name == "bug" else (Format.JSON, result)
        warning = write_report(given[0], tmp_path / name, given[1])
    assert warning is not None
    assert warning.startswith(f"the report {given[0]}={tmp_path / name} could not be written: ")
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "link", "socket"}
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "socket").is_socket()


def test_a_pipe_is_written_to_as_it_is(result: Result, tmp_path: Path) -> None:
    """A FIFO is not replaced by a file."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(
        target=lambda: read.append(pipe.read_text(encoding="utf-8")), daemon=True
    )
    reader.start()
    assert write_report(Format.JSON, pipe, result) is None
    reader.join(timeout=10)
    assert json.loads(read[0]) == with_deployments(result)
    assert pipe.is_fifo()


def test_a_report_that_fails_half_way_leaves_nothing(
    result: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No scratch file, and the report of before stays whole."""

    def full(_source: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device")

    target = tmp_path / "r.json"
    target.write_text("old")
    monkeypatch.setattr(Path, "replace", full)
    warning = write_report(Format.JSON, target, result)
    assert warning == f"the report json={target} could not be written: No space left on device"
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]
