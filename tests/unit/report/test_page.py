"""The page: what it shows, and that its drawing is that of the samples."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.report.formats.markdown import markdown
from gate.report.html import html
from gate.report.html.chart import MOST_CHARTS, charts
from gate.report.html.comparison_plot import TOP, comparison_plots
from gate.report.html.lanes import check_lane, clock_lane, pod_lane
from gate.report.html.scale import Scale, time_ticks
from gate.report.schema.check_verdict import CountedResult
from gate.report.schema.course import CheckHistory, PodCounts, PodHistory, PodSample
from gate.report.schema.result import Result, WorkloadResult
from gate.report.words.comparison import ratio_words
from tests.table import each
from tests.unit.report.results import MEASURED, every, example, with_checks, workload_result

X = Scale(0.0, 100.0, 0.0, 1000.0)


@pytest.mark.contract("B564")
def test_the_page_is_small_for_many_pods() -> None:
    """Fifty pods, each of which says something else."""
    result = with_checks("rolled-back")
    one = result["workloads"][0]
    piece, tree = one["evidence"][0], one["trees"][0]
    one["evidence"] = [{**piece, "text": f"{n} " + "w" * 4000} for n in range(10)]
    pods = [f"pod/web-2-{n}: CrashLoopBackOff; " + "w" * 300 for n in range(50)]
    tree["revisions"][0]["pods"] = pods
    lines = result["timeline"]
    result["timeline"] = [{**lines[n % len(lines)], "at_seconds": n / 40} for n in range(500)]
    (history,) = result["history"]["pods"]
    history["samples"] = [sample_at(n / 10, ready=n % 50) for n in range(120)]
    assert len(html(result).encode()) < 300 * 1024


@pytest.mark.contract("B565")
@each("result", every(), ids=lambda result: f"{result['outcome']}")
def test_every_ending_has_its_page(result: Result) -> None:
    """With the outcome as its title, no number that is none, and all marks within the drawing."""
    page = html(result)
    title = re.search("<title>(.*?)</title>", page)
    assert title is not None
    assert title[1].startswith(result["outcome"].replace("-", " ").upper())
    assert not re.search(r"\b(nan|inf|None)\b", page)
    for chart in charts(result):
        assert all(168 <= mark.x <= 940 for mark in chart.marks)
        assert all(lane.top >= chart.top for lane in chart.lanes)
        assert {mark.row for mark in chart.marks} <= {0, 1, 2}


def test_the_deployment_that_decided_comes_first() -> None:
    """And of very many not each has a chart."""
    result = example("two-deployments")
    assert charts(result)[0].title == "deployment/web over time"
    (history, _) = result["history"]["pods"]
    result["history"]["pods"] = [{**history, "name": f"a{n}"} for n in range(20)]
    assert len(charts(result)) == MOST_CHARTS


@pytest.mark.contract("B1402")
def test_of_several_workloads_each_chart_is_named_and_stands_in_the_order_of_their_parts() -> None:
    """What was not written has none, a Job has no old version, and the key stands there once."""
    result = example("two-deployments")
    first, second = result["history"]["pods"]
    job: WorkloadResult = {**result["workloads"][1], "kind": "Job", "name": "smoke"}
    unwritten = workload_result(Outcome.REFUSED, Reason.SIBLING_FAILED, "none", "late")
    unwritten["changed"], unwritten["new"]["name"] = False, ""
    result["workloads"] += [job, unwritten]
    none: PodCounts = {"ready": 0, "starting": 0, "failing": 0, "terminating": 0}
    empty: PodSample = {**first["samples"][0], "new": none, "old": none}
    late: PodHistory = {**first, "name": "late", "samples": [empty]}
    result["history"]["pods"] = [late, second, {**second, "kind": "Job", "name": "smoke"}, first]
    assert [chart.lanes[0].title for chart in charts(result)] == ["new version"] * 2 + ["pods"]
    assert [len(chart.lanes) for chart in charts(result)] == [3, 3, 2]
    page = html(result)
    named = re.findall("<h3>(.*?) over time</h3>", page)
    parts = re.findall("</span> (.*?) <small>in ", page)
    assert named == [name for name in parts if name != "deployment/late"]
    assert len(named) == 3
    assert page.count("Clocks, as shares of their limits") == 1


@pytest.mark.contract("B1473")
def test_a_workload_that_kept_its_version_has_one_lane_of_pods() -> None:
    """They are those from before, whichever version they counted for; the table has one row."""
    result = example("unchanged")
    (history,) = result["history"]["pods"]
    before, after = sample_at(0), sample_at(2, ready=2)
    before["old"], before["wanted"], after["wanted"] = after["new"], 2, 2
    history["samples"] = [before, after]
    (chart,) = charts(result)
    assert [lane.title for lane in chart.lanes] == ["pods", "clocks"]
    (ready,) = chart.lanes[0].areas
    assert len(set(re.findall(r"[\d.]+,([\d.]+)", ready.path))) == 2, "one height from start to end"
    assert "pods wanted 2, ready 2." in chart.caption
    page, text = html(result), markdown(result)
    assert re.findall(r'<th scope="row">(\w+)</th>', page)[:1] == ["unchanged"]
    assert "Runs now: the version before, unchanged: revision 1" in page
    assert "- runs now: the version before, unchanged\\: revision 1" in text
    assert "- unchanged: " in text
    assert "new version" not in page + text


@pytest.mark.contract("B1519")
def test_what_the_tables_leave_out_is_said_beside_them() -> None:
    """Why a value is masked, which number a revision had, and whose images the nodes ran."""
    result = example("rolled-back")
    (workload,) = result["workloads"]
    workload["new"]["image_ids"] = ["shop/web@sha256:1"]
    page, text = html(result), markdown(result)
    assert "<td>3 (was 1)</td>" in page
    assert "images of the new version, as the nodes ran them: shop/web@sha256:1" in page
    why = "the value may be secret, as any of a ConfigMap may, so no report shows it"
    assert (why in page, why in text) == (True, True)
    for one in result["objects"]:
        one["changes"] = [each for each in one["changes"] if each["before"] != "masked"]
    assert (why in html(result), why in markdown(result)) == (False, False)


def test_without_samples_there_is_no_chart() -> None:
    """A run that was refused."""
    result = example("verified")
    result["history"] = {"pods": [], "checks": []}
    assert charts(result) == []
    assert "What happened" not in html(result)


# -- comparisons by counts -------------------------------------------------------------------------


@pytest.mark.contract("B1211")
def test_a_comparison_is_plotted_with_what_decides_it() -> None:
    """The measured ratios, the band around them, three lines across, and the moment that decided.

    Ratios stand on a logarithmic scale: as far from 1 to 2 as from 2 to 4.
    """
    (plot,) = comparison_plots(with_checks("rolled-back"))
    assert [(rule.kind, rule.label) for rule in plot.rules] == [
        ("same", "as before 1"), ("tolerated", "tolerated 1.25"), ("harm", "harm 2"),
    ]  # fmt: skip
    same, tolerated, harm = (rule.at for rule in plot.rules)
    (_, four), last = plot.curve.dots
    assert last == (940.0, four), "a look without a ratio has no dot, and the last is at the end"
    assert same - harm == pytest.approx(harm - four, abs=0.2)
    lows, highs = ([float(y) for _, y in pairs(end)] for end in plot.curve.ends)
    assert (lows[0], highs[0]) == (plot.bottom, TOP), "where nothing is known the band is all"
    assert lows[-1] < tolerated < lows[-2], "it fails once the band is above what is tolerated"
    assert plot.decision is not None
    assert (plot.decision.x, plot.decision.label, plot.decision.kind) == (940.0, "failed 9s", "bad")
    labels = sorted(rule.label_at for rule in plot.rules)
    assert all(after - before >= 12 for before, after in itertools.pairwise(labels))


def pairs(path: str) -> list[tuple[str, ...]]:
    """Return the points of a path."""
    return [tuple(point.split(",")) for point in path.strip("MZ").split("L")]


@pytest.mark.contract("B1211", "B1538")
def test_a_plot_is_told_in_words() -> None:
    """Once, for who does not see it, and beside it for everybody; it is not a lane as well."""
    result = with_checks("rolled-back")
    page = html(result)
    (plot,) = comparison_plots(result)
    assert plot.caption == (
        "failed after 9s: more than 1.25 times the old rate. At the last look, after 9s: new 36 of"
        " 900 bad, old 9 of 900 bad, 4 times the old rate, likely 1.52 to 16.2, with this traffic"
        " 2.39 times as bad fails four times in five."
    )
    assert plot.caption in page
    comparison = result["checks"][-1]["comparison"]
    assert comparison is not None
    comparison["baseline"], comparison["fresh_pods"] = "fresh", ["web-1-a", "web-1-b"]
    (fresh,) = comparison_plots(result)
    assert fresh.figures[1] == "new 36 of 900 bad, old (2 fresh pods) 9 of 900 bad"
    bad: CountedResult = {"bad": 30.0, "total": 700.0}
    comparison["compared"] = {"new": bad, "old": {"bad": 9.0, "total": 700.0}}
    (partly,) = comparison_plots(result)
    assert partly.figures[1].endswith("9 of 900 bad; while both served 30 of 700 against 9 of 700")
    comparison["compared"] = {"new": bad, "old": {"bad": 0.0, "total": 700.0}}
    comparison["ratio"] = None
    assert "no ratio: the old version had no bad one while both served" in ratio_words(comparison)
    nothing: CountedResult = {"bad": 0.0, "total": 0.0}
    comparison["compared"] = {"new": nothing, "old": nothing}
    assert "no ratio: no look saw both versions" in ratio_words(comparison)
    assert all(f"<li>{said}</li>" in page for said in plot.figures)
    assert "against before" not in [lane.title for chart in charts(result) for lane in chart.lanes]


@pytest.mark.contract("B1211")
@each(
    ("decided_at", "verdict", "ratio", "high", "says"),
    [
        (6.0, "pass", 0.5, 1.2, "passed after 6s: less than 2 times the old rate"),
        (6.0, "undecided", 0.5, 1.2, "passed after 6s: less than 2 times the old rate"),
        (6.0, "pass", None, None, "passed after 6s: the new rate is negligible, below 0.1 %"),
        (None, "inconclusive", 4.0, 22.0, "not decided: 7 looks, of at least 9. At the last look"),
        (None, "undecided", 500.0, None, "not decided: 7 looks, of at least 9"),
    ],
)
def test_any_comparison_has_a_plot(
    decided_at: float | None, verdict: str, ratio: float | None, high: float | None, says: str
) -> None:
    """Also one without a ratio, without an upper end, and with ratios far beyond its scale."""
    result = with_checks("rolled-back")
    row, history = result["checks"][-1], result["history"]["checks"][-1]["comparison"]
    assert history is not None
    assert row["comparison"] is not None
    row["verdict"], row["comparison"]["ratio"], row["comparison"]["high"] = verdict, ratio, high
    row["comparison"]["why_undecided"] = "7 looks, of at least 9"
    history["decided_at_seconds"] = decided_at
    for sample in history["samples"]:
        sample["ratio"], sample["high"], sample["low"] = ratio, high, 0.0
    (plot,) = comparison_plots(result)
    assert plot.caption.startswith(says)
    assert (plot.decision is None) is (decided_at is None)
    assert all(TOP <= y <= plot.bottom for _, y in plot.curve.dots)
    history["harm"] = 1e308
    assert not re.search(r"\b(nan|inf|None)\b", html(result))


# -- lanes -----------------------------------------------------------------------------------------


def sample_at(at: float, *, ready: int = 0, failing: int = 0) -> PodSample:
    """Return a sample of the new version's pods."""
    counts = {"ready": ready, "starting": 0, "failing": failing, "terminating": 0}
    none = dict.fromkeys(counts, 0)
    found: PodSample = json.loads(json.dumps({
        "at_seconds": at, "wanted": 4, "new": counts, "old": none, "progressed_at_seconds": at,
    }))  # fmt: skip
    return found


def pods(*samples: PodSample, deadline: int | None = 100) -> PodHistory:
    """Return a history with one leg."""
    return {
        "kind": "Deployment", "namespace": "shop", "name": "web", "samples": list(samples),
        "legs": [{"leg": "forward", "at_seconds": 0.0, "total_seconds": 200.0,
                  "progress_deadline_seconds": deadline}],
    }  # fmt: skip


@pytest.mark.contract("B565")
def test_a_sample_holds_until_the_next() -> None:
    """Two ready pods for half of the time, then two failing ones above them."""
    lane = pod_lane(pods(sample_at(0, ready=2), sample_at(50, ready=2, failing=2)), "new", X, 0, 4)
    ready, failing = lane.areas
    assert (ready.kind, ready.path) == (
        "ready", "M0,39L500,39L500,39L1000,39L1000,78L500,78L500,78L0,78Z",
    )  # fmt: skip
    assert (failing.kind, failing.path) == (
        "failing", "M0,39L500,39L500,0L1000,0L1000,39L500,39L500,39L0,39Z",
    )  # fmt: skip


@pytest.mark.contract("B565")
def test_the_clock_of_no_progress_starts_again() -> None:
    """It rises to the share of its deadline, and falls with each progress; the total goes on."""
    lane = clock_lane(pods(sample_at(0), sample_at(50)), X, 0)
    assert [(shape.kind, shape.path) for shape in lane.lines] == [
        ("total", "M0,56L1000,28"), ("silence", "M0,56L500,28"), ("silence", "M500,56L1000,28"),
    ]  # fmt: skip
    assert lane.notes == ("no progress: 1m40s", "total: 3m20s")


@pytest.mark.contract("B565")
def test_a_check_is_drawn_with_its_bounds() -> None:
    """Each measurement is a dot of its kind; what has no value stands on the ground."""
    lane = check_lane(MEASURED, X, 0)
    assert [dot.kind for dot in lane.dots] == ["pass", "fail", "no-data", "error"]
    assert [dot.y for dot in lane.dots][2:] == [64, 64]
    assert lane.dots[1].y < lane.ticks[0].at < lane.dots[0].y
    assert lane.notes == ("at most 0.05",)
    assert lane.dots[1].label == "0.2, fail at 4s"


@pytest.mark.parametrize(
    ("least", "most", "values"),
    [(None, None, []), (None, None, [0.0]), (99.0, None, [99.5, 99.9]), (-1.0, 1.0, [-5.0])],
)
def test_any_values_have_a_scale(
    least: float | None, most: float | None, values: list[float]
) -> None:
    """Bounds and values stand within the lane, and apart from each other."""
    samples = [{"at_seconds": 1.0, "verdict": "pass", "value": value} for value in values]
    history: CheckHistory = {**MEASURED, "least": least, "most": most, "samples": samples}  # type: ignore[typeddict-item]
    lane = check_lane(history, X, 10)
    places = [*(dot.y for dot in lane.dots), *(tick.at for tick in lane.ticks)]
    assert all(10 <= place <= 74 for place in places)
    assert len(set(places)) == len(places)


def test_the_axis_has_few_round_times() -> None:
    """Whatever the span."""
    for span in (1.0, 9.0, 60.0, 3601.0, 90_000.0, 1e7):
        ticks = time_ticks(Scale(0.0, span, 0.0, 800.0))
        assert 2 <= len(ticks) <= 9
    labels = [tick.label for tick in time_ticks(Scale(0.0, 600.0, 0.0, 800.0))]
    assert labels == ["0s", "2m", "4m", "6m", "8m", "10m"]
