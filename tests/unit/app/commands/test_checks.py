"""The command `checks`: every check asked now, what it shows, and its exit code."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest
import responses
import yaml
from jsonschema import Draft202012Validator

from gate.report.schema.json_schema import checks_schema
from tests.cluster.workloads import stateful_set
from tests.unit.app.bodies import service, web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.metrics import BASE, CHECK, QUERY, Metrics, asked_of
from tests.unit.app.server import Server

UP = "up: sum(up) >= 1"


@pytest.fixture
def serving(server: Server, metrics: Metrics) -> Iterator[Metrics]:
    """Return the Prometheus of a Deployment that serves, to which nothing is written."""
    server.put(web())
    yield metrics
    assert server.writes() == []


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
        ([2], 0, "pass"),
        ([0.5], 6, "fail"),
        ([], 7, "no-data"),
        ([math.nan], 7, "no-data"),
        ([2, 3], 2, "error"),
    ],
)
def test_the_exit_code_is_the_worst_verdict(
    here: Gate, metrics: Metrics, values: list[float], code: int, verdict: str
) -> None:
    """What runs now is judged by one measurement; without a Deployment no cluster is asked."""
    metrics.answers(*values)
    ended = asked(here, checks=(UP,), kubeconfig="/nowhere")
    check = only(ended)
    assert (ended.code, ended.document["exit_code"]) == (code, code)
    assert (check["verdict"], check["bounds"]) == (verdict, ">= 1")
    assert check["value"] == (values[0] if code in (0, 6) else None)


@pytest.mark.contract("B456", "B416")
def test_what_only_reports_has_no_voice(here: Gate, metrics: Metrics) -> None:
    """It is shown and changes no exit code."""
    metrics.answers(9)
    check = {"name": "tried", "query": "sum(up)", "max": 1, "required": False}
    ended = here("checks", (), prometheus_url=BASE, checks=[check])
    assert (ended.code, only(ended)["decides"]) == (0, False)


@pytest.mark.contract("B456")
def test_without_a_check_there_is_nothing_to_ask(here: Gate) -> None:
    """Nothing asked is no pass."""
    ended = here("checks", ())
    assert ended.code == 2
    assert "there are no checks to ask" in ended.err


@pytest.mark.contract("B456", "B458")
def test_a_service_and_a_command_are_asked_too(here: Gate) -> None:
    """Both in one document; a command's last lines are shown, and it runs in its own phase."""
    url = "https://shop.example/live"
    with responses.RequestsMock() as mock:
        mock.get(url, status=503)
        ended = here("checks", (), http_check=[url], smoke_test=["true"])
    verdicts = {check["source"]: check["verdict"] for check in ended.document["checks"]}
    assert (ended.code, verdicts) == (6, {"http": "fail", "command": "pass"})
    command = "sh -c 'echo one in $ROLLOUT_GATE_PHASE; echo two >&2; exit 3'"
    text = here("checks", (), smoke_test=[command], explain=True, output="text").out
    assert "│ one in bake" in text
    assert "│ two" in text
    assert "fail: exit 3: two" in text


# -- what it is about ------------------------------------------------------------------------------


@pytest.mark.contract("B457")
def test_a_namespace_that_was_given_asks_nobody(
    gate: Gate, server: Server, metrics: Metrics
) -> None:
    """The flag says it, else the context."""
    check = 'up: sum(up{namespace="${namespace}"}) >= 1'
    metrics.answers(1)
    asked(gate, checks=(check,), namespace="prod")
    asked(gate, checks=(check,))
    assert metrics.asked == ['sum(up{namespace="prod"})', 'sum(up{namespace="shop"})']
    assert server.seen == []


@pytest.mark.contract("B457")
def test_the_manifest_says_about_which_deployment(
    gate: Gate, server: Server, serving: Metrics
) -> None:
    """What runs is asked about, not what the file would make of it."""
    ended = asked(gate, file=[gate.manifest(service(), web("2", namespace=None))])
    assert (ended.code, serving.asked) == (0, [asked_of(server)])
    assert only(ended)["about"] == "deployment/web"


@pytest.mark.contract("B457")
def test_the_check_says_about_which_deployment(
    gate: Gate, server: Server, serving: Metrics
) -> None:
    """Two checks of two Deployments need no argument; a name leaves the other's out."""
    server.put(web(name="api"))
    checks = [
        {"name": name, "query": QUERY, "max": 0.5, "deployment": name} for name in ("api", "web")
    ]
    ended = gate("checks", (), prometheus_url=BASE, checks=checks)
    assert ended.code == 0, ended.err
    assert sorted(serving.asked) == [asked_of(server, "api"), asked_of(server)]
    ended = gate("checks", ("web",), prometheus_url=BASE, checks=checks)
    assert only(ended)["name"] == "web"


@pytest.mark.contract("B457", "B455")
def test_a_variable_without_a_deployment_asks_nobody(here: Gate, metrics: Metrics) -> None:
    """It is said before a cluster is asked."""
    ended = asked(here, kubeconfig="/nowhere")
    assert ended.code == 2
    assert "${replicaset} is of one workload, and there is none" in ended.err
    assert metrics.asked == []


@pytest.mark.contract("B457")
def test_a_deployment_that_is_not_there_is_refused(gate: Gate, metrics: Metrics) -> None:
    """Nothing runs that could be asked about."""
    ended = asked(gate, "nobody")
    assert (ended.code, ended.document["reason"], metrics.asked) == (3, "NotFound", [])


@pytest.mark.contract("B457")
def test_a_workload_of_another_kind_is_named_with_it(
    gate: Gate, server: Server, metrics: Metrics
) -> None:
    """It is read as what it is."""
    server.put(stateful_set())
    metrics.answers(1)
    ended = asked(gate, "statefulset/db", checks=('up: sum(up{set="${statefulset}"}) >= 1',))
    assert (ended.code, metrics.asked) == (0, ['sum(up{set="db"})']), ended.err


COMPARING = {"name": "slow", "query": QUERY, "max": 0.5, "compare": {"max-ratio": 2}}


@pytest.mark.contract("B457", "B423")
def test_one_version_is_compared_with_nothing(gate: Gate, server: Server, serving: Metrics) -> None:
    """Its value is shown and judged by the bounds; a version that has no pods left is none."""
    server.put(web("2"))
    ended = gate("checks", ("web",), prometheus_url=BASE, checks=[COMPARING])
    check = only(ended)
    assert (ended.code, check["verdict"], check["value"]) == (7, "no-data", 0.1)
    assert check["message"] == "only one version runs: there is nothing to compare it with"
    serving.answers(0.9)
    assert gate("checks", ("web",), prometheus_url=BASE, checks=[COMPARING]).code == 6


@pytest.mark.contract("B1515")
def test_a_missing_program_hides_no_other_mistake(gate: Gate, metrics: Metrics) -> None:
    """It is wrong in its own row, and the others are asked; alone it ends the command as before."""
    smoke: Any = {"name": "smoke", "command": ["./no-such-program"]}
    query = {"name": "errors", "query": "sum(errors)", "max": 1}
    metrics.refuses(400, "1:4: parse error: unexpected end of input")
    ended = gate("checks", (), prometheus_url=BASE, checks=[smoke, query])
    assert ended.code == 2
    said = {one["name"]: (one["verdict"], one["message"]) for one in ended.document["checks"]}
    assert said["smoke"] == ("error", "no program './no-such-program' is found")
    assert said["errors"][0] == "error"
    assert "parse error" in said["errors"][1]
    for alone in ([smoke], [{**smoke, "required": False}, query]):
        ended = gate("checks", (), prometheus_url=BASE, checks=alone)
        assert (ended.code, "no program './no-such-program'" in ended.err) == (2, True)


@pytest.mark.contract("B457")
def test_in_mid_rollout_new_is_compared_with_old(
    gate: Gate, server: Server, serving: Metrics
) -> None:
    """The version of the live template against the other one that serves."""
    old = asked_of(server)
    server.put(web("pending"))
    ended = gate("checks", ("web",), prometheus_url=BASE, checks=[COMPARING])
    check = only(ended)
    assert (ended.code, check["value"], check["baseline"]) == (0, 0.1, 0.1)
    assert serving.asked == [asked_of(server, tag="pending"), old]


# -- what it shows ---------------------------------------------------------------------------------


@pytest.mark.contract("B456", "B451")
def test_a_mistake_is_marked_in_the_table(here: Gate, metrics: Metrics) -> None:
    """The place that the server complains of."""
    metrics.refuses(400, "1:5: parse error: unexpected identifier")
    lines = asked(here, checks=(UP,), output="text").out.splitlines()
    at = lines.index("    sum(up)")
    assert lines[at + 1] == "        ^"


@pytest.mark.contract("B458")
def test_explained_is_every_step_of_the_way(here: Gate, metrics: Metrics) -> None:
    """The query, what came back series by series, and what each rule made of it."""
    metrics.answers(0.2, 0.4)
    check = {
        "name": "errors",
        "query": "sum(errors)",
        "max": 0.5,
        "reduce": "max",
        "min-samples": {"query": "sum(requests)", "min": 20},
    }
    options = {"prometheus_url": BASE, "checks": [check], "explain": True, "output": "text"}
    ended = here("checks", (), **options)
    assert ended.code == 2  # min-samples gives two series as well
    for words in (
        "asked        sum(errors)",
        '│ 0.2  {pod="p-0"}',
        '│ 0.4  {pod="p-1"}',
        "min-samples  sum(requests)",
        "reduce       max of the series is judged; there are 2",
        "bounds       good is <= 0.5",
        "2 series; the query has to give one",
        "in a run     asked every 10s in rollout and bake; one failure fails it",
    ):
        assert words in ended.out, ended.out


@pytest.mark.contract("B1606")
@pytest.mark.parametrize("explain", [True, False])
def test_nothing_is_cut_where_no_terminal_reads(
    here: Gate, metrics: Metrics, *, explain: bool
) -> None:
    """A query in the table, a series of the explanation: both are there to be copied."""
    query, path = f"sum({'up + ' * 40}up)", "/" + "x" * 120
    series = {"metric": {"path": path}, "value": [1, "2"]}
    metrics.says(200, {"status": "success", "data": {"resultType": "vector", "result": [series]}})
    text = asked(here, checks=(f"up: {query} >= 1",), output="text", explain=explain).out
    assert (path if explain else query) in text


@pytest.mark.contract("B1606")
def test_of_many_series_ten_are_named_and_all_counted(here: Gate, metrics: Metrics) -> None:
    """And of each so much of its labels that a line stays one."""
    paths = (f"/{number:02}{'x' * 300}" for number in range(12))
    series = [{"metric": {"path": path}, "value": [1, "2"]} for path in paths]
    metrics.says(200, {"status": "success", "data": {"resultType": "vector", "result": series}})
    text = asked(here, checks=("up: up >= 1",), output="text", explain=True).out
    named = [
        line[line.index("{path") :] for line in text.splitlines() if "│" in line and "{" in line
    ]
    assert [one[:9] for one in named] == [f'{{path="/{number:02}'[:9] for number in range(10)]
    assert {len(one) for one in named} == {200}
    assert "and 2 more" in text
    assert "12 series" in text


@pytest.mark.contract("B1162")
def test_counters_are_named_where_there_is_no_error_yet(gate: Gate, serving: Metrics) -> None:
    """As in the first example of docs/checks.md: a missing series counts as 0, which is said."""
    counted = {"metric": {"rollout_gate_counted": "total"}, "value": [1, "250"]}
    data = {"resultType": "vector", "result": [counted]}
    serving.says(200, {"status": "success", "data": data})
    ended = gate(
        "checks", ("web",), prometheus_url=BASE, checks=[{"use": "error-share"}], output="text"
    )
    assert ended.code == 7, "what runs is one version, and proves nothing of a comparison"
    said = "1 series of total, 0 of bad, which counts as 0; only one version runs"
    assert said in " ".join(ended.out.split())


@pytest.mark.contract("B459")
def test_show_prints_configuration_and_asks_nothing(here: Gate) -> None:
    """What is printed is what a file may hold."""
    ended = here("checks", (), show="error-rate", metrics="istio", kubeconfig="/nowhere")
    (check,) = yaml.safe_load(ended.out)["checks"]
    assert (ended.code, check["name"]) == (0, "error-rate")
    assert "istio_requests_total" in check["query"]
    assert here("checks", (), checks=[check], prometheus_url=BASE, show="restarts").code == 0


@pytest.mark.contract("B459")
def test_show_lists_what_there_is(here: Gate) -> None:
    """For a name that is not there, with the one that may be meant."""
    ended = here("checks", (), show="error-rat", output="text")
    assert (ended.code, ended.out) == (2, "")
    assert "did you mean error-rate? there are error-rate, latency-p99, error-share" in ended.err
