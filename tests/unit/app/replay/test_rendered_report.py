"""`report`: what was, again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gate.cli import main
from gate.report.formats.files import json_text, render_result
from gate.report.formats.format import Format
from gate.report.schema.added_keys import LATER_KEYS, parts
from tests.unit.app.conftest import Ended
from tests.unit.report.results import HOSTILE, NAMES, example, spoilt

Report = Callable[..., Ended]
TRACES = Path(__file__).resolve().parents[3] / "traces"
EARLIER = Path(__file__).resolve().parents[2] / "report" / "earlier"
"""Documents as they were once written, which are never written again: `first` has the keys of the
first release alone, `every-shape` has a part of every shape that there was later."""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Report:
    """Return what runs `report` with words."""

    def report(*words: object) -> Ended:
        code = main.run(["report", *map(str, words)], environ={})
        return Ended(code, *capsys.readouterr())

    return report


@pytest.mark.contract("B569")
@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("name", ["rolled-back", "verified"])
def test_a_result_is_rendered_as_it_was_then(
    run: Report, tmp_path: Path, name: str, form: Format
) -> None:
    """To the byte."""
    file = tmp_path / "r.json"
    file.write_text(json_text(example(name)))
    ended = run(file, "--format", form)
    assert (ended.code, ended.out) == (0, render_result(form, example(name)))


@pytest.mark.contract("B569", "B561")
def test_what_somebody_else_wrote_is_cleaned(run: Report, tmp_path: Path) -> None:
    """No escape, no command and nothing that turns the writing comes out of a file."""
    file = tmp_path / "r.json"
    file.write_text(json.dumps(spoilt(example("rolled-back"), "\n".join(HOSTILE))))
    for form in (Format.TEXT, Format.JSON, Format.MARKDOWN):
        out = run(file, "--format", form).out
        assert not set(out) & {"\x1b", "\r", "\u202e", "\u2066", "\u200b", "\x00"}
        assert "##[command]" not in out
        assert "##vso[" not in out


@pytest.mark.contract("B569")
def test_reports_are_written_and_stdout_stays_empty(run: Report, tmp_path: Path) -> None:
    """Several formats at once; with a format of its own, stdout has one more."""
    file = tmp_path / "r.json"
    file.write_text(json_text(example("rolled-back")))
    wanted = ["--report", f"html={tmp_path}/r.html", "--report", f"junit={tmp_path}/r.xml"]
    assert run(file, *wanted) == Ended(0, "", "")
    assert (tmp_path / "r.html").read_text() == render_result(Format.HTML, example("rolled-back"))
    assert (tmp_path / "r.xml").exists()
    assert "ROLLED BACK" in run(file, *wanted, "--format", "text").out


@pytest.mark.contract("B569")
def test_a_report_that_cannot_be_written_is_an_error(run: Report, tmp_path: Path) -> None:
    """It is all that was asked for; and no report of the error takes the place of another."""
    file, good = tmp_path / "r.json", tmp_path / "good.md"
    file.write_text(json_text(example("verified")))
    words = ["--report", f"markdown={good}", "--report", "html=/dev/full"]
    ended = run(file, *words)
    assert ended.code == 2
    assert "could not be written" in ended.err
    assert good.read_text() == render_result(Format.MARKDOWN, example("verified"))


@pytest.mark.contract("B569")
@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "nonsense", '{"schema": "rollout-gate/result/v2"}', "[" * 100_000]
)
def test_any_other_file_is_an_error(run: Report, tmp_path: Path, text: str) -> None:
    """One line, with the file's name."""
    file = tmp_path / "r.json"
    file.write_text(text)
    ended = run(file)
    assert (ended.code, ended.out) == (2, "")
    assert str(file) in ended.err
    assert run(tmp_path / "missing").code == 2


@pytest.mark.contract("B569")
@pytest.mark.parametrize(
    ("trace", "said"),
    [
        ("crashloop", "would have rolled back deployment/web to revision 1 because CrashLoop"),
        ("good-rolling", "would have been verified: Complete"),
        ("superseded", "would have ended as superseded because Superseded"),
    ],
)
def test_a_recording_is_judged_as_observe_would(run: Report, trace: str, said: str) -> None:
    """And what the run did after its verdict is not claimed."""
    ended = run(TRACES / f"{trace}.jsonl", "--format", "json")
    document = json.loads(ended.out)
    assert (ended.code, document["outcome"]) == (0, "observed")
    assert document["message"].startswith(said)
    assert "what was done after the verdict is not in it" in document["warnings"][0]
    assert document["history"]["pods"][0]["samples"]


@pytest.mark.contract("B569")
def test_a_recording_without_a_verdict_is_inconclusive(run: Report, tmp_path: Path) -> None:
    """It is rendered all the same."""
    lines = (TRACES / "good-rolling.jsonl").read_text().splitlines()
    file = tmp_path / "cut.jsonl"
    file.write_text("\n".join(lines[:6]) + "\n")
    document = json.loads(run(file, "--format", "json").out)
    assert (document["outcome"], document["exit_code"]) == ("inconclusive", None)
    assert document["message"].startswith("the recording ends undecided: ")


@pytest.mark.contract("B775")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_document_of_an_earlier_version_is_rendered(
    run: Report, tmp_path: Path, name: str
) -> None:
    """Keys that came later read as absent: every one that is listed, and no other may lack."""
    old = json.loads(json_text(example(name)))
    for path, defaults in LATER_KEYS.items():
        for part in parts(old, path):
            for key in defaults:
                del part[key]
    file = tmp_path / "r.json"
    file.write_text(json.dumps(old))
    for form in Format:
        assert run(file, "--format", form).code == 0
    read = json.loads(run(file, "--format", "json").out)
    assert read["recoverable"] is False
    del old["outcome"]
    file.write_text(json.dumps(old))
    assert run(file).code == 2


@pytest.mark.contract("B1030")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_reader_of_the_earlier_list_finds_it(run: Report, tmp_path: Path, name: str) -> None:
    """`deployments` repeats `workloads` under its earlier keys; alone it says all that both do."""
    both = json.loads(json_text(example(name)))
    for one, earlier in zip(both["workloads"], both["deployments"], strict=True):
        assert one["kind"] == earlier["kind"] == "Deployment"
        assert earlier["new"]["replicaset"] == one["new"]["name"]
        trees = [tree["replicasets"] for tree in earlier["trees"]]
        assert trees == [tree["revisions"] for tree in one["trees"]]
    alone = {key: value for key, value in both.items() if key != "workloads"}
    file = tmp_path / "r.json"
    file.write_text(json.dumps(alone))
    assert json.loads(run(file, "--format", "json").out) == both
    assert run(file).out == render_result(Format.TEXT, example(name))


@pytest.mark.contract("B775")
@pytest.mark.parametrize("form", Format)
@pytest.mark.parametrize("name", ["first", "every-shape"])
def test_a_document_that_was_written_once_is_rendered(run: Report, name: str, form: Format) -> None:
    """Whatever key came later reads as absent: one that nobody listed fails here."""
    ended = run(EARLIER / f"{name}.json", "--format", form)
    assert (ended.code, ended.err) == (0, "")


@pytest.mark.contract("B775")
def test_a_result_that_is_replayed_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is no recording: the error says what it is, and what renders it."""
    file = tmp_path / "r.json"
    file.write_text(json_text(example("verified")))
    assert main.run(["replay", str(file)], environ={}) == 2
    said = capsys.readouterr().err
    assert "this is a result document, not a recording" in said
    assert f"rollout-gate report {file}" in said
