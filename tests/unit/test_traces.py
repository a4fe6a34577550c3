"""The recordings of real rollouts, each judged as what is known of it says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate.cli.main import run

TRACES = Path(__file__).parents[1] / "traces"
EXPECTED: dict[str, dict[str, Any]] = {
    name: row
    for name, row in json.loads((TRACES / "expected.json").read_text()).items()
    if name != "_"
}
ALL = sorted(EXPECTED)


def replay(capsys: pytest.CaptureFixture[str], name: str, *flags: str) -> dict[str, Any]:
    """Return the document that `replay` prints for a recording."""
    arguments = ["replay", str(TRACES / f"{name}.jsonl"), "--output", "json", *flags]
    assert run(arguments) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_every_recording_has_an_expectation() -> None:
    """No recording lies there unjudged, and no expectation without its recording."""
    assert {path.stem for path in TRACES.glob("*.jsonl")} == set(EXPECTED)


@pytest.mark.contract("B270", "B271", "B274")
@pytest.mark.parametrize("name", ALL)
def test_recording_is_judged_as_expected(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict, reason, first cause and time are those that are known of the rollout."""
    expected = EXPECTED[name]
    document = replay(capsys, name, *expected["flags"])
    found = (document["verdict"], document["reason"])
    assert found == (expected["verdict"], expected["reason"])
    if expected["cause"] is not None:
        assert document["causes"][0]["reason"] == expected["cause"]
    if "at" in expected:
        earliest, latest = expected["at"]
        assert earliest <= document["decided_at"] <= latest


@pytest.mark.contract("B272")
def test_replay_says_where_a_rollback_would_go(capsys: pytest.CaptureFixture[str]) -> None:
    """A first deployment has nothing to return to, a second one the first."""
    assert replay(capsys, "first-crashloop")["would_roll_back_to"] is None
    assert replay(capsys, "crashloop")["would_roll_back_to"] == 1


@pytest.mark.contract("B272")
def test_replay_tells_a_new_revision_from_a_change_of_size(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Scaling and applying the same again make no new ReplicaSet."""
    assert not replay(capsys, "scale-only")["new_revision"]
    assert not replay(capsys, "noop")["new_revision"]
    assert replay(capsys, "good-rolling")["new_revision"]
