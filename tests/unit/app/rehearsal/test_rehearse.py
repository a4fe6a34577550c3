"""`rehearse`: what the gate would decide, when and why, and what its policy makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from gate.app.rehearsal.rehearse import rehearse
from gate.app.rehearsal.trouble import TROUBLES
from gate.config import load
from gate.errors import UsageError
from gate.report.rehearsals import RehearsalResult
from tests.unit.app.rehearsal.conftest import Played

Write = Callable[..., str]


def rows(played: Played, file: str, **told: Any) -> tuple[int, list[RehearsalResult]]:
    """Rehearse a manifest; return the exit code and the rows of the document."""
    flags = {"file": [file], "output": "json", "silence": ["all"], **told}
    code = rehearse(played.world, load("rehearse", flags, environ={}))
    return code, json.loads(played.out.getvalue())["rehearsals"]


ENDS = {
    "good": (0, "verified", ""),
    "slow-start": (0, "verified", ""),
    "restart-once": (0, "verified", ""),
    "crash": (4, "rolled-back", "CrashLoop"),
    "oom": (4, "rolled-back", "OutOfMemory"),
    "image-pull": (4, "rolled-back", "ImagePull"),
    "image-denied": (4, "rolled-back", "ImagePull"),
    "config-error": (4, "rolled-back", "ContainerConfig"),
    "never-ready": (4, "rolled-back", "NotReady"),
    "flapping": (4, "rolled-back", "ReadinessLost"),
    "unschedulable": (4, "rolled-back", "Unschedulable"),
    "superseded": (8, "superseded", ""),
    "paused": (6, "failed", ""),
    "deleted": (8, "superseded", ""),
    "stale-deadline": (0, "verified", ""),
    "first-deployment": (6, "failed", "CrashLoop"),
}


@pytest.mark.contract("B305", "B306")
def test_every_trouble_ends_as_the_contract_says(played: Played, manifest: Write) -> None:
    """All of them in one run, which is fine where each failure was caught."""
    code, found = rows(played, manifest(), all_=True)
    assert [each["kind"] for each in found] == list(TROUBLES)
    ends = {each["kind"]: each for each in found}
    for kind, (exit_code, outcome, cause) in ENDS.items():
        row = ends[kind]
        assert (row["exit_code"], row["outcome"]) == (exit_code, outcome), row
        assert row["why"].startswith(cause), row
    assert {each["returned_to"] for each in found if each["exit_code"] == 4} == {"revision 1"}
    assert all(each["as_expected"] for each in found)
    assert code == 0


@pytest.mark.contract("B305")
def test_when_it_is_decided_is_told_in_the_clusters_time(played: Played, manifest: Write) -> None:
    """A third restart comes after 10 and 20 s of back-off, a deadline after its 2 minutes."""
    assert 30 < rows(played, manifest(), with_="crash")[1][0]["decided_at_seconds"] < 35
    played.out.truncate(0)
    played.out.seek(0)
    row = rows(played, manifest(), with_="never-ready")[1][0]
    assert 120 <= row["decided_at_seconds"] < 125
    assert row["duration_seconds"] > row["decided_at_seconds"], "the way back is verified"


@pytest.mark.contract("B305")
def test_the_exit_code_is_that_of_apply(played: Played, manifest: Write) -> None:
    """Of a single rehearsal; the policy that is rehearsed is the user's."""
    assert rows(played, manifest(), with_="crash", on_failure="keep")[0] == 6


@pytest.mark.contract("B306")
def test_a_policy_that_judges_wrongly_is_marked(played: Played, manifest: Write) -> None:
    """One restart that recovers fails nothing, or this gate is too strict: exit 6 of --all."""
    code, found = rows(played, manifest(), all_=True, fail_fast=["crash=1"])
    assert [each["kind"] for each in found if not each["as_expected"]] == ["restart-once"]
    assert code == 6


@pytest.mark.contract("B307")
def test_trouble_after_the_verdict_asks_for_a_bake_window(played: Played, manifest: Write) -> None:
    """The advice is what would have seen it, and it does."""
    file = manifest()
    flags = {"file": [file], "with_": "crash@5m"}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 0
    advice = next(line for line in played.out.getvalue().splitlines() if "--bake" in line)
    assert advice.startswith("warning: crash@5m comes after the verdict")
    window = advice.partition("--bake ")[2].split()[0]
    played.out.truncate(0)
    played.out.seek(0)
    code, (row,) = rows(played, file, with_="crash@5m", bake=window)
    assert (code, row["why"].partition(":")[0]) == (4, "CrashLoop")


def test_the_longest_run_is_the_sum_of_its_budgets(played: Played, manifest: Write) -> None:
    """Timeout, bake window, rollback, and 10 s: contract, section 6."""
    flags = {"file": [manifest()], "timeout": "4m", "bake": "1m", "rollback_timeout": "2m"}
    rehearse(played.world, load("rehearse", flags, environ={}))
    assert "a run takes 7m10s" in played.out.getvalue()


@pytest.mark.contract("B307")
def test_inconsistent_limits_are_warned_of(played: Played, manifest: Write) -> None:
    """A timeout that ends before the progress deadline can."""
    flags = {"file": [manifest()], "timeout": "60"}
    rehearse(played.world, load("rehearse", flags, environ={}))
    assert "timeout" in played.out.getvalue().partition("warning: ")[2]


def test_a_scenario_file_says_what_happens(played: Played, manifest: Write, tmp_path: Any) -> None:
    """By image, from a second on."""
    scenario = tmp_path / "bad-day.yaml"
    scenario.write_text("images:\n  '*:2':\n    20s: oom\n")
    code, (row,) = rows(played, manifest(), scenario=str(scenario), bake="2m")
    assert (code, row["why"].partition(":")[0]) == (4, "OutOfMemory")


@pytest.mark.contract("B308")
@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"with_": "crsh"}, "no such kind of trouble: 'crsh'"),
        ({"with_": "crash@soon"}, "not a duration: 'soon'"),
        ({"with_": "good@5s"}, "good does not begin at a second"),
        ({"scenario": "none.yaml"}, "none.yaml: No such file"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_line(
    played: Played, manifest: Write, told: dict[str, str], words: str
) -> None:
    """Exit 2, and what there is."""
    flags = {"file": [manifest()], **told}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 2
    assert words in played.err.getvalue()


@pytest.mark.contract("B308")
def test_a_kind_that_the_sandbox_does_not_have_is_named(played: Played, manifest: Write) -> None:
    """With its place, and the list of those that it has."""
    other = "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
    flags = {"file": [manifest(other)], "allow_kind": ["Widget.example.com"]}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 2
    said = played.err.getvalue()
    assert "the sandbox has no Widget (example.com/v1)" in said
    assert "deploy.yaml:14" in said
    assert "ConfigMap" in said


def test_a_manifest_without_a_deployment_has_nothing_to_rehearse(
    played: Played, tmp_path: Any
) -> None:
    """There is nothing that could go wrong."""
    path = tmp_path / "config.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    assert rehearse(played.world, load("rehearse", {"file": [str(path)]}, environ={})) == 2
    assert "nothing to rehearse" in played.err.getvalue()


def test_the_same_rehearsal_twice_says_the_same(played: Played, manifest: Write) -> None:
    """Virtual time has no noise."""
    file = manifest()
    first = rows(played, file, with_="flapping")
    played.out.truncate(0)
    played.out.seek(0)
    assert rows(played, file, with_="flapping") == first


def test_unknown_trouble_is_a_usage_error() -> None:
    """For callers in code, too."""
    from gate.app.rehearsal.trouble import asked_for

    with pytest.raises(UsageError):
        asked_for("nothing-like-it")
