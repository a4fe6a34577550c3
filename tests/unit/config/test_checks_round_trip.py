"""Checks turn back into the configuration that means the same, and an editor takes it."""

from __future__ import annotations

import json
import string
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.config import Settings, as_configuration
from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.query_template import Query
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.spec import (
    Bounds,
    Check,
    Command,
    During,
    Http,
    Metric,
    MinSamples,
    Reduce,
    Schedule,
    Tolerances,
)
from gate.core.kinds.check_variables import BUILT_IN
from gate.core.model.body import FrozenMap
from gate.sources.ready_made import READY_MADE
from tests.unit.config.folder import VALIDATOR, Folder

seconds = st.floats(1, 2_592_000) | st.integers(1, 3600).map(float)
numbers = st.floats(-1e300, 1e300)
words = st.text(string.ascii_letters + string.digits, min_size=1, max_size=20)
texts = st.text(string.printable, min_size=1, max_size=30).filter(str.strip)
queries = st.sampled_from(
    ["up", 'x{pod=~"${replicaset}-.*"}', "rate(x[${window}])", "a # ${ever}\n", "$${x}", " y "]
).filter(lambda text: "${ever" not in text)
steps = st.text(string.ascii_letters + " .-[]$", max_size=8) | st.integers(0, 999_999)


def query(text: str) -> Query:
    """Return a query that is fine."""
    return Query.parse(text, BUILT_IN)


bounds = st.builds(Bounds, st.none() | numbers, st.none() | numbers).filter(
    lambda ends: ends.least is None or ends.most is None or ends.least <= ends.most
)


def can_judge(metric: Metric) -> bool:
    """Tell whether it has bounds, or a comparison of versions that its query tells apart."""
    if metric.compare is None:
        return bool(metric.bounds)
    tells_apart = "replicaset" in metric.query.names
    return tells_apart and metric.reduce not in (Reduce.ALL, Reduce.ANY)


def can_be_judged(http: Http) -> bool:
    """Tell whether a reply can be as it asks: bounds go with a path, and HEAD has no body."""
    asked = http.question
    has_body = asked.method == "GET" or not (asked.contains or asked.json_path)
    return has_body and bool(http.bounds) == bool(asked.json_path)


def can_pass(check: Check) -> bool:
    """Tell whether it takes the measurements that it needs."""
    count = check.schedule.count
    return count is None or check.tolerances.min_passes <= count


metrics = st.builds(
    Metric,
    queries.map(query),
    bounds,
    st.none() | st.sampled_from(Reduce),
    seconds,
    st.none() | st.builds(MinSamples, queries.map(query), st.floats(1e-9, 1e9)),
    st.none() | queries.map(query),
    st.none()
    | st.builds(Ratio, st.floats(1, 1e9), st.floats(0, 1e9))
    | st.builds(MannWhitney, st.floats(1e-6, 0.5), st.floats(0, 10)),
).filter(can_judge)
questions = st.builds(
    HttpQuestion,
    st.sampled_from(["http://web", "https://[::1]:8443/a?b=c", "http://web.example/x#y"]),
    st.sampled_from(["GET", "HEAD"]),
    st.just("") | texts,
    st.lists(steps, max_size=4).map(tuple),
    st.integers(0, 10),
    seconds,
)
requests = st.builds(
    Http,
    questions,
    st.tuples(st.integers(100, 599), st.integers(100, 599)).map(
        lambda ends: (min(ends), max(ends))
    ),
    st.none() | seconds,
    bounds,
).filter(can_be_judged)
commands = st.builds(
    Command, st.lists(texts, min_size=1, max_size=4).map(tuple), st.floats(0.001, 2_592_000)
)
schedules = st.builds(
    Schedule,
    seconds,
    st.floats(0, 1000),
    st.none() | st.integers(1, 1_000_000),
    st.sampled_from(During),
)
tolerances = st.builds(
    Tolerances,
    st.integers(0, 9),
    st.none() | st.integers(1, 9),
    st.integers(0, 9),
    st.none() | st.integers(0, 9),
    st.integers(1, 9),
    st.none() | seconds,
).filter(lambda of: not of.allowed_failures or of.consecutive_failures is None)
checks = st.builds(
    Check,
    words,
    metrics | requests | commands,
    schedules,
    tolerances,
    required=st.booleans(),
    dry_run=st.booleans(),
    deployment=st.sampled_from(["", "web", "web.v2"]),
).filter(can_pass)


def read(plain: list[dict[str, Any]], **more: Any) -> tuple[Check, ...]:
    """Return the checks of a file's list."""
    return Settings.of({"checks": plain, **more}).checks


@pytest.mark.contract("B438", "B447")
@given(st.lists(checks, max_size=3, unique_by=lambda check: check.name))
def test_checks_turn_back_into_the_configuration_that_means_the_same(found: list[Check]) -> None:
    """As JSON, under another interval of all, and for the schema too."""
    plain = json.loads(json.dumps(as_configuration(found), allow_nan=False))
    assert read(plain, check_interval="3s") == tuple(found)
    assert VALIDATOR.is_valid({"checks": plain})


@pytest.mark.contract("B447")
@pytest.mark.parametrize("made", READY_MADE, ids=lambda made: f"{made.name}-{made.metrics}")
def test_a_ready_made_check_turns_into_its_query(folder: Folder, made: Any) -> None:
    """So that a recording means the same when the ready-made one changes."""
    found = folder.load(made.as_configuration()).checks
    (plain,) = as_configuration(found)
    for key in {"query", "bad", "total"} & made.keys.keys():
        assert plain[key] == made.keys[key]
    assert read([plain]) == found


def test_user_variables_turn_back() -> None:
    """With the queries that name them."""
    metric = Metric(Query.parse('up{a="${b}"}', {"b"}), Bounds(most=1.0))
    check = Check("x", metric, user_variables=FrozenMap({"b": "c"}))
    assert read(as_configuration([check])) == (check,)
