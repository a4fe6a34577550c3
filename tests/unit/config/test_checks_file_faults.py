"""What is wrong in the list `checks` of a file, and at which line."""

from __future__ import annotations

import math
from typing import Any

import pytest

from gate.config import Settings
from tests.table import each
from tests.unit.config.folder import BY_LOADER, BY_POD, BY_SCHEMA, Folder, listed

BAD = """\
timeout: 10m
checks:
  - name: errors
    query: rate(x{pod=~"${replicast}-.*"}[${window}])
    max: on
    min_samples: {query: up, min: 1}
    min-samples:
      query: sum(${wndow})
      mim: 0
  - query: up
    max: 190:20:30
    reduce: maxx
  - name: errors
    http:
      url: ftp://x
      staus: 200
    window: 1m
  - use: error-rte
  - &anchor
    name: latency
    query: up
  - nme: x
    quary: up
"""


@pytest.mark.contract("B434", "B435", "B436")
def test_everything_is_named_at_once_with_the_line_of_its_key(folder: Folder) -> None:
    """File, line, column, check, key, what may be meant; beside what is wrong elsewhere."""
    wrong = folder.problems(BAD.replace("10m", "soon"))
    assert wrong == [
        (
            "rollout-gate.yaml:4:5: checks: errors: query: unknown variable ${replicast}"
            " (at character 14) (did you mean ${replicaset}?)"
        ),
        "rollout-gate.yaml:5:5: checks: errors: max: not a number: 'true'",
        (
            "rollout-gate.yaml:6:5: checks: errors: min_samples: unknown key"
            ' (did you mean "min-samples"?)'
        ),
        'rollout-gate.yaml:7:5: checks: errors: min-samples: has no "min"',
        (
            "rollout-gate.yaml:8:7: checks: errors: min-samples.query: unknown variable ${wndow}"
            " (at character 5) (did you mean ${window}?)"
        ),
        'rollout-gate.yaml:9:7: checks: errors: min-samples.mim: unknown key (did you mean "min"?)',
        'rollout-gate.yaml:10:5: checks: check 2: has no "name"',
        "rollout-gate.yaml:11:5: checks: check 2: max: not a number: '190:20:30'",
        (
            "rollout-gate.yaml:12:5: checks: check 2: reduce: not one of max, min, sum, avg, all,"
            " any: 'maxx' (did you mean max?)"
        ),
        "rollout-gate.yaml:13:5: checks: errors: a second check of that name, after check 1",
        (
            "rollout-gate.yaml:15:7: checks: errors: http.url: a URL has to begin with http:// or"
            " https://"
        ),
        'rollout-gate.yaml:16:7: checks: errors: http.staus: unknown key (did you mean "status"?)',
        "rollout-gate.yaml:17:5: checks: errors: window: goes with query or use alone",
        (
            "rollout-gate.yaml:18:5: checks: error-rte: use: not one of error-rate, latency-p99,"
            " error-share, slow-share, restarts, cpu-throttling, memory-near-limit: 'error-rte'"
            " (did you mean error-rate?)"
        ),
        "rollout-gate.yaml:19:5: checks: latency: has no bounds: give min, max or compare",
        "rollout-gate.yaml:22:5: checks: check 6: asks nothing",
        'rollout-gate.yaml:22:5: checks: check 6: nme: unknown key (did you mean "name"?)',
        'rollout-gate.yaml:23:5: checks: check 6: quary: unknown key (did you mean "query"?)',
        "rollout-gate.yaml:1: timeout: not a duration: 'soon'",
    ]


def test_a_key_that_is_merged_in_is_named_where_it_stands(folder: Folder) -> None:
    """A template of a file is wrong once, in its own line."""
    text = """\
checks:
  - &usual
    name: a
    query: up
    max: 1
    interval: 0.1s
  - <<: *usual
    name: b
"""
    assert folder.problems(text) == [
        "rollout-gate.yaml:6:5: checks: a: interval: must be 1s or more: '0.1s'",
        "rollout-gate.yaml:6:5: checks: b: interval: must be 1s or more: '0.1s'",
    ]


WRONG: list[tuple[str, str, bool]] = [
    ("name: x\nquery: up", "has no bounds", BY_SCHEMA),
    ("query: up\nmax: 1", 'has no "name"', BY_SCHEMA),
    ("name: x\nmax: 1", "asks nothing", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nhttp: {url: http://web}", "both query and http", BY_SCHEMA),
    ("name: ''\nquery: up\nmax: 1", "name: is empty", BY_SCHEMA),
    ("name: a/b\nquery: up\nmax: 1", "not a check's name", BY_SCHEMA),
    ("name: 5\nquery: up\nmax: 1", "name: not text", BY_SCHEMA),
    ("name: x\nquery: ' '\nmax: 1", "query: is empty", BY_SCHEMA),
    ("name: x\nquery: 1\nmax: 1", "query: not text", BY_SCHEMA),
    ("name: x\nquery:\nmax: 1", "query: has no value", BY_SCHEMA),
    ("name: x\nquery: up\nmax:", "max: has no value", BY_SCHEMA),
    ("name: x\nquery: up\nmax: '1'", "max: not a number: '1'", BY_SCHEMA),
    ("name: x\nquery: up\nmax: yes", "max: not a number: 'true'", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1_000:0", "max: not a number", BY_SCHEMA),
    ("name: x\nquery: up\nmax: [1]", "max: not a number", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmin: 2", "min is more than max"[4:], BY_LOADER),
    ("name: x\nquery: up\nmax: 1\ninterval: 0.5", "interval: must be 1s or more", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ninterval: soon", "interval: not a duration", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ninterval: true", "interval: not a duration", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ninterval: 2592001", "too long a duration", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ninterval: 31d", "interval: not a duration", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ninitial-delay: -1", "not a duration", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nwindow: 0", "window: must be 1s or more", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmax-age: 0", "max-age: must be more than 0", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ncount: 0", "count: not a whole number from 1", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ncount: 1.5", "count: not a whole number", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ncount: true", "count: not a number", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nallowed-failures: -1", "from 0 to", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmin-passes: 0", "from 1 to", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmin-passes: 3\ncount: 2", "could never pass", BY_LOADER),
    ("name: x\nquery: up\nmax: 1\nrequired: 'no'", "required: neither true nor", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ndry-run: 1", "dry-run: neither true nor", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nduring: bakes", "(did you mean bake?)", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nduring: 1", "not one of rollout, bake, both", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ndeployment: We", "not the name of a workload", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nfreshness: ''", "freshness: is empty", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmin-samples: 3", "min-samples: not a mapping", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmin-samples:", "min-samples: has no value", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmin-samples: {min: 1}", 'has no "query"', BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmin-samples: {query: a, min: 0}", "above 0", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nvariables: [a]", "not a mapping of variables", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nvariables: {a: 1.5}", "variables.a: not text", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nvariables: {A: b}", "not a variable's name", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nvariables: {window: b}", "is built in", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nvariables: {a: ''}", "is not one line", BY_SCHEMA),
    ('name: x\nquery: "up{a=\\"${b}\\"}"\nmax: 1', "unknown variable ${b}", BY_LOADER),
    ("name: x\nquery: 'up{a=\"${b'\nmax: 1", "does not end (at character 7)", BY_LOADER),
    (
        "name: x\nquery: up\nmax: 1\nallowed-failures: 1\nconsecutive-failures: 2",
        "not both",
        BY_SCHEMA,
    ),
    ("name: x\nquery: up\nmax: 1\nallowed_failures: 1", '"allowed-failures"', BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\ntimeout: 1", "goes with command alone", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nurl: http://web", "unknown key", BY_SCHEMA),
    ("name: x\nquery: up\nmax: 1\nmetrics: istio", "goes with use alone", BY_SCHEMA),
    (f"name: x\nquery: {BY_POD}\ncompare: baseline", "compare: not a mapping", BY_SCHEMA),
    (f"name: x\nquery: {BY_POD}\ncompare: {{}}", "neither max-ratio nor test", BY_SCHEMA),
    (f"name: x\nquery: {BY_POD}\ncompare: {{min-delta: 1}}", "neither", BY_SCHEMA),
    (f"name: x\nquery: {BY_POD}\ncompare: {{max-ratio: 0.5}}", "1 or more", BY_SCHEMA),
    (f"name: x\nquery: {BY_POD}\ncompare: {{max-ratio: 2, alpha: 0.1}}", "alone", BY_SCHEMA),
    (f"name: x\nquery: {BY_POD}\ncompare: {{test: t}}", "not one of mann-whitney", BY_SCHEMA),
    (
        f"name: x\nquery: {BY_POD}\ncompare: {{test: mann-whitney, max-ratio: 2}}",
        "does not go with test",
        BY_SCHEMA,
    ),
    (
        f"name: x\nquery: {BY_POD}\ncompare: {{test: mann-whitney, alpha: 0.6}}",
        "at most 0.5",
        BY_SCHEMA,
    ),
    (f"name: x\nquery: {BY_POD}\nreduce: all\ncompare: {{max-ratio: 2}}", "reduce by", BY_SCHEMA),
    ("name: x\nquery: up\ncompare: {max-ratio: 2}", "compare: needs a query", BY_LOADER),
    ("name: x\nhttp: http://web", "http: not a mapping", BY_SCHEMA),
    ("name: x\nhttp: {}", 'has no "url"', BY_SCHEMA),
    ("name: x\nhttp: {url: web/health}", "has to begin with http://", BY_SCHEMA),
    ("name: x\nhttp: http://me:pw@web", "http: not a mapping", BY_SCHEMA),
    ("name: x\nhttp: {url: 'http://me:pw@web'}", "cannot hold a user", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, status: 99}", "not a status: '99'", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, status: ok}", "not a status", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, status: 300-200}", "a range of no status", BY_LOADER),
    ("name: x\nhttp: {url: http://web, status: true}", "not a status", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, method: POST}", "not one of GET, HEAD", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, method: HEAD, contains: a}", "no body", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, min: 1}", "bounds need a json path", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, json-path: $.a}", "has no bounds", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, json-path: a..b, min: 1}", "not a JSON path", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, redirects: 11}", "from 0 to 10", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, timeout: 0}", "more than 0", BY_SCHEMA),
    ("name: x\nhttp: {url: http://web, max_latency: 1}", '"max-latency"', BY_SCHEMA),
    ("name: x\nhttp: {url: http://web}\nstatus: 200", 'stands under "http"', BY_SCHEMA),
    ("name: x\nhttp: {url: http://web}\nmax: 1", 'stands under "http"', BY_SCHEMA),
    ("name: x\ncommand: curl -f x", "not a list of words", BY_SCHEMA),
    ("name: x\ncommand: []", "not a list of words", BY_SCHEMA),
    ("name: x\ncommand: ['']", "has no command", BY_SCHEMA),
    ("name: x\ncommand: [nc, web, 80]", "not a word: '80'", BY_SCHEMA),
    ('name: x\ncommand: [a, "\\0"]', "not a word", BY_SCHEMA),
    ("name: x\ncommand: ['true']\nmax: 1", "goes with query or use alone", BY_SCHEMA),
    ("use: x", "not one of error-rate", BY_SCHEMA),
    ("use: restarts\nmetrics: istio", "no restarts for the metrics", BY_SCHEMA),
    ("use: error-rate\nmetrics: nginx", "needs the variable service", BY_SCHEMA),
    ("use: restarts\nmin-samples: {min: 3}", 'has no "query"', BY_SCHEMA),
    ("use: error-rate\nquery: up", "both query and use", BY_SCHEMA),
    ("use: error-rate\nfreshness: 'up{a=\"${b}\"}'", "unknown variable ${b}", BY_LOADER),
    ("use: error-share\nmetrics: nginx", "no error-share for the metrics", BY_SCHEMA),
    ('use: error-share\npods: app="db"', "pods: has to name ${replicaset}", BY_LOADER),
    (
        "{use: error-rate, metrics: nginx, variables: {service: a}, pods: 'a=\"${replicaset}\"'}",
        "pods: error-rate for nginx selects no pods",
        BY_LOADER,
    ),
    ("use: error-share\nmax: 1", "max: goes with query alone", BY_SCHEMA),
    ("use: error-share\ncompare: {test: counts, max-ratio: 2}", "unknown key", BY_SCHEMA),
    ("use: error-rate\nwarm-up: 1m", "warm-up: goes with bad alone", BY_SCHEMA),
    ("[a]", "not a mapping of a check", BY_SCHEMA),
]


@pytest.mark.contract("B432", "B434", "B436", "B438")
@each(("text", "problem", "seen"), WRONG)
def test_what_is_wrong_is_refused_and_the_schema_agrees(
    folder: Folder, text: str, problem: str, seen: bool
) -> None:
    """One complaint, which begins with the place; and an editor with the schema sees it too."""
    (fault,) = folder.problems(listed(text))
    assert fault.startswith("rollout-gate.yaml:")
    assert problem in fault
    assert folder.is_valid(listed(text)) != seen


@pytest.mark.contract("B437")
@pytest.mark.parametrize(
    ("flags", "problem"),
    [
        ({"check": ("errors: up <= 1",)}, "--check: a second check is named errors"),
        ({"check": ("a: up <= 1", "a: up >= 1")}, "--check: two checks have one name"),
        (
            {"http_check": ("http://web/a",), "check": ("web-a: up <= 1",)},
            "--http-check: a second check is named web-a",
        ),
    ],
)
def test_two_checks_of_one_name_are_refused(
    folder: Folder, flags: dict[str, Any], problem: str
) -> None:
    """Whoever says them: a result has one row for each name."""
    text = listed("name: errors\nquery: up\nmax: 1")
    assert folder.problems(text, **flags) == [problem]


@pytest.mark.contract("B434")
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("checks: 3", "rollout-gate.yaml:1: checks: not a list of checks: '3'"),
        ("checks: {name: x}", "rollout-gate.yaml:1: checks: not a list of checks"),
        ("checks:", "rollout-gate.yaml:1: checks: has no value"),
        ("check: [\n'a: up < 1',\n'b: up <= 1']", "rollout-gate.yaml:2:1: check: a: < is no bound"),
    ],
)
def test_what_is_no_list_of_checks_is_named(folder: Folder, text: str, problem: str) -> None:
    """One-liners of a file have lines too."""
    (fault,) = folder.problems(text)
    assert fault.startswith(problem)


@pytest.mark.contract("B432")
@pytest.mark.parametrize("figure", [math.nan, math.inf, -math.inf, 10**400])
def test_a_bound_that_is_no_finite_number_is_refused(figure: float) -> None:
    """JSON and YAML of a file cannot say one; a recording's policy may."""
    with pytest.raises(ValueError, match="not a number"):
        Settings.of({"checks": [{"name": "x", "query": "up", "max": figure}]})
