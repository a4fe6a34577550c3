"""What a run's metrics say: of every ending, of several Deployments, of what never began."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.checks.query_template import Query
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.run import CheckRun, Tally
from gate.core.checks.spec import Bounds, Check, Command, Http, Metric
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.body import FrozenMap
from gate.core.model.outcome import Outcome, Reason
from gate.metrics.families import FAMILIES, PREFIX
from gate.metrics.run import About, RunMetrics
from gate.metrics.samples import samples_of
from gate.report.document.document import document
from gate.virtual_time import VirtualClock
from tests.unit.metrics.runs import read, run_of, values
from tests.unit.report.endings import ENDINGS
from tests.unit.report.endings import run_of as document_run_of

PODS = "https://10.0.0.1/api/v1/namespaces/shop/pods"


@pytest.mark.contract("B610", "B611")
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_ending_is_measured_as_the_document_tells_it(ending: str) -> None:
    """For each Deployment its outcome, its reason, one attempt; labels are of their sets."""
    stage = ENDINGS[ending]()
    result = document(stage.attempt, document_run_of(stage))
    run = run_of(VirtualClock(100.0))
    run.on_step(stage.attempt)
    found = read(samples_of(run))
    observed = result["outcome"] == Outcome.OBSERVED
    expected = {
        (one["namespace"], one["name"], "observed" if observed else one["outcome"], one["reason"])
        for one in result["workloads"]
    }
    labels = ("namespace", "deployment", "outcome", "reason")
    assert values(found, f"{PREFIX}attempts_total", *labels) == dict.fromkeys(expected, 1.0)
    states = values(found, f"{PREFIX}last_attempt_outcome", "namespace", "deployment", "outcome")
    assert {key for key, value in states.items() if value} == {key[:3] for key in expected}
    assert len(states) == len(expected) * len(Outcome)
    samples = [*samples_of(run)]
    assert len({(sample.family.name, sample.labels) for sample in samples}) == len(samples)
    for sample in samples:
        assert sample.family in FAMILIES
        given = dict(zip(sample.family.label_names, sample.labels, strict=True))
        for name, allowed in sample.family.labels.items():
            assert not allowed or given[name] in allowed, sample


@pytest.mark.contract("B610")
def test_the_last_attempt_has_its_time_and_its_duration() -> None:
    """Time as Unix has it; the duration is counted from the start of the run."""
    clock = VirtualClock(98.5)
    run, attempt = run_of(clock), ENDINGS["rolled-back"]().attempt
    clock.advance_to(attempt.now)
    run.on_step(attempt)
    found = read(samples_of(run))
    [ended_at] = values(found, f"{PREFIX}last_attempt_timestamp_seconds").values()
    assert ended_at == pytest.approx(clock.wall().timestamp())
    [took] = values(found, f"{PREFIX}last_attempt_duration_seconds").values()
    assert took == pytest.approx(attempt.now - 98.5)
    [delay] = values(found, f"{PREFIX}evidence_to_rollback_seconds").values()
    assert delay >= 0


def test_what_is_of_the_whole_stands_under_the_first_deployment() -> None:
    """So that a sum over all Deployments counts it once."""
    run = run_of()
    run.cluster.requests.count("GET", PODS, 200)
    run.on_step(ENDINGS["two-deployments"]().attempt)
    found = read(samples_of(run))
    assert len(values(found, f"{PREFIX}last_attempt_info", "deployment")) == 2
    first = min(values(found, f"{PREFIX}last_attempt_info", "deployment"))
    assert values(found, f"{PREFIX}api_requests_total", "deployment") == {first: 1.0}
    assert set(values(found, f"{PREFIX}phase_duration_seconds", "deployment")) == {first}


@pytest.mark.contract("B610")
def test_measurements_are_counted_by_kind_and_verdict() -> None:
    """Of all checks of a kind together; what was not asked is no measurement."""
    metric = Check("errors", Metric(Query.parse("up", ()), Bounds(most=1)))
    http = Check("up", Http(HttpQuestion("https://web.example")))
    tally = Tally(passes=3, failures=1, no_data=2, errors=4, unasked=9)
    runs = FrozenMap(
        {
            "errors": replace(CheckRun.start(metric, 0.0), tally=tally),
            "more": replace(
                CheckRun.start(replace(metric, name="more"), 0.0), tally=Tally(passes=5)
            ),
            "up": replace(CheckRun.start(http, 0.0), tally=Tally(errors=1)),
            "smoke": replace(
                CheckRun.start(Check("smoke", Command(("true",))), 0.0), tally=Tally(passes=1)
            ),
        }
    )
    run = run_of()
    run.on_step(
        replace(
            ENDINGS["verified"]().attempt,
            health=replace(ENDINGS["verified"]().attempt.health, checks=runs),
        )
    )
    counted = values(read(samples_of(run)), f"{PREFIX}check_measurements_total", "kind", "verdict")
    assert {key: count for key, count in counted.items() if count} == {
        ("prometheus", "pass"): 8.0,
        ("prometheus", "fail"): 1.0,
        ("prometheus", "no-data"): 2.0,
        ("prometheus", "error"): 4.0,
        ("http", "error"): 1.0,
        ("command", "pass"): 1.0,
    }


@pytest.mark.contract("B610")
def test_a_scrape_while_an_attempt_ends_counts_it_once() -> None:
    """It reads in a thread of its own, at any moment: a counter never goes down."""
    check = Check("up", Http(HttpQuestion("https://web.example")))
    checks = FrozenMap({"up": replace(CheckRun.start(check, 0.0), tally=Tally(passes=3))})
    attempt = replace(
        ENDINGS["verified"]().attempt,
        health=replace(ENDINGS["verified"]().attempt.health, checks=checks),
    )

    class Scraped(RunMetrics):
        """Is scraped before and after each thing that it is told."""

        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if name in ("latest", "_before") and hasattr(self, "phases"):
                passes.append(sum(count for _, verdict, count in self.measurements() if verdict))

    passes: list[int] = []
    run = Scraped(About("apply", "1.0"), VirtualClock(100.0))
    run.on_step(attempt)
    assert passes == [3, 3, 3]


def test_while_nobody_knows_what_it_is_about_nothing_is_said() -> None:
    """A series that changes its labels is two."""
    run = run_of()
    run.cluster.requests.count("GET", PODS, 200)
    assert [*samples_of(run)] == []
    run.concerns([deployment_ref("shop", "web")])
    found = read(samples_of(run))
    assert values(found, f"{PREFIX}api_requests_total", "deployment") == {("web",): 1.0}
    assert f"{PREFIX}attempts_total" not in found


@pytest.mark.contract("B610")
def test_a_refusal_is_the_end_of_an_attempt() -> None:
    """Of each Deployment that it was to be about; of none where none was known."""
    run = run_of()
    run.concerns([deployment_ref("shop", "web"), deployment_ref("shop", "api")])
    run.on_refusal(Outcome.REFUSED, Reason.LOCKED)
    found = read(samples_of(run))
    labels = ("deployment", "outcome", "reason")
    assert values(found, f"{PREFIX}attempts_total", *labels) == {
        ("web", "refused", "Locked"): 1.0,
        ("api", "refused", "Locked"): 1.0,
    }
    unknown = run_of()
    unknown.on_refusal(Outcome.USAGE, Reason.USAGE)
    assert values(read(samples_of(unknown)), f"{PREFIX}attempts_total", "deployment") == {("",): 1}


def test_a_bug_in_mid_flight_ends_what_was_under_way() -> None:
    """Whatever the manifest says beside."""
    run = run_of()
    stage = ENDINGS["two-deployments"]()
    run.on_step(
        replace(
            stage.attempt,
            result=replace(stage.attempt.result, ending=None),
            course=replace(stage.attempt.course, state=type(stage.attempt.course.state).FOLLOWING),
        )
    )
    run.on_refusal(Outcome.INTERNAL_ERROR, Reason.INTERNAL_ERROR)
    counted = values(read(samples_of(run)), f"{PREFIX}attempts_total", "deployment", "outcome")
    assert set(counted.values()) == {1.0}
    assert {outcome for _, outcome in counted} == {"internal-error"}
    assert len(counted) == 2
