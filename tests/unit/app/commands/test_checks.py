"""The command `checks`: every check asked now, what it shows, and its exit code."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import responses
import yaml
from jsonschema import Draft202012Validator

from gate.report.schema.json_schema import checks_schema
from tests.unit.app.bodies import service, web
from tests.unit.app.conftest import Ended, Gate, Manifest
from tests.unit.app.metrics import ASKED, BASE, CHECK, QUERY, Metrics, Unreachable
from tests.unit.app.server import ApiServer

UP = "up: sum(up) >= 1"


@pytest.fixture(autouse=True)
def nothing_is_written(server: ApiServer) -> object:
    """Hold every test of this file to it."""
    yield
    assert server.writes() == []


@pytest.fixture
def serving(server: ApiServer, metrics: Metrics) -> Metrics:
    """Return the Prometheus of a Deployment that serves."""
    server.put(web())
    return metrics


def asked(gate: Gate, *names: str, checks: tuple[str, ...] = (CHECK,), **more: Any) -> Ended:
    """Run the command on Deployments."""
    return gate("checks", names, **{"prometheus_url": BASE, "check": list(checks), **more})


def only(ended: Ended) -> dict[str, Any]:
    """Return the only check of a document, which keeps to its schema."""
    Draft202012Validator(checks_schema()).validate(ended.document)
    (check,) = ended.document["checks"]
    found: dict[str, Any] = check
    return found


# -- exit codes ------------------------------------------------------------------------------------


@pytest.mark.contract("B456")
@pytest.mark.parametrize(
    ("values", "code", "verdict"),
    [
        ([0.1], 0, "pass"),
        ([0.7], 6, "fail"),
        ([], 7, "no-data"),
        ([math.nan], 7, "no-data"),
        ([0.1, 0.2], 2, "error"),
    ],
)
def test_the_exit_code_is_the_worst_verdict(
    gate: Gate, serving: Metrics, values: list[float], code: int, verdict: str
) -> None:
    """What runs now is judged by one measurement of each check."""
    serving.answers(*values)
    ended = asked(gate, "web")
    check = only(ended)
    assert (ended.code, ended.document["exit_code"]) == (code, code)
    assert (check["verdict"], check["bounds"]) == (verdict, "<= 0.5")
    assert check["value"] == (values[0] if code in (0, 6) else None)
    assert serving.asked == [ASKED]


@pytest.mark.contract("B456")
@pytest.mark.parametrize(("status", "code"), [(400, 2), (422, 2), (401, 3), (404, 3)])
def test_what_cannot_be_asked_ends_as_before_a_write(
    gate: Gate, metrics: Metrics, status: int, code: int
) -> None:
    """A wrong query is 2, a server that refuses for good 3."""
    metrics.refuses(status, "1:5: parse error: unexpected end of input")
    assert asked(gate, checks=(UP,)).code == code


@pytest.mark.contract("B456")
def test_an_outage_is_no_verdict(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Prometheus that does not answer now is 7."""
    monkeypatch.setattr("gate.app.runtime.check_sources.sources", lambda *_: Unreachable({}))
    ended = asked(gate, checks=(UP,))
    assert (ended.code, only(ended)["verdict"]) == (7, "error")


@pytest.mark.contract("B456", "B416")
def test_what_only_reports_has_no_voice(gate: Gate, metrics: Metrics) -> None:
    """It is shown and changes no exit code."""
    metrics.answers(9)
    check = {"name": "tried", "query": "sum(up)", "max": 1, "required": False}
    ended = gate("checks", (), prometheus_url=BASE, checks=[check])
    assert (ended.code, only(ended)["decides"]) == (0, False)


@pytest.mark.contract("B456")
def test_without_a_check_there_is_nothing_to_ask(gate: Gate) -> None:
    """Nothing asked is no pass."""
    ended = gate("checks", ())
    assert ended.code == 2
    assert "there are no checks to ask" in ended.err


@pytest.mark.contract("B456")
def test_a_service_and_a_command_are_asked_too(
    gate: Gate, metrics: Metrics, tmp_path: Path
) -> None:
    """All three sources in one table."""
    url = "https://shop.example/live"
    with responses.RequestsMock() as mock:
        mock.get(url, status=503)
        ended = gate("checks", (), http_check=[url], smoke_test=["sh -c 'echo all is well'"])
    verdicts = {check["source"]: check["verdict"] for check in ended.document["checks"]}
    assert (ended.code, verdicts) == (6, {"http": "fail", "command": "pass"})


# -- what it is about ------------------------------------------------------------------------------


@pytest.mark.contract("B457")
def test_without_a_deployment_no_cluster_is_asked(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """A query that names no version needs none, nor a kubeconfig."""
    metrics.answers(1)
    ended = asked(gate, checks=(UP,), kubeconfig="/nowhere")
    assert ended.code == 0, ended.err
    assert server.seen == []


@pytest.mark.contract("B457")
def test_a_namespace_that_was_given_asks_nobody(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """The flag says it."""
    check = 'up: sum(up{namespace="${namespace}"}) >= 1'
    metrics.answers(1)
    ended = asked(gate, checks=(check,), namespace="prod", kubeconfig="/nowhere")
    assert ended.code == 0, ended.err
    assert metrics.asked == ['sum(up{namespace="prod"})']
    asked(gate, checks=(check,))
    assert metrics.asked[-1] == 'sum(up{namespace="shop"})'
    assert server.seen == []


@pytest.mark.contract("B457")
def test_the_manifest_says_about_which_deployment(
    gate: Gate, server: ApiServer, metrics: Metrics, manifest: Manifest
) -> None:
    """What runs is asked about, not what the file would make of it."""
    server.put(web())
    ended = asked(gate, file=[manifest(service(), web("2", namespace=None))])
    assert (ended.code, metrics.asked) == (0, [ASKED])
    assert only(ended)["about"] == "deployment/web"


@pytest.mark.contract("B457")
def test_the_check_says_about_which_deployment(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """Two checks of two Deployments need no argument; a name leaves the other's out."""
    server.put(web())
    server.put(web(name="api"))
    checks = [
        {"name": name, "query": QUERY, "max": 0.5, "deployment": name} for name in ("api", "web")
    ]
    ended = gate("checks", (), prometheus_url=BASE, checks=checks)
    assert ended.code == 0, ended.err
    assert sorted(metrics.asked) == [ASKED.replace("web", "api"), ASKED]
    ended = gate("checks", ("web",), prometheus_url=BASE, checks=checks)
    assert only(ended)["name"] == "web"


@pytest.mark.contract("B457", "B455")
def test_a_variable_without_a_deployment_asks_nobody(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """It is said before a cluster is asked."""
    ended = asked(gate, kubeconfig="/nowhere")
    assert ended.code == 2
    assert "${replicaset} is of one Deployment, and there is none" in ended.err
    assert (server.seen, metrics.asked) == ([], [])


@pytest.mark.contract("B457")
def test_a_deployment_that_is_not_there_is_refused(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """Nothing runs that could be asked about."""
    ended = asked(gate, "nobody")
    assert (ended.code, ended.document["reason"]) == (3, "NotFound")


def comparing() -> dict[str, Any]:
    """Return a check of new against old."""
    return {"name": "slow", "query": QUERY, "max": 0.5, "compare": {"max-ratio": 2}}


@pytest.mark.contract("B457", "B423")
def test_one_version_is_compared_with_nothing(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """Its value is shown and judged by the bounds; a version that has no pods left is none."""
    server.put(web("0"))
    server.put(web())
    ended = gate("checks", ("web",), prometheus_url=BASE, checks=[comparing()])
    check = only(ended)
    assert (ended.code, check["verdict"], check["value"]) == (7, "no-data", 0.1)
    assert check["message"] == "only one version runs, so there is nothing to compare it with"
    metrics.answers(0.9)
    assert gate("checks", ("web",), prometheus_url=BASE, checks=[comparing()]).code == 6


@pytest.mark.contract("B457")
def test_in_mid_rollout_new_is_compared_with_old(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """The version of the live template against the other one that serves."""
    server.put(web())
    server.put(web("pending"))
    ended = gate("checks", ("web",), prometheus_url=BASE, checks=[comparing()])
    check = only(ended)
    assert (ended.code, check["value"], check["baseline"]) == (0, 0.1, 0.1)
    assert metrics.asked == [ASKED.replace("hash1", "hash2"), ASKED]


# -- what it shows ---------------------------------------------------------------------------------


@pytest.mark.contract("B456")
def test_the_table_has_name_verdict_value_bounds_and_query(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """For people: a row, the query below, and what it comes to."""
    server.put(web())
    metrics.answers(0.7)
    ended = asked(gate, "web", output="text")
    assert ended.out.splitlines() == [
        "  CHECK   VERDICT  VALUE  BOUNDS",
        "✗ errors  fail     0.7    <= 0.5",
        f"    {ASKED}",
        "    0.7 is not <= 0.5",
        "",
        "exit 6: errors: fails; --explain shows how",
    ]


@pytest.mark.contract("B456", "B451")
def test_a_mistake_is_marked_in_the_table(gate: Gate, metrics: Metrics) -> None:
    """The place that the server complains of."""
    metrics.refuses(400, "1:5: parse error: unexpected identifier")
    lines = asked(gate, checks=(UP,), output="text").out.splitlines()
    at = lines.index("    sum(up)")
    assert lines[at + 1] == "        ^"


@pytest.mark.contract("B458")
def test_explained_is_every_step_of_the_way(
    gate: Gate, server: ApiServer, metrics: Metrics
) -> None:
    """The query, what came back series by series, and what each rule made of it."""
    server.put(web())
    metrics.answers(0.2, 0.4)
    check = {
        "name": "errors",
        "query": QUERY,
        "max": 0.5,
        "reduce": "max",
        "min-samples": {"query": "sum(requests)", "min": 20},
    }
    metrics_of = {"prometheus_url": BASE, "checks": [check], "explain": True, "output": "text"}
    ended = gate("checks", ("web",), **metrics_of)
    text = ended.out
    assert ended.code == 2  # min-samples gives two series as well
    for words in (
        f"    asked        {ASKED}",
        '│ 0.2  {pod="p-0"}',
        '│ 0.4  {pod="p-1"}',
        "    min-samples  sum(requests)",
        "reduce       max of the series is judged; there are 2",
        "bounds       good is <= 0.5",
        "2 series; the query has to give one",
        "in a run     asked every 10s in rollout and bake; one failure fails it",
    ):
        assert words.strip() in text, text


@pytest.mark.contract("B458")
def test_a_commands_output_is_shown_where_it_is_explained(gate: Gate) -> None:
    """Its last lines, as it wrote them."""
    ended = gate(
        "checks", (), smoke_test=["sh -c 'echo one; echo two >&2; exit 3'"], explain=True,
        output="text",
    )  # fmt: skip
    assert ended.code == 6
    assert "│ one" in ended.out
    assert "│ two" in ended.out
    assert "fail: exit 3: two" in ended.out


@pytest.mark.contract("B459")
def test_show_prints_configuration_and_asks_nothing(gate: Gate, server: ApiServer) -> None:
    """What is printed is what a file may hold."""
    ended = gate("checks", (), show="error-rate", metrics="istio", kubeconfig="/nowhere")
    (check,) = yaml.safe_load(ended.out)["checks"]
    assert (ended.code, check["name"]) == (0, "error-rate")
    assert "istio_requests_total" in check["query"]
    again = gate("checks", (), checks=[check], prometheus_url=BASE, show="restarts")
    assert again.code == 0
    assert server.seen == []


@pytest.mark.contract("B459")
def test_show_lists_what_there_is(gate: Gate) -> None:
    """For a name that is not there, with the one that may be meant."""
    ended = gate("checks", (), show="error-rat", output="text")
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean error-rate? there are error-rate, latency-p99, restarts" in ended.err


@pytest.mark.contract("B458", "B450")
def test_no_secret_is_in_what_it_shows(gate: Gate, metrics: Metrics, tmp_path: Path) -> None:
    """Neither a token nor a header, in no form of the output."""
    token = tmp_path / "token"
    token.write_text("c4nary-t0ken")
    metrics.answers(1)
    for more in ({"output": "json"}, {"output": "text", "explain": True}):
        given = {"prometheus_token_file": str(token), **more}
        ended = asked(gate, checks=(UP,), **given)
        assert ended.code == 0, ended.err
        assert "c4nary" not in ended.out + ended.err
