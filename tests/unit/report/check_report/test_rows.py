"""How checks are told at the end: the document's rows, and the lines that a person reads."""

from __future__ import annotations

import html as html_module
import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from gate.core.checks.questions import Answers, Errored, Samples
from gate.core.checks.spec import Check, ComparedPods, Counts, During, Schedule
from gate.core.kinds.deployment.objects import ReplicaSet
from gate.core.model.objects import Pod, Ref
from gate.core.protocol.effects import Ask
from gate.core.rollout.policy import Budgets, OnFailure, Policy, Response
from gate.report.check_report.rows import check_lines
from gate.report.document.document import document
from gate.report.formats.files import render_result
from gate.report.formats.format import Format
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.result import Result
from gate.report.style.style import Style
from tests.table import each
from tests.unit.core.checks.count_looks import both, counts, samples
from tests.unit.core.checks_world import a_check, answer, metric, query, unreachable
from tests.unit.core.leaves import manifest
from tests.unit.core.server import Server
from tests.unit.report.endings import ReportPlayer, run_of

OLD_POD = "web-1-p0"
NOON = "2026-11-21T12:00:00Z"
Measure = Callable[[Ask], Answers | Errored]


class Aging(Server):
    """A server that has v1, whose pods were created at noon, but for an old one that is left."""

    def __init__(self, left_since: str = "") -> None:
        super().__init__()
        self.left: tuple[Pod, ...] = ()
        _, pods = self.parts(self.put(manifest("v1")))
        if left_since:
            self.left = (replace(pods[0], created_at=left_since),)

    def parts(self, ref: Ref) -> tuple[tuple[ReplicaSet, ...], tuple[Pod, ...]]:
        """Return the ReplicaSets and pods of a Deployment."""
        sets, pods = super().parts(ref)
        return sets, (*(replace(one, created_at=NOON) for one in pods), *self.left)


def rolled_out(measure: Measure, *checks: Check, bake: float, left_since: str = "") -> Result:
    """Return the document of a good rollout, through its bake window."""
    policy = Policy(
        checks=checks,
        budgets=Budgets(bake_seconds=bake),
        response=Response(on_failure=OnFailure.KEEP),
    )
    player = ReportPlayer(Aging(left_since), manifest("v2"), policy=policy)
    player.measure = measure
    player.run()
    return document(player.attempt, run_of(player))


def measuring(*values: float | None) -> Measure:
    """Answer with these numbers, None for an error; with the last one again and again."""
    left = list(values)

    def measure(_: Ask) -> Answers | Errored:
        value = left.pop(0) if len(left) > 1 else left[0]
        return unreachable() if value is None else answer(value)

    return measure


ROW: CheckResult = {
    "name": "errors",
    "source": "prometheus",
    "verdict": "fail",
    "required": True,
    "measurements": 3,
    "failures": 1,
    "errors": 0,
    "last_value": 0.9,
    "message": "0.9 is not <= 0.5",
    "output": "",
    "comparison": None,
}


@pytest.mark.contract("B460")
@pytest.mark.parametrize(
    ("values", "fields"),
    [
        ((0.1, 0.1, 0.9), ROW),
        ((0.1,), {"verdict": "pass", "last_value": 0.1, "failures": 0}),
        *(((odd,), {"verdict": "inconclusive", "last_value": None}) for odd in (math.nan, None)),
        ((math.inf,), {"verdict": "inconclusive", "last_value": None}),
    ],
)
def test_a_check_is_a_row_with_its_number(
    values: tuple[float | None, ...], fields: dict[str, Any]
) -> None:
    """The value that decided and how often it was measured; what JSON cannot hold is null."""
    check = a_check() if values[0] == 0.1 else a_check(metric(least=0.0, most=None))
    (row,) = rolled_out(measuring(*values), check, bake=30.0)["checks"]
    assert row.items() >= fields.items()


def compared(new: int, old: int, old_pod_since: str = "", **how: Any) -> CheckResult:
    """Return the row of a comparison whose window has twelve looks."""
    (found,) = counting(new, old, old_pod_since=old_pod_since, **how)["checks"]
    return found


def counting(
    new: int,
    old: int,
    *more: Check,
    values: Iterable[float] = (0.0,),
    old_pod_since: str = "",
    looks: float = math.inf,
    **how: Any,
) -> Result:
    """Return the document of a rollout in which each version counts so many of a hundred a look.

    Other checks are answered by `values`, and after so many looks nobody answers.
    """
    probe = counts(**how).probe
    assert isinstance(probe, Counts)
    same = replace(probe, bad=query("bad"), total=query("total"))
    check = Check("errors", same, Schedule(10.0, 30.0, during=During.BAKE))
    others = measuring(*values)

    def measure(ask: Ask) -> Answers | Errored:
        look = ask.tick.number
        if ask.check != check.name:
            return others(ask)
        if look > looks:
            return unreachable()
        of_new, of_old = (samples(share * look, 100 * look) for share in (new, old))
        series = tuple(replace(each, pod=OLD_POD) for each in of_old.series)
        return both(of_new, Samples(of_old.form, series))

    return rolled_out(measure, check, *more, bake=145.0, left_since=old_pod_since)


@pytest.mark.contract("B1212")
@pytest.mark.parametrize("form", [each for each in Format if each is not Format.DOTENV], ids=str)
@pytest.mark.parametrize(("new", "old"), [(9, 1), (3, 2), (0, 1)], ids=["fail", "open", "pass"])
def test_every_form_says_what_was_compared(form: Format, new: int, old: int) -> None:
    """Both exposures, the ratio, its interval, and what could have been shown, however it ended."""
    result = counting(new, old)
    found = result["checks"][0]["comparison"]
    assert found is not None
    assert found["high"] is not None
    assert found["detectable"] is not None
    shown = " ".join(html_module.unescape(render_result(form, result)).split())
    for number in (found["ratio"], found["low"], found["high"], found["detectable"]):
        assert (f"{number}" if form is Format.JSON else f"{number:.3g}") in shown
    for side in (found["new"], found["old"]):
        asked = f"{side['bad']:.0f} of {side['total']:,.0f}"
        assert (f'"total": {side["total"]}' if form is Format.JSON else asked) in shown


@pytest.mark.contract("B1212")
def test_a_comparison_that_was_cut_short_has_its_figures() -> None:
    """Another check ended the run in the middle."""
    late = replace(a_check(metric(most=0.5)), name="late")
    result = counting(1, 1, late, values=[0.1] * 13 + [0.9])
    (found, _) = result["checks"]
    assert found["verdict"] == "undecided"
    assert found["comparison"] is not None
    for number in (found["comparison"]["low"], found["comparison"]["detectable"]):
        assert f"{number:.3g}" in found["message"]


@pytest.mark.contract("B1159")
def test_a_comparison_that_had_passed_has_though_another_check_ends_the_run() -> None:
    """A pass by counts does not grow old."""
    late = replace(a_check(metric(most=0.5)), name="late")
    result = counting(1, 10, late, values=[0.1] * 13 + [0.9])
    assert [one["verdict"] for one in result["checks"]] == ["pass", "fail"]


@pytest.mark.contract("B1156", "B1451")
def test_a_comparison_has_its_counts_and_its_interval() -> None:
    """By the tests that decided, with what the traffic could have shown; null without looks."""
    found = compared(3, 2)
    assert found["verdict"] == "inconclusive"
    assert found["comparison"] is not None
    assert found["comparison"]["new"] == {"bad": 33.0, "total": 1100.0}
    assert found["comparison"]["old"] == {"bad": 22.0, "total": 1100.0}
    assert found["comparison"]["ratio"] == pytest.approx(1.5)
    assert found["comparison"]["low"] < 1.25
    assert (found["comparison"]["high"] or 0) > 2
    assert 1.5 < (found["comparison"]["detectable"] or 0) < 4
    assert "33 of 1,100 bad, of the old version 22 of 1,100" in found["message"]
    assert found["comparison"]["why_undecided"]
    assert found["message"].startswith(f"{found['comparison']['why_undecided']}: 33 of 1,100 bad")
    assert found["comparison"]["compared"] == {
        "new": found["comparison"]["new"],
        "old": found["comparison"]["old"],
    }
    failed = compared(5, 1)["comparison"]
    assert failed is not None
    assert (failed["low"] > 1.25, failed["why_undecided"]) == (True, "")
    silent = compared(3, 2, looks=5)
    assert silent["comparison"] is not None
    assert "errors in a row" in silent["message"]
    assert silent["comparison"]["why_undecided"] == silent["message"]
    unseen = compared(0, 0)["comparison"]
    assert unseen is not None
    assert (unseen["ratio"], unseen["high"], unseen["detectable"]) == (None, None, None)


@pytest.mark.contract("B1206", "B1208")
@each(
    ("old_pod_since", "verdict", "pods", "total"),
    [
        ("2026-11-21T12:00:50Z", "fail", [OLD_POD], 900),
        ("2026-11-21T11:00:00Z", "inconclusive", [], 0),
    ],
)
def test_a_comparison_says_with_which_pods(
    old_pod_since: str, verdict: str, pods: list[str], total: float
) -> None:
    """With fresh ones of the old version, if that is asked for; in a whole rollout."""
    found = compared(9, 2, old_pod_since, compared_pods=ComparedPods.FRESH)
    assert found["comparison"] is not None
    assert found["verdict"] == verdict
    assert (found["comparison"]["baseline"], found["comparison"]["fresh_pods"]) == ("fresh", pods)
    assert found["comparison"]["old"]["total"] == total
    words = "of 1 fresh old pod 18 of 900" if pods else "no old pod was started within 60s"
    assert words in found["message"]
    every = compared(3, 2, old_pod_since)["comparison"]
    assert every is not None
    assert (every["baseline"], every["fresh_pods"], every["old"]["total"]) == ("all", [], 1100)


def row(name: str, verdict: str, message: str = "", **over: Any) -> CheckResult:
    """Return a row."""
    found: Any = ROW | {"name": name, "verdict": verdict, "message": message, "measurements": 1}
    result: CheckResult = found | {"failures": int(verdict == "fail"), "last_value": None} | over
    return result


def test_of_many_checks_the_bad_ones_are_told() -> None:
    """Four lines whatever their number, and nothing that passed hides what did not."""
    rows = [row(f"good-{at}", "pass") for at in range(7)]
    rows += [row("lost", "inconclusive", "no series"), row("bad", "fail", "2 is not <= 1")]
    assert check_lines(rows, Style()) == [
        "✗ bad: 2 is not <= 1; 1 of 1 measurements failed",
        "! lost: no series; measured once",
        "✓ 7 passed: good-0, good-1, good-2, good-3 and 3 more",
    ]
    bad = [row(f"bad-{at}", "fail", "2 is not <= 1") for at in range(9)]
    assert check_lines(bad, Style())[-1] == "! 6 more: bad-3, bad-4, bad-5, bad-6 and 2 more"
    assert len(check_lines(bad, Style())) == 4


@pytest.mark.contract("B776")
def test_a_check_that_was_asked_is_not_called_not_measured() -> None:
    """A command that ended with 75 ran: it gave no answer to judge."""
    smoke = row("smoke", "inconclusive", "last: exit 75", measurements=0, errors=2)
    (line,) = check_lines([smoke], Style())
    assert "smoke: last: exit 75; asked 2 times, without an answer to judge" in line
