"""A run with checks, recorded: it gives no secret away, and is judged again without a server."""

from __future__ import annotations

import io
import json
import textwrap
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pytest
import yaml

from gate.app import entry
from gate.app.rehearsal.stage import Stage, actors_of
from gate.app.rehearsal.trouble import Before
from gate.app.rehearsal.virtual_world import Played
from gate.app.runtime.world import Streams, outside
from gate.config import load
from gate.manifests.load import load as load_manifest
from gate.signals import delivered_to
from sandbox.face import Cluster, Names, Report, Timers, parse_scenario
from tests.unit.app.conftest import Ended
from tests.unit.app.rehearsal.conftest import DEPLOYMENT

CANARY = "s3cr3t-canary"
CHECKS: list[dict[str, Any]] = [
    {
        "name": "errors",
        "query": 'errors{pod=~"${replicaset}-.*"}',
        "max": 0.1,
        "min-samples": {"query": "count(requests)", "min": 20},
    },
    {"name": "slower", "query": 'lat{rs="${replicaset}"}', "compare": {"max-ratio": 1.5}},
    {"name": "smoke", "command": ["true", CANARY], "count": 1, "during": "bake"},
    {"name": "front", "http": {"url": f"https://web.example/health?token={CANARY}"}},
]


@dataclass(frozen=True)
class Recorded:
    """A run that was recorded: its exit code, its document, and where the recording is."""

    code: int
    document: dict[str, Any]
    trace: str


class Recording:
    """Plays runs in sandboxes of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, scenario: str = "{}") -> Recorded:
        """Roll a version out while `scenario` says what is measured, and record it."""
        manifest = self.write("web.yaml", textwrap.dedent(DEPLOYMENT))
        token = self.write("token", CANARY)
        flags = {
            "file": [manifest],
            "namespace": "shop",
            "config": [self.write("gate.yaml", {"checks": CHECKS})],
            "record": str(self._folder / "run.jsonl"),
            "output": "json",
            "prometheus_url": "https://prometheus.example",
            "prometheus_token_file": token,
            "prometheus_header": [f"X-Tenant={token}"],
        }
        settings = load("apply", flags, environ={}, folder=self._folder / "none")
        started = datetime(2026, 1, 1, tzinfo=UTC)
        played = Played.of(Cluster(Timers(started), Names()))
        try:
            stage = Stage(played, tuple(actors_of(load_manifest((manifest,)).objects, "shop")))
            stage.set_up(Before.SERVES)
            stage.play(parse_scenario(scenario, Report("scenario")))
            out = io.StringIO()
            streams = Streams(io.BytesIO(), out, io.StringIO())
            code = stage.run(settings, streams, delivered_to)
            return Recorded(code, json.loads(out.getvalue()), str(settings.record))
        finally:
            played.clock.end()

    def write(self, name: str, content: object) -> str:
        """Write a file: text as it is, anything else as YAML."""
        path = self._folder / name
        path.write_text(content if isinstance(content, str) else yaml.safe_dump(content))
        return str(path)


@pytest.fixture
def record(tmp_path: Path) -> Recording:
    """Return a recorder of runs."""
    return Recording(tmp_path)


class Again(Protocol):
    """Judges recordings by a command; `output` is json unless it is told otherwise."""

    def __call__(self, command: str, trace: object, **options: Any) -> Ended:
        """Return how the command ended."""


@pytest.fixture
def again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Again:
    """Return what judges recordings, without a server."""

    def run(command: str, trace: object, **options: Any) -> Ended:
        settings = load(
            command, {"output": "json", **options}, environ={}, folder=tmp_path / "none"
        )
        code = getattr(entry, command)(outside(), settings, trace)
        return Ended(code, *capsys.readouterr())

    return run


def lines(trace: str, kind: str) -> list[dict[str, Any]]:
    """Return the lines of a recording of one type."""
    found = map(json.loads, Path(trace).read_text().splitlines())
    return [line for line in found if line.get("type") == kind]


@pytest.mark.long
@pytest.mark.contract("B465", "B466", "B467", "B468", "B469")
def test_a_run_that_a_check_failed_is_judged_again(record: Recording, again: Again) -> None:
    """With its reason and its time; and otherwise, where the bounds are others."""
    run = record("checks: {errors: {0s: 0.01, 30s: 0.2}, 'slower:baseline': 0.1}")
    assert (run.code, run.document["reason"]) == (4, "CheckFailed")
    found = again("replay", run.trace).document
    assert (found["verdict"], found["reason"]) == ("failed", "CheckFailed")
    assert found["decided_at"] == pytest.approx(30, abs=0.1)
    assert found["would_roll_back_to"] == 1
    verdicts = {row["name"]: row["verdict"] for row in found["checks"]}
    assert verdicts["errors"] == "fail"
    assert CANARY not in Path(run.trace).read_text()
    measured = {line["object"]["check"] for line in lines(run.trace, "MEASURED")}
    assert measured == {"errors", "slower", "front", "smoke"}

    tolerated = record.write("new.yaml", {"checks": [{**CHECKS[0], "max": 0.5}]})
    turned = again("backtest", (run.trace,), config=[tolerated])
    (row,) = turned.document["recordings"]
    assert (turned.code, row["turned"], row["then"]["verdict"]) == (0, True, "failed")
    assert row["now"]["verdict"] == "complete", "the rollback is not taken for somebody's change"
    assert row["now"]["decided_at"] is None, "what comes then nobody has seen"


@pytest.mark.long
@pytest.mark.contract("B468")
def test_the_bake_window_is_that_of_the_run(record: Recording, again: Again) -> None:
    """What a longer one would ask nobody measured; without checks there is none."""
    slower = [{**check, "interval": 60} for check in CHECKS]
    run = record()
    options = {"config": [record.write("new.yaml", {"checks": slower})]}
    decided = again("replay", run.trace, **options).document["decided_at"]
    assert decided == pytest.approx(again("replay", run.trace).document["decided_at"], abs=0.1)
    none = {"config": [record.write("new.yaml", {"checks": []})]}
    complete_at = again("replay", run.trace, **none).document["decided_at"]
    assert complete_at < decided - 60, "nobody waits for measurements that nobody wants"
    assert again("replay", run.trace, bake="10m").document["decided_at"] is None
