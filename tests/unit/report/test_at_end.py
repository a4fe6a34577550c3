"""What does not stand as the run left it is said in every report, and what to do about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.report.formats.files import render_result
from gate.report.formats.format import Format
from gate.report.schema.result import AtEnd, Result
from tests.unit.core.leaves import config, manifest
from tests.unit.core.player import serving
from tests.unit.core.world import config_ref
from tests.unit.report.endings import ENDINGS, ReportPlayer, apply_rejected, superseded
from tests.unit.report.results import first_line_of, result_of_player

GONE = "configmap/settings is gone: somebody else deleted it after this run wrote it"


def at_end(result: Result, name: str = "settings") -> tuple[str, AtEnd | None]:
    """Return what was done to an object, and how it stood."""
    return next((o["action"], o["at_end"]) for o in result["objects"] if o["name"] == name)


@pytest.mark.contract("B51", "B175")
def test_an_object_that_was_deleted_is_said_everywhere() -> None:
    """0, because the Deployment runs; and nobody reads "changed" of what is not there."""
    player = ReportPlayer(serving(config("a")), config("b"), manifest("v2"))
    player.run(lambda attempt: config_ref() in attempt.ledger.written)
    player.server.remove(config_ref())
    player.run()
    result = result_of_player(player)
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
    player = apply_rejected()
    (ref,) = player.attempt.ledger.restored
    assert action_on(player, "ConfigMap") == "restored"
    unmoved = player.attempt.ledger.restored.put(ref, player.attempt.ledger.written[ref].after)
    player.attempt = replace(
        player.attempt, ledger=replace(player.attempt.ledger, restored=unmoved)
    )
    assert action_on(player, "ConfigMap") == "kept"


@pytest.mark.contract("B135", "B173")
def test_a_pause_is_a_change_where_the_apply_was_none() -> None:
    """A version that stood already, and fails, is paused: nobody reads "unchanged" of it."""
    player = ENDINGS["paused"]()
    (ref,) = player.attempt.ledger.patched
    written = player.attempt.ledger.written[ref]
    same = replace(written, before=written.after)
    player.attempt = replace(
        player.attempt,
        ledger=replace(player.attempt.ledger, written=player.attempt.ledger.written.put(ref, same)),
    )
    assert action_on(player, "Deployment") == "changed"
    player.attempt = replace(player.attempt, ledger=replace(player.attempt.ledger, patched=()))
    assert action_on(player, "Deployment") == "unchanged"


def action_on(player: ReportPlayer, kind: str) -> str:
    """Return what is said to have been done to the object of a kind."""
    return next(one["action"] for one in result_of_player(player)["objects"] if one["kind"] == kind)


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
    result = result_of_player(superseded())
    one = result["objects"][0]
    for name in names:
        written = {"kind": "ConfigMap", "name": name, "action": action, "at_end": None}
        result["objects"].append({**one, **written})  # type: ignore[typeddict-item]
    first = first_line_of(result)
    assert said in first
    assert ("nothing was written" in first) is (action == "restored")
