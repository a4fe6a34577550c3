"""The list `checks` of a file: what it becomes, in the gate as to an editor with the schema."""

from __future__ import annotations

import pytest
from jsonschema import Draft202012Validator

from gate.config import Settings
from gate.config.json_schema import schema
from gate.core.checks.baseline_comparison import MannWhitney, Ratio
from gate.core.checks.query_template import Query
from gate.core.checks.questions import HttpQuestion
from gate.core.checks.spec import (
    Bounds,
    Check,
    Command,
    Counts,
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
from gate.core.statistics.count_decision import CountRule
from gate.sources.ready_made import READY_MADE, ReadyMade
from tests.table import each
from tests.unit.config.folder import BY_POD, Folder, listed

WHOLE = """
name: errors
query: sum(rate(bad{app="${app}"}[${window}]))
min: 0
max: 0.5
reduce: max
window: 2m
min-samples: {query: sum(all), min: 20}
freshness: all{app="x"}
variables: {app: web}
interval: 5s
initial-delay: 1m
count: 30
during: bake
allowed-failures: 2
allowed-consecutive-errors: 1
allowed-no-data: 3
min-passes: 4
max-age: 45
required: false
dry-run: true
deployment: web
"""


def parsed(text: str) -> Query:
    """Return a query that may name every variable."""
    return Query.parse(text, BUILT_IN | {"app"})


@pytest.mark.contract("B433")
def test_every_key_of_a_query_arrives(folder: Folder) -> None:
    """Each in its place; durations as elsewhere."""
    assert folder.check(WHOLE) == Check(
        "errors",
        Metric(
            parsed('sum(rate(bad{app="${app}"}[${window}]))'),
            Bounds(0.0, 0.5),
            Reduce.MAX,
            120.0,
            MinSamples(parsed("sum(all)"), 20.0),
            parsed('all{app="x"}'),
        ),
        Schedule(5.0, 60.0, 30, During.BAKE),
        Tolerances(2, None, 1, 3, 4, 45.0),
        required=False,
        dry_run=True,
        user_variables=FrozenMap({"app": "web"}),
        deployment="web",
    )


@pytest.mark.contract("B433")
def test_a_request_has_what_a_good_reply_is(folder: Folder) -> None:
    """Its own keys stand under `http`."""
    text = """
name: health
http:
  url: https://web.example/health
  method: GET
  status: 200-204
  max-latency: 0.5
  contains: ok
  json-path: $.items[0]["ready-since"]
  min: 1
  redirects: 2
  timeout: 3s
consecutive-failures: 2
"""
    question = HttpQuestion(
        "https://web.example/health", "GET", "ok", ("items", 0, "ready-since"), 2, 3.0
    )
    assert folder.check(text) == Check(
        "health",
        Http(question, (200, 204), 0.5, Bounds(1.0)),
        tolerances=Tolerances(consecutive_failures=2),
    )


@pytest.mark.contract("B433")
def test_a_command_is_a_list_of_words(folder: Folder) -> None:
    """No shell reads it."""
    check = folder.check("name: smoke\ncommand: [./smoke, 'a b', $HOME]\ntimeout: 5m")
    assert check == Check("smoke", Command(("./smoke", "a b", "$HOME"), 300.0))


@pytest.mark.parametrize(
    ("compare", "wanted"),
    [
        ("{max-ratio: 1.5}", Ratio(1.5)),
        ("{max-ratio: 1, min-delta: 0.01}", Ratio(1.0, 0.01)),
        ("{test: mann-whitney}", MannWhitney()),
        ("{test: mann-whitney, alpha: 0.01, tolerance: 0}", MannWhitney(0.01, 0.0)),
    ],
)
def test_a_comparison_is_by_ratio_or_by_a_test(
    folder: Folder, compare: str, wanted: Ratio | MannWhitney
) -> None:
    """It needs no bounds beside it."""
    check = folder.check(f"name: x\nquery: {BY_POD}\ncompare: {compare}")
    assert isinstance(check.probe, Metric)
    assert check.probe.compare == wanted
    assert not check.probe.bounds


@pytest.mark.contract("B433", "B1213")
@pytest.mark.parametrize("made", READY_MADE, ids=lambda made: f"{made.name}-{made.metrics}")
def test_a_ready_made_check_is_what_it_prints(folder: Folder, made: ReadyMade) -> None:
    """`use` and the printed configuration are one check, but for the variable that is left out."""
    needed = [f"{name}: {value}" for name, value in made.keys.get("variables", {}).items()]
    variables = f"\nvariables: {{{', '.join(needed)}}}" if needed else ""
    used = folder.check(f"use: {made.name}\nmetrics: {made.metrics}{variables}")
    (printed,) = folder.load(made.as_configuration()).checks
    assert used == printed
    assert folder.is_valid(made.as_configuration())


@pytest.mark.contract("B433")
def test_every_key_of_a_ready_made_check_can_be_overridden(folder: Folder) -> None:
    """A mapping of it key by key: another number of samples keeps the query that counts them."""
    text = "use: error-rate\nname: mine\nmax: 0.2\nwindow: 5m\nmin-samples: {min: 7}\ninterval: 2s"
    mine, usual = folder.check(text), folder.check("use: error-rate")
    assert isinstance(mine.probe, Metric)
    assert isinstance(usual.probe, Metric)
    assert (mine.name, mine.schedule.interval_seconds) == ("mine", 2.0)
    assert mine.probe.query == usual.probe.query
    assert (mine.probe.bounds, mine.probe.window_seconds) == (Bounds(most=0.2), 300.0)
    assert mine.probe.min_samples is not None
    assert usual.probe.min_samples is not None
    assert mine.probe.min_samples.query == usual.probe.min_samples.query
    assert mine.probe.min_samples.least == 7


@pytest.mark.contract("B1214")
def test_a_ready_made_comparison_takes_the_keys_of_one(folder: Folder) -> None:
    """Those that are not given are as it prints them."""
    text = "use: error-share\nwarm-up: 1m\nduring: bake\ncompare: {test: counts, harm: 3}"
    mine, usual = folder.check(text).probe, folder.check("use: error-share").probe
    assert isinstance(mine, Counts)
    assert isinstance(usual, Counts)
    assert (mine.bad, mine.total) == (usual.bad, usual.total)
    assert (mine.rule.harm, mine.rule.known_length, mine.warm_up_seconds) == (3.0, True, 60.0)
    assert usual.rule == CountRule()


RIGHT = [
    WHOLE,
    "name: x\nquery: up\nmax: 1e3",
    "name: x\nquery: up\nmax: 0x10",
    "name: x\nquery: up\nmin: -.5",
    "name: a check_1.0-b\nquery: up\nmax: 1\ninterval: 1h30m",
    "name: x\nquery: up\nmax: 1\nallowed-failures: 0\nconsecutive-failures: 2",
    "name: x\nquery: up\nmax: 1\ncount: 3.0",
    "name: x\nquery: up\nmax: 1\nmax-age: '45'",
    f"name: x\nquery: {BY_POD}\nreduce: avg\ncompare: {{max-ratio: 2}}\nmax: 3",
    "name: x\nhttp: {url: 'https://[::1]:8443/a?b=c#d'}",
    "name: x\nhttp: {url: http://web, status: '200'}",
    "name: x\nhttp: {url: http://web, method: HEAD, redirects: 10}",
    "name: x\nhttp: {url: http://web, json-path: 'a.b[0]', max: 3}",
    "name: x\nhttp: {url: http://web, json-path: '[\"a b\"]', max: 3}",
    "name: x\nhttp: {url: http://web, json-path: '.a', max: 3}",
    "name: x\ncommand: ['true', '']",
    "use: error-rate",
    "use: latency-p99\nmetrics: nginx\nvariables: {service: web}",
    "use: restarts\nmax: 2\nmin-samples: {query: up, min: 1}",
    "use: slow-share\nmetrics: linkerd\nwarm-up: 1m\ncompare: {test: counts, harm: 3}",
]


@pytest.mark.contract("B438")
@each("text", RIGHT)
def test_what_is_right_is_taken_and_the_schema_agrees(folder: Folder, text: str) -> None:
    """An editor marks nothing that the gate takes."""
    folder.check(text)
    assert folder.is_valid(listed(text))


def test_the_schema_is_one() -> None:
    """It is valid against its own."""
    Draft202012Validator.check_schema(schema())


def test_checks_can_be_built_in_code() -> None:
    """Finished ones are taken as they are, plain ones are read."""
    check = Check("x", Command(("true",)))
    plain = {"name": "y", "command": ["true"]}
    assert Settings(checks=(check,)).checks == (check,)
    assert Settings.of({"checks": [check, plain]}).checks[1].name == "y"
