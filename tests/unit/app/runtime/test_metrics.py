"""When metrics are delivered, in which time, and what a fault of theirs leaves untouched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.app.runtime.console import Console
from gate.app.runtime.metrics import with_metrics
from gate.app.runtime.metrics_delivery import Delivery
from gate.app.runtime.world import World, outside
from gate.config import Settings
from gate.metrics.pushgateway import Groups, Pushed, Pushgateway
from gate.metrics.run import About, Place, RunMetrics
from gate.virtual_time import VirtualClock
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Gate
from tests.unit.app.server import Server
from tests.unit.report.endings import ENDINGS

Pushes = list[tuple[Groups, float]]
GATEWAY = "http://gateway.example:9091"


@pytest.fixture
def pushes(monkeypatch: pytest.MonkeyPatch) -> Pushes:
    """Return the pushes that come, with the seconds that each may take; nothing is sent."""
    came: Pushes = []

    def push(_: Pushgateway, groups: Groups, seconds: float) -> Pushed:
        came.append((groups, seconds))
        return Pushed()

    monkeypatch.setattr(Pushgateway, "push", push)
    return came


def delivered(ending: str, late_seconds: float) -> Delivery:
    """Return the delivery of a run whose attempt ended so, that long after a signal to it."""
    attempt = ENDINGS[ending]().attempt
    clock = VirtualClock(min(attempt.interference.interrupted_at, attempt.now))
    world = replace(outside(), clock=clock)
    settings = Settings.of({"pushgateway": GATEWAY})
    run = RunMetrics(About("apply", "1.2.3"), clock)
    console = Console(clock, lambda _announce, _at: None, "apply")
    delivery = Delivery(world, settings, console, run)
    delivery.on_step(replace(attempt, now=clock.now()))
    clock.advance_to(clock.now() + late_seconds)
    return delivery


@pytest.mark.contract("B616")
@pytest.mark.parametrize(
    ("ending", "late_seconds", "seconds"),
    [
        ("verified", 0.0, 3.0),
        ("verified", 60.0, 3.0),
        ("interrupted", 0.5, 3.0),
        ("interrupted", 3.5, 1.5),
        ("interrupted", 4.75, 0.25),
        ("interrupted", 6.0, -1.0),
    ],
)
def test_a_push_may_take_three_seconds_or_what_a_signal_leaves(
    pushes: Pushes, ending: str, late_seconds: float, seconds: float
) -> None:
    """Five seconds after a signal all is over, with or without metrics."""
    delivered(ending, late_seconds).deliver()
    [(_, given)] = pushes
    assert given == pytest.approx(seconds)


@pytest.mark.contract("B614", "B615")
def test_what_is_pushed_stands_under_its_deployment(
    gate: Gate, server: Server, pushes: Pushes
) -> None:
    """And it is known what the cluster has in those namespaces."""
    server.put(web(name="old"))
    ended = gate.apply(web(), web(name="api"), pushgateway=GATEWAY)
    assert (ended.code, ended.document["outcome"]) == (0, "verified"), ended.err
    [(groups, _)] = pushes
    assert set(groups.texts) == {
        Place("shop", "Deployment", "web"),
        Place("shop", "Deployment", "api"),
    }
    for (_, _, name), text in groups.texts.items():
        assert text is not None
        labels = f'deployment="{name}"', f'workload="{name}"', 'workload_kind="Deployment"'
        lines = [line for line in text.decode().splitlines() if not line.startswith("#")]
        assert lines
        assert all(label in line for line in lines for label in labels)
    assert groups.existing is not None
    assert "old" in groups.existing.names["shop", "Deployment"]


@pytest.mark.contract("B614")
def test_a_deployment_that_somebody_deleted_has_no_group() -> None:
    """It is gone, and so is what would stand of it for ever."""
    delivery = delivered("removed", 0.0)
    assert set(delivery._texts().values()) == {None}


@pytest.mark.contract("B618")
@pytest.mark.parametrize(
    "options", [{}, {"pushgateway": GATEWAY, "dry_run": True}, {"metrics_listen": None}]
)
def test_a_run_that_nobody_measures_is_left_as_it_is(options: dict[str, Any]) -> None:
    """It has the same world."""
    world: World = outside()
    assert with_metrics(world, Settings.of(options), "apply") is world


@pytest.mark.contract("B617")
@pytest.mark.parametrize("broken", ["on_step", "deliver", "listen"])
def test_a_bug_of_metrics_changes_no_verdict(
    gate: Gate, monkeypatch: pytest.MonkeyPatch, broken: str, tmp_path: Path
) -> None:
    """Nor the document; it is a warning that says where."""

    def fail(*_: object) -> None:
        raise KeyError("sesame")

    monkeypatch.setattr(Delivery, broken, fail)
    file = str(tmp_path / "gate.prom")
    ended = gate.apply(web(), metrics_textfile=file)
    assert (ended.code, ended.document["outcome"]) == (0, "verified"), ended.err
    assert "metrics: KeyError in test_metrics.py:" in ended.err
    assert "sesame" not in ended.err


@pytest.mark.contract("B617", "B618")
def test_a_refusal_before_anything_is_known_is_in_the_file_and_in_no_group(
    here: Gate, pushes: Pushes, tmp_path: Path
) -> None:
    """Nobody can tell whose group it would be."""
    file = tmp_path / "gate.prom"
    options = {"metrics_textfile": str(file), "pushgateway": GATEWAY}
    assert here("apply", file=["nowhere.yaml"], **options).code == 2
    assert 'deployment="",namespace="",outcome="usage",' in file.read_text()
    [(groups, _)] = pushes
    assert set(groups.texts) == {Place("")}
