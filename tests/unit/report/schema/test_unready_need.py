"""What the next write needed and was not ready: a value, which documents of before had in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from gate.core.attempt.transitions import State
from gate.core.model.objects import CleanText
from gate.core.model.outcome import Outcome
from gate.core.model.readiness import Readiness, ReadinessKind
from gate.core.plan.leg import Leg
from gate.core.protocol.effects import Read, SaveRecord, Write
from gate.core.protocol.events import ContactLost
from gate.core.rollout.policy import Policy
from gate.report.advice.next_steps import next_steps
from gate.report.document.document import document
from gate.report.formats.text import verdict_text
from gate.report.schema.reading import result_of
from gate.report.schema.recorded_result import recorded_end, with_recorded_end
from gate.report.schema.result import Result
from gate.report.style.style import Style
from gate.wire import packed
from gate.wire.record import fitting, read_record
from tests.unit.core.leaves import config, manifest, ref_of
from tests.unit.core.player import Player, planned, serving
from tests.unit.core.recovery.test_resumption import finished
from tests.unit.report.results import RUN, example
from tests.unit.report.words.test_half_applied import TWO, cut_off
from tests.unit.report.words.test_half_applied import serving as two_deployments

FILE, STYLE = Path("result.json"), Style(width=1000)
NEED = "configmap/definition"
TAKEN = Readiness(ReadinessKind.FAILED, CleanText("NamesAccepted is False: taken"))
KINDS = ("workload", "alone", "observed", "nothing-written")


def needing(kind: str = "workload") -> Player:
    """Return an apply of a definition whose name is taken, and of an object that needs it."""
    is_same = kind == "nothing-written"
    need, widget = config("1", "definition"), config("1", "widget")
    server = serving(config("1"), *([need] if is_same else []))
    server.readiness[ref_of(need)] = TAKEN
    bodies = (config("1" if is_same else "2"), need, widget)
    beside = () if kind == "alone" else (manifest("v2"),)
    needs = {ref_of(widget): (ref_of(need),)}
    policy = Policy(observe=kind == "observed")
    return Player(server, planned(server, *bodies, *beside, needs=needs, policy=policy))


def result(player: Player) -> Result:
    """Return the document of the attempt, which is played to its end."""
    return document(player.run(), RUN)


def as_before(found: Result) -> dict[str, Any]:
    """Return the document as a version wrote it that had the name in sentences alone."""
    old: dict[str, Any] = json.loads(json.dumps(found))
    del old["unready_need"]
    for cause in (cause for one in old["workloads"] for cause in one["causes"]):
        cause["subject"] = ""
    return old


@pytest.mark.contract("B1810", "B1060")
@pytest.mark.parametrize("kind", KINDS)
def test_the_advice_names_what_was_needed_whatever_a_sentence_reads(kind: str) -> None:
    """Also where nothing was written, and where the first words say what was not done."""
    found = result(needing(kind))
    assert found["unready_need"] == NEED
    found["message"] = "other: words"
    for cause in (cause for one in found["workloads"] for cause in one["causes"]):
        cause["message"] = "other: words"
    (step,) = next_steps(found)
    assert f"the controller of {NEED}: the next write needs it" in step.text


@pytest.mark.contract("B1810")
@pytest.mark.parametrize("is_old", [False, True], ids=["now", "before"])
@pytest.mark.parametrize("kind", ["workload", "alone"])
def test_a_recovery_names_what_the_dead_gate_needed(kind: str, is_old: bool) -> None:
    """Its record has it, as it stands in the Lease, also that of an earlier version."""
    player = needing(kind)
    player.run_to(State.WRITING, Leg.BACK)
    text, _ = fitting(player.asked(SaveRecord)[-1].record)
    found = result(finished(player.server, read_record(of_before(text) if is_old else text)))
    assert (found["outcome"], found["unready_need"]) == (Outcome.ROLLED_BACK, NEED)


def of_before(text: str) -> str:
    """Return a record as a gate wrote it that had the name in a message alone."""

    def without_subjects(value: Mapping[str, Any]) -> Mapping[str, Any]:
        for cause in value["why"]:
            cause.pop("subject", None)
        return value

    return packed.pack(packed.unpack(text, without_subjects))


@pytest.mark.contract("B1810")
def test_a_server_that_goes_away_on_the_way_back_comes_first() -> None:
    """What was needed is a cause of that end, and no step to take before the recovery."""
    player = needing()
    player.run_to(State.WRITING, Leg.BACK)
    player.hold = (Write, Read)
    player.hear(ContactLost(player.attempt.now, "gone", 100.0))
    found = result(player)
    subjects = [cause["subject"] for one in found["workloads"] for cause in one["causes"]]
    assert (found["outcome"], subjects) == (Outcome.LOST_CONTACT, [NEED])
    assert found["unready_need"] == ""


@pytest.mark.contract("B1810", "B775")
@pytest.mark.parametrize("kind", ["workload", "alone", "observed"])
def test_a_document_of_before_has_the_name_in_its_sentence(kind: str) -> None:
    """It is read as it was, and so is a recording of before."""
    found = result(needing(kind))
    shown = verdict_text(result_of(json.loads(json.dumps(found)), FILE), STYLE)
    assert NEED in shown
    assert verdict_text(result_of(as_before(found), FILE), STYLE) == shown
    end = recorded_end(as_before(found))  # type: ignore[arg-type]
    again = result_of(with_recorded_end(example("rolled-back"), end), FILE)
    assert again["unready_need"] == NEED


@pytest.mark.contract("B1810")
def test_a_refused_write_of_before_is_nothing_that_was_needed() -> None:
    """Its name stands first in the sentence, too."""
    found = document(cut_off(two_deployments("web", "api"), *TWO, after=2).attempt, RUN)
    assert (found["reason"], found["unready_need"]) == ("ApplyRejected", "")
    assert result_of(as_before(found), FILE)["unready_need"] == ""
