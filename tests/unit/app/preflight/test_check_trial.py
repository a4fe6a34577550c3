"""Queries of checks before the first write: what refuses, what warns; nothing is written by it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.unit.app.bodies import service, web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.metrics import BASE, CHECK, COUNTERS, QUERY, Metrics, Unreachable, asked_of
from tests.unit.app.preflight.conftest import notes, warnings
from tests.unit.app.server import Server

IN_NAMESPACE = 'errors: sum(rate(errors{namespace="${namespace}"}[${window}])) <= 0.5'
NAMED = {"name": "errors", "query": QUERY, "max": 0.5}


pytestmark = pytest.mark.usefixtures("nothing_is_written")


def tried(gate: Gate, path: str, *checks: str | Mapping[str, Any], **more: Any) -> Ended:
    """Preflight a manifest with these checks, as flags and as in a file."""
    flags = [check for check in checks or (CHECK,) if isinstance(check, str)]
    entries = [check for check in checks if not isinstance(check, str)]
    given = {"prometheus_url": BASE, "check": flags, "checks": entries, **more}
    return gate("preflight", file=[path], **given)


# -- what is asked ---------------------------------------------------------------------------------


@pytest.mark.contract("B450")
def test_every_query_of_a_check_is_tried(
    gate: Gate, server: Server, path: str, metrics: Metrics
) -> None:
    """About the ReplicaSet that serves; what qualifies a value can be as wrong as its own query."""
    more = {"min-samples": {"query": "sum(requests)", "min": 0.05}, "freshness": "errors"}
    ended = tried(gate, path, {**NAMED, **more})
    assert ended.code == 0, ended.err
    assert metrics.asked[0] == asked_of(server)
    assert len(metrics.asked) == 3
    assert notes(ended) == [
        f"errors: {asked_of(server)}",
        "errors, min-samples: sum(requests)",
        "errors, freshness: time() - max(timestamp(errors ))",
    ]


@pytest.mark.contract("B450")
def test_nothing_is_printed_that_headers_hold(
    gate: Gate, path: str, metrics: Metrics, tmp_path: Path
) -> None:
    """A tenant's header is sent and told nobody; nor is what may be secret in a URL."""
    (tmp_path / "tenant").write_text("c4nary-t3nant")
    url = "https://shop.example/live?token=c4nary-t0ken"
    header = f"X-Scope-OrgID={tmp_path / 'tenant'}"
    ended = tried(gate, path, prometheus_header=[header], http_check=[url])
    assert ended.code == 0, ended.err
    assert metrics.asked
    assert "c4nary" not in ended.out + ended.err
    assert any(note.endswith("GET https://shop.example/live?...") for note in notes(ended))


@pytest.mark.contract("B450", "B451")
def test_where_nothing_serves_the_form_is_tried(gate: Gate, metrics: Metrics) -> None:
    """A first version has no baseline: a malformed query is found all the same."""
    path = gate.manifest(web())
    metrics.answers()
    ended = tried(gate, path)
    assert (ended.code, warnings(ended)) == (0, [])
    assert notes(ended) == [f"errors: {QUERY}"]
    metrics.refuses(400, '1:5: parse error: unexpected character: "!"')
    assert tried(gate, path).code == 2


# -- counters --------------------------------------------------------------------------------------


@pytest.mark.contract("B1162")
def test_counters_of_the_running_version_are_looked_for(
    gate: Gate, path: str, metrics: Metrics
) -> None:
    """Without an error so far there is no series of bad ones; without a total none can be seen."""
    metrics.counts(total=100)
    ended = tried(gate, path, COUNTERS)
    assert (ended.code, warnings(ended)) == (0, [])
    assert len(metrics.asked) == 1
    assert "errors: 1 series of total, 0 of bad, which counts as 0" in ended.err
    computed = {**COUNTERS, "bad": f'{COUNTERS["total"]} - good{{pod=~"${{replicaset}}-.*"}}'}
    (warning,) = warnings(tried(gate, path, computed))
    assert "bad gives no series although total does" in warning
    metrics.counts()
    (warning,) = warnings(tried(gate, path, COUNTERS))
    assert warning.endswith("this check cannot see the running version: no series of total")


@pytest.mark.contract("B1154")
@pytest.mark.parametrize(
    ("counted", "why"),
    [
        ({"bad": 200, "total": 100}, "more bad events (200) than events at all (100)"),
        ({"bad": 0.5, "total": 100}, "bad: 0.5 is no count of events"),
    ],
)
def test_what_are_no_counters_is_a_mistake(
    gate: Gate, path: str, metrics: Metrics, counted: dict[str, float], why: str
) -> None:
    """Exit 2, with the numbers and the query."""
    metrics.counts(**counted)
    ended = tried(gate, path, COUNTERS)
    assert (ended.code, ended.document["reason"]) == (2, "Usage")
    assert f"check errors: {why}" in ended.err
    assert "bad of check errors is\nrequests{pod=~" in ended.err


# -- what is wrong with a check --------------------------------------------------------------------


@pytest.mark.contract("B451")
def test_all_that_is_wrong_is_told_at_once(
    gate: Gate, server: Server, path: str, metrics: Metrics
) -> None:
    """The server's words, and a mark under each query as it was sent."""
    metrics.refuses(400, 'invalid parameter "query": 1:3: parse error: unexpected <by>')
    ended = tried(gate, path, CHECK, "other: sum(x) <= 1")
    assert (ended.code, ended.document["reason"]) == (2, "Usage")
    assert "check errors: https://prom.example answered 400" in ended.err
    lines = ended.err.splitlines()
    for query in (asked_of(server), "sum(x)"):
        assert lines[lines.index(query) + 1] == "  ^"


@pytest.mark.contract("B451", "B416")
def test_what_only_reports_refuses_nothing(gate: Gate, path: str, metrics: Metrics) -> None:
    """A check that is tried out never stops a deployment."""
    metrics.refuses(400, "1:1: parse error")
    ended = tried(gate, path, {**NAMED, "dry-run": True})
    assert ended.code == 0
    assert "check errors: " in warnings(ended)[0]


# -- what is wrong with the server -----------------------------------------------------------------


@pytest.mark.contract("B452")
@pytest.mark.parametrize(
    ("status", "headers", "words"),
    [
        (401, {}, "the credentials are missing, wrong or expired"),
        (403, {}, "these credentials may not ask this"),
        (404, {}, "the URL has to end before /api/v1"),
        (302, {"Location": "https://login.example"}, "redirects to https://login.example"),
        (200, {}, "login page"),
    ],
)
def test_a_server_that_never_answers_refuses(
    gate: Gate, path: str, metrics: Metrics, status: int, headers: dict[str, str], words: str
) -> None:
    """Exit 3 with the next step: in mid-run the same would be noise."""
    metrics.says(status, "<html>Sign in</html>", **headers)
    ended = tried(gate, path)
    assert (ended.code, ended.document["reason"]) == (3, "CheckError")
    assert words in ended.err


@pytest.mark.contract("B452", "B1430", "B1605")
def test_a_server_that_is_not_there_now_is_a_warning_or_a_refusal(
    gate: Gate, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outage of what measures stops nobody who has to deploy, but who asked for strictness."""
    monkeypatch.setattr("gate.app.runtime.check_sources.sources", lambda *_: Unreachable({}))
    ended = tried(gate, path)
    assert ended.code == 0
    said = (
        "check errors could not be measured now, so what it asks is unchecked, its syntax too:"
        " prom.example refuses the connection"
    )
    assert warnings(ended) == [said]
    strict = tried(gate, path, strict_checks=True)
    assert (strict.code, strict.document["reason"]) == (3, "CheckError")
    assert said in strict.err


@pytest.mark.contract("B1605")
@pytest.mark.parametrize("status", [429, 500, 503])
def test_an_answer_that_says_not_now_leaves_a_query_unchecked(
    gate: Gate, path: str, metrics: Metrics, status: int
) -> None:
    """It is an outage as well: who has to deploy is warned, and stopped if strict."""
    metrics.says(status, "<html>Try again</html>")
    ended = tried(gate, path)
    assert ended.code == 0, ended.err
    (warning,) = warnings(ended)
    assert warning.startswith(
        "check errors could not be measured now, so what it asks is unchecked"
    )
    assert f"answered {status}" in warning
    assert tried(gate, path, strict_checks=True).code == 3


# -- what the running version says -----------------------------------------------------------------


@pytest.mark.contract("B453")
def test_a_check_that_sees_nothing_is_a_warning_or_a_refusal(
    gate: Gate, path: str, metrics: Metrics
) -> None:
    """A label that is spelt wrong would be inconclusive at the end; --strict-checks refuses."""
    metrics.answers()
    ended = tried(gate, path)
    assert ended.code == 0
    assert warnings(ended) == ["check errors: this check cannot see the running version: no series"]
    strict = tried(gate, path, strict_checks=True)
    assert (strict.code, strict.document["reason"]) == (3, "CheckInconclusive")
    assert "drop --strict-checks" in strict.err


@pytest.mark.contract("B453")
def test_bounds_that_the_running_version_violates_are_a_warning(
    gate: Gate, path: str, metrics: Metrics
) -> None:
    """Either the bound is wrong or production is: no new version could be told from it."""
    metrics.answers(0.7)
    ended = tried(gate, path)
    assert ended.code == 0
    assert warnings(ended) == [
        "check errors: the running version violates it already: 0.7 is not <= 0.5"
    ]


@pytest.mark.contract("B453")
def test_a_comparison_is_tried_by_its_value_alone(
    gate: Gate, server: Server, path: str, metrics: Metrics
) -> None:
    """The version that serves against itself says nothing; that it is seen does."""
    compared = {"name": "slow", "query": QUERY, "compare": {"test": "mann-whitney"}}
    ended = tried(gate, path, compared)
    assert (ended.code, warnings(ended)) == (0, [])
    assert metrics.asked == [asked_of(server)]


@pytest.mark.contract("B453", "B423")
def test_a_comparison_without_a_baseline_is_warned_of(gate: Gate, metrics: Metrics) -> None:
    """It would be inconclusive at the end, whatever the new version does."""
    compared = {"name": "slow", "query": QUERY, "compare": {"max-ratio": 2}}
    ended = tried(gate, gate.manifest(web()), compared)
    assert (ended.code, metrics.asked[1:]) == (0, [])
    (warning,) = warnings(ended)
    assert warning.startswith("check slow compares with the version that serves")


@pytest.mark.contract("B453")
def test_two_first_versions_are_nothing_that_a_check_could_see(
    gate: Gate, metrics: Metrics
) -> None:
    """A query about no single Deployment has nothing to see where none of them serves."""
    metrics.answers()
    path = gate.manifest(web(), web(name="api"))
    ended = tried(gate, path, IN_NAMESPACE, strict_checks=True)
    assert (ended.code, warnings(ended)) == (0, []), ended.err


# -- which Deployment ------------------------------------------------------------------------------


@pytest.mark.contract("B455")
def test_a_query_needs_a_server(gate: Gate, server: Server, path: str) -> None:
    """A check that nobody can answer is a mistake, and no silence."""
    for ended in (
        gate("preflight", file=[path], check=[CHECK]),
        gate("apply", file=[path], check=[CHECK]),
        gate("verify", ("web",), check=[CHECK]),
    ):
        assert ended.code == 2
        assert "check errors: no Prometheus is configured" in ended.err
        assert "--prometheus-url" in ended.err
        assert server.seen == []


@pytest.mark.contract("B455")
def test_of_several_deployments_a_check_says_which(
    gate: Gate, server: Server, metrics: Metrics
) -> None:
    """A variable has one value."""
    server.put(web(), web(name="api"))
    path = gate.manifest(web("2"), web("2", name="api"))
    ended = tried(gate, path)
    assert ended.code == 2
    assert "check errors: ${replicaset} is of one workload, and there are several" in ended.err
    assert "deployment: web" in ended.err
    assert tried(gate, path, {**NAMED, "deployment": "web"}).code == 0
    assert metrics.asked == [asked_of(server)]


@pytest.mark.contract("B455")
def test_a_deployment_that_is_not_judged_is_a_mistake(
    gate: Gate, path: str, metrics: Metrics
) -> None:
    """A check of a Deployment that was renamed would never run."""
    ended = tried(gate, path, {**NAMED, "deployment": "wbe"})
    assert (ended.code, metrics.asked) == (2, [])
    assert "check errors: no workload that is judged is called wbe" in ended.err
    assert "there is deployment/web" in ended.err
    assert "belongs in a configuration of its own: --config FILE" in ended.err


@pytest.mark.contract("B455")
def test_a_manifest_without_a_deployment_can_be_checked(gate: Gate, metrics: Metrics) -> None:
    """A Service that is switched: a check that names no version sees what it does."""
    path = gate.manifest(service())
    ended = tried(gate, path, IN_NAMESPACE)
    assert ended.code == 0, ended.err
    assert metrics.asked == ['sum(rate(errors{namespace="shop"}[60s]))']
    ended = tried(gate, path)
    assert ended.code == 2
    assert "${replicaset} is of one workload, and there is none" in ended.err


@pytest.mark.contract("B1676")
def test_that_a_server_is_asked_again_is_said_before_the_wait(
    gate: Gate, path: str, metrics: Metrics
) -> None:
    """Once, however many checks wait for it."""
    metrics.says(503, "busy")
    ended = tried(gate, path, CHECK, "other: sum(other) <= 1")
    again = [line for line in notes(ended) if "asked again" in line]
    assert again == [f"{BASE} answered 503: busy; asked again for up to 10s"], ended.err
    at = {line.split()[0] for line in ended.err.splitlines() if "asked again" in line}
    assert at == {"0.0s"}, ended.err
