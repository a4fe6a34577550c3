"""Health checks in a rehearsal: what they are answered, and what the gate makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate.app.rehearsal import rehearse as rehearsing
from gate.app.rehearsal.demo import demo
from gate.app.rehearsal.measured import Scripted, bad, good
from gate.app.rehearsal.rehearse import rehearse
from gate.app.rehearsal.trouble import TROUBLES
from gate.config import load
from gate.core.checks.baseline_comparison import MannWhitney, Pairs, Ratio
from gate.core.checks.measurement import Kind
from gate.core.checks.query_template import Query
from gate.core.checks.questions import (
    Answers,
    CommandQuestion,
    Errored,
    HttpQuestion,
    MetricQuestion,
    Questions,
)
from gate.core.checks.spec import Bounds, Check, Command, Counts, Http, Metric, MinSamples, Reduce
from gate.core.checks.tick_measurement import measure
from gate.core.kinds.check_variables import BUILT_IN
from gate.report.views.rehearsals import RehearsalResult
from sandbox.face import Measurement, NoAnswer
from tests.unit.app.rehearsal.conftest import Played

Write = Callable[..., str]

CONFIG = """\
checks:
  - name: errors
    query: 'errors{pod=~"${replicaset}-.*"}'
    max: 0.1
  - name: slower
    query: 'latency{pod=~"${replicaset}-.*"}'
    compare: {max-ratio: 1.5, min-delta: 0.1}
  - name: smoke
    command: [touch, MARK]
    count: 1
    during: bake
  - name: front
    http: {url: 'http://127.0.0.1:9/health', max-latency: 2s}
  - name: reports
    query: other
    min: 3
    required: false
"""


@pytest.fixture
def config(tmp_path: Path) -> str:
    """Return a configuration with a check of each kind."""
    path = tmp_path / "gate.yaml"
    path.write_text(CONFIG.replace("MARK", str(tmp_path / "mark")))
    return str(path)


def rehearsed(
    played: Played, file: str, **options: Any
) -> tuple[int, list[RehearsalResult], list[str]]:
    """Rehearse a manifest; return the exit code, the rows and the warnings."""
    flags = {"file": [file], "output": "json", "silence": ["all"], **options}
    code = rehearse(played.world, load("rehearse", flags, environ={}))
    document = json.loads(played.out.getvalue())
    return code, document["rehearsals"], document["warnings"]


def scenario(tmp_path: Path, text: str) -> str:
    """Write a scenario file."""
    path = tmp_path / "day.yaml"
    path.write_text(text)
    return str(path)


@pytest.mark.long
@pytest.mark.contract("B473")
def test_without_trouble_all_is_well_and_nothing_is_run(
    played: Played, manifest: Write, config: str, tmp_path: Path
) -> None:
    """No server is asked, no request sent, no command run."""
    code, (row,), _ = rehearsed(played, manifest(), config=[config])
    assert (code, row["outcome"], row["why"]) == (0, "verified", "Complete")
    assert not (tmp_path / "mark").exists()
    assert row["duration_seconds"] > 90, "the checks ask for a bake window"


@pytest.mark.contract("B474")
def test_bad_checks_are_caught_from_their_second_on(
    played: Played, manifest: Write, config: str
) -> None:
    """And the row says which check, with its number."""
    code, (row,), _ = rehearsed(played, manifest(), config=[config], with_="bad-checks@40")
    assert (code, row["reason"], row["as_expected"]) == (4, "CheckFailed", True)
    assert row["decided_at_seconds"] == 40
    assert row["why"] == "CheckFailed: errors: 1.1 is not <= 0.1"


COUNTS = """\
checks:
  - name: errors
    bad: 'requests{pod=~"${replicaset}-.*",code=~"5.."}'
    total: 'requests{pod=~"${replicaset}-.*"}'
    during: bake
"""


@pytest.mark.contract("B1151", "B1161")
@pytest.mark.parametrize(
    ("shares", "code", "why"),
    [
        pytest.param((0.01, 0.01), 0, "Complete", id="equal"),
        pytest.param((0.05, 0.01), 4, "CheckFailed", id="worse"),
        pytest.param((0.003, 0.002), 7, "CheckInconclusive", id="neither"),
    ],
)
def test_counters_are_compared(
    played: Played,
    manifest: Write,
    tmp_path: Path,
    shares: tuple[float, float],
    code: int,
    why: str,
) -> None:
    """An equal version passes early, a worse one fails, and what is neither is inconclusive.

    At 1,000 requests a look.
    """
    (tmp_path / "gate.yaml").write_text(COUNTS)
    day = scenario(tmp_path, "checks:\n  errors: {}\n  errors:baseline: {}\n".format(*shares))
    file = manifest()
    ended, (row,), _ = rehearsed(played, file, config=[str(tmp_path / "gate.yaml")], scenario=day)
    assert (ended, row["reason"]) == (code, why)
    assert row["decided_at_seconds"] is not None
    assert (row["decided_at_seconds"] > 600) == (why == "CheckInconclusive")


@pytest.mark.long
@pytest.mark.contract("B474")
@pytest.mark.parametrize(("policy", "code", "fine"), [("keep", 7, True), ("rollback", 4, False)])
def test_an_outage_of_prometheus_alone_is_no_failure(
    played: Played, manifest: Write, config: str, policy: str, code: int, fine: bool
) -> None:
    """Unless the policy takes it for one, which is marked."""
    options = {"config": [config], "with_": "no-metrics", "on_inconclusive": policy}
    found, (row,), _ = rehearsed(played, manifest(), **options)
    assert (found, row["reason"], row["as_expected"]) == (code, "CheckError", fine)
    assert "errors in a row" in row["why"]


def test_what_no_check_can_have_is_left_out(
    played: Played, manifest: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a word where there are checks, without one where there is none at all."""
    some = {name: TROUBLES[name] for name in ("good", "bad-checks", "no-metrics")}
    monkeypatch.setattr(rehearsing, "TROUBLES", some)
    path = tmp_path / "gate.yaml"
    path.write_text("checks: [{name: a, command: ['true'], required: false}]\n")
    _, (row,), warnings = rehearsed(played, manifest(), config=[str(path)], all_=True)
    assert row["kind"] == "good"
    left_out = [f"{kind} is left out: no check can have it" for kind in [*some][1:]]
    assert warnings == left_out


@pytest.mark.parametrize("run", [rehearse, demo])
def test_bad_checks_need_a_check(played: Played, manifest: Write, run: Callable[..., int]) -> None:
    """Exit 2: nothing would go wrong, and that would be taken for the gate's blindness."""
    flags = {"file": [manifest()], "with_": "bad-checks"}
    command = (
        (load("rehearse", flags, environ={}),)
        if run is rehearse
        else (load("demo", {}, environ={}), "bad-checks")
    )
    assert run(played.world, *command) == 2
    assert "no bad-checks: " in played.err.getvalue()


# -- scenario files --------------------------------------------------------------------------------


@pytest.mark.contract("B473")
def test_a_scenario_says_what_a_check_measures(
    played: Played, manifest: Write, config: str, tmp_path: Path
) -> None:
    """From a second on; checks that it does not name are well."""
    path = scenario(tmp_path, "checks:\n  errors: {0s: 0.05, 40s: 0.2}\n  errrs: 1\n")
    code, (row,), warnings = rehearsed(played, manifest(), config=[config], scenario=path)
    assert (code, row["decided_at_seconds"]) == (4, 40)
    assert row["why"] == "CheckFailed: errors: 0.2 is not <= 0.1"
    assert warnings[0] == "the scenario's errrs is no check that is configured"


@pytest.mark.long
@pytest.mark.contract("B473")
def test_a_scenario_says_what_the_version_before_measures(
    played: Played, manifest: Write, config: str, tmp_path: Path
) -> None:
    """Under the check's name with `:baseline`."""
    path = scenario(tmp_path, "checks:\n  slower: 0.4\n  'slower:baseline': {2s: 0.1, 5m: 0.9}\n")
    code, (row,), warnings = rehearsed(played, manifest(), config=[config], scenario=path)
    assert (code, warnings) == (4, [])
    assert row["why"].startswith("CheckFailed: slower: 0.4 against 0.1")


# -- answers ---------------------------------------------------------------------------------------


def metric(**more: Any) -> Check:
    """Make a check of a query."""
    return Check("c", Metric(Query.parse('a{b="${replicaset}"}', BUILT_IN), **more))


def request(**more: Any) -> Check:
    """Make an HTTP check."""
    probe = {
        key: more.pop(key) for key in ("status", "bounds", "max_latency_seconds") if key in more
    }
    return Check("c", Http(HttpQuestion("http://web/", **more), **probe))


COUNT = MinSamples(Query.parse("n", ()), 20.0)
CHECKS = [
    metric(bounds=Bounds(most=0.5)),
    metric(bounds=Bounds(least=3.0)),
    metric(bounds=Bounds(least=3.0, most=4.0)),
    metric(bounds=Bounds(most=-3.0)),
    metric(bounds=Bounds(least=-7.0, most=-3.0), reduce=Reduce.ALL),
    metric(bounds=Bounds(most=1e308), min_samples=COUNT, freshness=Query.parse("up", ())),
    metric(compare=Ratio(2.0, 5.0)),
    metric(compare=MannWhitney()),
    metric(bounds=Bounds(least=10.0), compare=Ratio(2.0)),
    request(),
    request(status=(500, 599)),
    request(contains="fine", max_latency_seconds=0.5),
    request(json_path=("a",), bounds=Bounds(least=3.0)),
    Check("c", Command(("./smoke",))),
]


def questions_of(check: Check) -> Questions:
    """Return what a check asks."""
    match check.probe:
        case Metric() as asked:
            one = MetricQuestion("q", 0.0)
            return Questions(
                one,
                one if asked.min_samples else None,
                one if asked.freshness else None,
                one if asked.compare else None,
            )
        case Http(question=question):
            return Questions(question)
        case Counts():
            return Questions(MetricQuestion("q", 0.0), baseline=MetricQuestion("q", 0.0))
        case Command(arguments=arguments):
            return Questions(CommandQuestion(arguments))


def measured(check: Check, said: Measurement | None, earlier: int = 0) -> Kind:
    """Measure what a check is answered."""
    pairs = Pairs()
    for _ in range(earlier):
        pairs = pairs.plus(said, good(check))  # type: ignore[arg-type]
    answers = Scripted([check], lambda name: said if name == "c" else None).ask(
        questions_of(check), "c"
    )
    if isinstance(answers, Errored):
        return Kind.ERROR
    assert isinstance(answers, Answers)
    return measure(check, answers, pairs).kind


@pytest.mark.contract("B473")
@pytest.mark.parametrize("check", CHECKS)
def test_a_good_answer_passes_and_a_bad_one_fails(check: Check) -> None:
    """Whatever the bounds; a test of samples needs some of them first."""
    of_samples = isinstance(check.probe, Metric) and isinstance(check.probe.compare, MannWhitney)
    earlier = 11 if of_samples else 0
    assert measured(check, None, 0) is (Kind.NO_DATA if of_samples else Kind.PASS)
    assert measured(check, bad(check), earlier) is Kind.FAIL


@pytest.mark.contract("B473")
@pytest.mark.parametrize(
    ("check", "no_data", "silent"),
    [
        (metric(bounds=Bounds(most=1.0)), Kind.NO_DATA, Kind.ERROR),
        (request(json_path=("a",), bounds=Bounds(most=1.0)), Kind.NO_DATA, Kind.FAIL),
        (request(), Kind.ERROR, Kind.FAIL),
        (Check("c", Command(("./smoke",))), Kind.ERROR, Kind.ERROR),
    ],
)
def test_what_says_nothing_says_it_as_its_source_does(
    check: Check, no_data: Kind, silent: Kind
) -> None:
    """A service that does not answer fails; a server of metrics, or a command, cannot tell."""
    assert measured(check, NoAnswer.NO_DATA) is no_data
    assert measured(check, NoAnswer.UNREACHABLE) is silent
