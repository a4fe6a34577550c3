"""What does not stand as the run left it is said in every report, and what to do about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Ref
from gate.report.formats.files import render_result
from gate.report.formats.format import Format
from gate.report.schema.result import AtEnd, Result
from gate.report.style.style import Style
from gate.report.words.headline import headline
from tests.unit.report.cluster import config_map, managed_by, manifest, stored
from tests.unit.report.endings import ENDINGS, apply_rejected, serving, superseded
from tests.unit.report.results import result_of_stage
from tests.unit.report.stage import Stage

SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")
GONE = "configmap/settings is gone: somebody else deleted it after this run wrote it"


def settings(value: str, manager: str = "rollout-gate", version: str = "1") -> LiveObject:
    """Return the ConfigMap as a manager wrote it last."""
    body = config_map("settings", value)
    live = stored(body, "uid-settings", [managed_by(manager, body)])
    return replace(live, resource_version=version)


def rolled_out(at_end: LiveObject | None) -> Result:
    """Roll a ConfigMap and a Deployment out; the ConfigMap is `at_end` by then."""
    web = serving()
    before = settings("old")
    bodies = [config_map("settings", "new"), manifest("web", "shop/web:2")]
    stage = Stage([web], bodies, others=[before])
    stage.others.pop(SETTINGS)
    if at_end is not None:
        stage.others[SETTINGS] = at_end
    web.revision = 2
    web.serving("shop/web:2", 2)
    web.drop("shop/web:1")
    stage.show(5.0)
    return result_of_stage(stage)


def at_end(result: Result, name: str = "settings") -> tuple[str, AtEnd | None]:
    """Return what was done to an object, and how it stood."""
    return next((o["action"], o["at_end"]) for o in result["objects"] if o["name"] == name)


@pytest.mark.contract("B51", "B175")
def test_an_object_that_was_deleted_is_said_everywhere() -> None:
    """0, because the Deployment runs; and nobody reads "changed" of what is not there."""
    result = rolled_out(None)
    assert (result["outcome"], result["exit_code"]) == ("verified", 0)
    nothing = {"state": "deleted", "managers": [], "fields": [], "finalizers": []}
    assert at_end(result) == ("gone", nothing)
    assert at_end(result, "web")[1] == {**nothing, "state": "as-written"}
    assert result["warnings"][0] == GONE
    for form in (Format.TEXT, Format.MARKDOWN, Format.HTML):
        assert GONE in " ".join(render_result(form, result).split())
    text = render_result(Format.TEXT, result)
    assert "gone      configmap/settings" in text
    assert "configmap/settings: find out who did that" in text
    assert "| gone | `does not exist` |" in render_result(Format.MARKDOWN, result)
    assert "<td>gone</td><td>does not exist</td>" in render_result(Format.HTML, result)


@pytest.mark.contract("B140", "B173")
def test_an_object_of_which_nothing_returned_is_kept() -> None:
    """Others own all its fields, too: the apply that restores it leaves them all as they are."""
    stage = apply_rejected()
    (ref,) = stage.attempt.ledger.restored
    assert action_on(stage, "ConfigMap") == "restored"
    unmoved = stage.attempt.ledger.restored.put(ref, stage.attempt.ledger.written[ref].after)
    stage.attempt = replace(stage.attempt, ledger=replace(stage.attempt.ledger, restored=unmoved))
    assert action_on(stage, "ConfigMap") == "kept"


@pytest.mark.contract("B135", "B173")
def test_a_pause_is_a_change_where_the_apply_was_none() -> None:
    """A version that stood already, and fails, is paused: nobody reads "unchanged" of it."""
    stage = ENDINGS["paused"]()
    (ref,) = stage.attempt.ledger.patched
    written = stage.attempt.ledger.written[ref]
    same = replace(written, before=written.after)
    stage.attempt = replace(
        stage.attempt,
        ledger=replace(stage.attempt.ledger, written=stage.attempt.ledger.written.put(ref, same)),
    )
    assert action_on(stage, "Deployment") == "changed"
    stage.attempt = replace(stage.attempt, ledger=replace(stage.attempt.ledger, patched=()))
    assert action_on(stage, "Deployment") == "unchanged"


def action_on(stage: Stage, kind: str) -> str:
    """Return what is said to have been done to the object of a kind."""
    return next(one["action"] for one in result_of_stage(stage)["objects"] if one["kind"] == kind)


@pytest.mark.contract("B27")
@pytest.mark.parametrize(
    ("action", "names", "said"),
    [
        ("restored", "", "nothing was written after that"),
        ("restored", "a", "nothing was written once that was seen; configmap/a was returned"),
        ("restored", "ab", "once that was seen; configmap/a, configmap/b were returned before"),
        ("deleted", "ab", "this run deleted configmap/a, configmap/b, which it had created"),
    ],
)
def test_what_was_written_beside_somebody_elses_change_is_named(
    action: str, names: str, said: str
) -> None:
    """Nobody can tell whether their change was made already; a deletion is a write, too."""
    result = result_of_stage(superseded())
    one = result["objects"][0]
    for name in names:
        written = {"kind": "ConfigMap", "name": name, "action": action, "at_end": None}
        result["objects"].append({**one, **written})  # type: ignore[typeddict-item]
    first = " ".join(line.strip() for line in headline(result, Style(width=200)))
    assert said in first
    assert ("nothing was written" in first) is (action == "restored")
