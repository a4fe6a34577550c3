"""What a check is answered in a rehearsal, for each kind of probe."""

from __future__ import annotations

from typing import Any

import pytest

from gate.app.rehearsal.measured import Scripted, bad, good
from gate.app.rehearsal.pod_traffic import PodTraffic
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
from sandbox.face import Api, Key, Measurement, Names, NoAnswer, Timers


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


def serving(*versions: str) -> tuple[PodTraffic, Api]:
    """Return the traffic of a cluster with a ready pod of each version, named by its hash."""
    api = Api(Timers(), Names())
    traffic = PodTraffic(api)
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    for name in versions:
        metadata = {"name": name, "uid": name, "labels": {"pod-template-hash": name}}
        api.store.put(Key("pods", "default", name), {"metadata": metadata, "status": ready})
    return traffic, api


def measured(check: Check, said: Measurement | None, earlier: int = 0) -> Kind:
    """Measure what a check is answered."""
    pairs = Pairs()
    for _ in range(earlier):
        pairs = pairs.plus(said, good(check))  # type: ignore[arg-type]
    scripted = Scripted([check], lambda name: said if name == "c" else None, serving("q")[0])
    answers = scripted.ask(questions_of(check), "c")
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


@pytest.mark.contract("B1290")
@pytest.mark.parametrize(
    ("query", "since_gone_seconds", "kind"),
    [
        ("latency", -1.0, Kind.PASS),
        ("latency", 1.0, Kind.NO_DATA),
        ("rate(latency[2m])", 80.0, Kind.PASS),
        ("rate(latency[2m])", 100.0, Kind.NO_DATA),
    ],
)
def test_a_version_has_data_until_its_pods_are_gone(
    query: str, since_gone_seconds: float, kind: Kind
) -> None:
    """A range sees them for as long as it has two scrapes of theirs, half a minute apart."""
    check = metric(compare=Ratio(2.0))
    traffic, api = serving("new", "old")
    api.timers.run_due(300.0)
    api.store.remove(Key("pods", "default", "old"))
    at = 300.0 + since_gone_seconds
    asked = Questions(
        MetricQuestion(f"{query} # new", at), baseline=MetricQuestion(f"{query} # old", at)
    )
    answers = Scripted([check], lambda _: None, traffic).ask(asked, "c")
    assert isinstance(answers, Answers)
    assert measure(check, answers).kind is kind
