"""Ready-made checks are plain configuration, and good checks."""

from __future__ import annotations

from dataclasses import replace

import pytest
import yaml

from gate.core.checks.query_template import Query
from gate.core.checks.query_variables import Subject, Version
from gate.core.checks.questions import MetricQuestion, Questions
from gate.core.checks.spec import Bounds, Check, Counts, During, Metric, MinSamples
from gate.core.checks.tick_questions import ask
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.kinds.deployment.kind import VARIABLES
from gate.core.model.body import FrozenMap
from gate.errors import UsageError
from gate.sources.ready_made import READY_MADE, ReadyMade, find

SUBJECT = Subject(
    "shop",
    "web",
    Version("web-1", "1"),
    0.0,
    baseline=Version("web-0", "0"),
    first_available_at=0.0,
    variables=VARIABLES,
)


@pytest.mark.contract("B431", "B1213")
@pytest.mark.parametrize("made", READY_MADE, ids=lambda made: f"{made.name}-{made.metrics}")
def test_a_ready_made_check_is_configuration_that_can_be_asked(made: ReadyMade) -> None:
    """What is printed is all there is, with what it needs; its queries know their variables."""
    text = made.as_configuration()
    assert text.startswith(f"# {made.name} ({made.metrics}): ")
    assert yaml.safe_load(text) == {"checks": [{"name": made.name, **made.keys}]}
    user = dict(made.keys.get("variables", {}))
    known = BUILT_IN | user.keys()
    check = Check(made.name, probe(made, known), user_variables=FrozenMap(user.items()))
    asked = ask(check, 100.0, SUBJECT, During.BAKE)
    assert isinstance(asked, Questions)
    for question in filter(None, (asked.value, asked.baseline)):
        assert isinstance(question, MetricQuestion)
        assert "${" not in question.query
        assert question.query.count("(") == question.query.count(")")
    if made.is_by_counts:
        assert isinstance(asked.value, MetricQuestion)
        assert "web-1-[a-z0-9]+" in asked.value.query
        assert asked.baseline == replace(
            asked.value, query=asked.value.query.replace("web-1-", "web-0-")
        ), "new against new, or old against old"


def probe(made: ReadyMade, known: frozenset[str]) -> Metric | Counts:
    """Return what a ready-made check asks; ValueError for a variable that is not known."""
    keys, few = made.keys, made.keys.get("min-samples")
    if made.is_by_counts:
        return Counts(Query.parse(keys["bad"], known), Query.parse(keys["total"], known))
    return Metric(
        Query.parse(keys["query"], known),
        Bounds(most=keys["max"]),
        min_samples=MinSamples(Query.parse(few["query"], known), few["min"]) if few else None,
    )


@pytest.mark.contract("B1213")
@pytest.mark.parametrize("metrics", ["nginx", "nginx-canary", "envoy-gateway"])
def test_metrics_of_both_versions_together_are_not_compared(metrics: str) -> None:
    """That would hold a version against itself; the error says what is there for them."""
    with pytest.raises(UsageError, match="no error-share") as caught:
        find("error-share", metrics)
    assert "cover both versions together: take error-rate or latency-p99" in caught.value.hint
    assert find("error-rate", metrics).keys["variables"]


def test_a_kind_of_metrics_can_be_chosen() -> None:
    """The first of a name is the default; its pods are those of the ReplicaSet and of no other."""
    assert find("latency-p99").metrics == "opentelemetry"
    assert find("latency-p99", "istio").metrics == "istio"
    assert 'pod=~"${replicaset}-[a-z0-9]+"' in str(find("error-rate").keys["query"])


@pytest.mark.parametrize(
    ("name", "metrics", "hint"),
    [
        ("error-rat", None, "did you mean error-rate?"),
        ("x", None, "there are error-rate"),
        ("restarts", "istio", "restarts is made for kube-state-metrics"),
    ],
)
def test_a_name_that_is_not_there_is_one_clear_line(
    name: str, metrics: str | None, hint: str
) -> None:
    """With the next step."""
    with pytest.raises(UsageError) as caught:
        find(name, metrics)
    assert caught.value.hint.startswith(hint)
