"""The command `checks --power`: whence its figures come, what it shows, and its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from gate.report.schema.json_schema import checks_schema
from tests.cluster.workloads import stateful_set
from tests.table import each
from tests.unit.app.bodies import web
from tests.unit.app.conftest import Ended, Gate
from tests.unit.app.metrics import BASE, Metrics, Unreachable
from tests.unit.app.server import Server

TOTAL = 'requests{pod=~"${replicaset}-.*"}'
BAD = 'requests{pod=~"${replicaset}-.*",code=~"5.."}'
ERRORS = {"name": "errors", "bad": BAD, "total": TOTAL, "during": "bake"}
GIVEN: dict[str, Any] = {"traffic": 20, "rate": "1%", "exposure": "1:9"}


def foreseen(gate: Gate, *names: str, check: dict[str, Any] = ERRORS, **more: Any) -> Ended:
    """Run the command with one check."""
    return gate("checks", names, **{"power": True, "checks": [check], **more})


def only(ended: Ended) -> dict[str, Any]:
    """Return the only foreseen check of a document, which keeps to its schema."""
    Draft202012Validator(checks_schema()).validate(ended.document)
    (power,) = ended.document["power"]
    found: dict[str, Any] = power
    return found


def count(metrics: Metrics, counted: Mapping[str, tuple[float | None, float, int]]) -> None:
    """Let a Prometheus have counted bad ones and all, in so many steps of the hour.

    The keys are parts of the queries about each version.
    """

    def vector_of(query: str) -> list[dict[str, Any]]:
        bad, total, steps = next(found for part, found in counted.items() if part in query)
        if query.startswith("count_over_time"):
            return [{"metric": {}, "value": [1.0, str(steps)]}]
        return [
            {"metric": {"rollout_gate_counted": name}, "value": [1.0, str(value)]}
            for name, value in (("bad", bad), ("total", total))
            if value is not None
        ]

    metrics.gives(vector_of)


# -- whence the figures come -----------------------------------------------------------------------


@pytest.mark.contract("B1200", "B1203", "B1453")
def test_with_every_figure_given_nobody_is_asked(here: Gate) -> None:
    """Neither a cluster nor Prometheus is there; the figures are those of the simulation."""
    ended = foreseen(here, kubeconfig="/nowhere", **GIVEN)
    found = only(ended)
    assert (ended.code, ended.document["exit_code"], ended.document["checks"]) == (0, 0, [])
    assert (found["traffic_per_second"], found["rate"]) == (20.0, 0.01)
    assert found["exposure"] == {"new": 1.0, "old": 9.0, "origin": "flag"}
    assert (found["phase_seconds"], found["phase_origin"], found["looks"]) == (650.0, "usual", 61)
    last_look_seconds = found["first_look_seconds"] + 60 * found["interval_seconds"]
    assert found["first_look_seconds"] < last_look_seconds < 650 <= last_look_seconds + 10
    assert {one["ratio"]: round(one["failed"], 1) for one in found["chances"]} == {
        1.5: 0.1,
        2.0: 0.5,
        3.0: 1.0,
    }
    assert ended.document["message"].startswith("errors: twice as bad fails in 5")


@pytest.mark.contract("B1203", "B1204")
def test_what_is_not_given_is_what_ran_in_the_last_hour(
    gate: Gate, server: Server, metrics: Metrics
) -> None:
    """The increases of the running version, by the time for which it was seen."""
    server.put(web())
    count(metrics, {"web": (36, 3600, 60)})
    check = {**ERRORS, "during": "both", "interval": "30s"}
    ended = foreseen(gate, "web", check=check, prometheus_url=BASE)
    found = only(ended)
    (replica_set,) = found["measured"]["versions"]
    assert found["measured"] == {
        "versions": [replica_set],
        "bad": 36,
        "total": 3600,
        "seconds": 1800,
    }
    assert (found["traffic_per_second"], found["rate"]) == (2.0, 0.01)
    assert (found["traffic_origin"], found["rate_origin"]) == ("measured", "measured")
    assert found["exposure"] == {"new": 2, "old": 0, "origin": "rolling-update"}
    selector = f'requests{{pod=~"{replica_set}-.*"}}'
    assert f"sum(increase(({selector}\n)[1h:30s]))" in metrics.asked[0]
    assert metrics.asked[1] == f"count_over_time(count(({selector}\n))[1h:30s])"
    assert server.writes() == []
    text = foreseen(gate, "web", check=check, prometheus_url=BASE, output="text").out
    said = f"{replica_set} in the last hour, of which 30m were seen: 36 bad of 3,600"
    assert said in " ".join(text.split())
    assert "2/s of both versions together (as what runs now got)" in text
    assert "a rolling update moves them evenly" in text
    assert "one every 30s from 30s on, in 3" in " ".join(text.split())


@pytest.mark.contract("B1510", "B1512")
def test_beside_a_partition_the_traffic_is_that_of_both_versions(
    gate: Gate, server: Server, metrics: Metrics
) -> None:
    """60 requests a second, of which the new pod has got a third for the last five minutes."""
    for body in (stateful_set(), stateful_set(image="shop/db:2", partition=2)):
        server.put(body)
        server.played.clock.wait(60.0)
    revisions = server.objects.list_all("controllerrevisions", "app=db")
    revisions.sort(key=lambda one: int(one["revision"]))
    old, new = (one["metadata"]["name"] for one in revisions)
    counted = {new: (60, 6_000, 10), old: (2_100, 210_000, 120)}
    count(metrics, counted)
    labelled = 'requests{revision="${controller_revision_hash}"'
    check = {**ERRORS, "bad": labelled + ',code=~"5.."}', "total": labelled + "}"}
    found = only(foreseen(gate, "sts/db", check=check, prometheus_url=BASE))
    assert (found["traffic_per_second"], found["rate"]) == (60.0, 0.01)
    assert found["exposure"] == {"new": 1, "old": 2, "origin": "strategy"}
    text = foreseen(gate, "sts/db", check=check, prometheus_url=BASE, output="text").out
    said = " ".join(text.split())
    assert f"{old} and {new} in the last hour: 2,160 bad of 216,000" in said
    assert "assumes that each look sees new requests of both versions: with scrapes" in said
    counted[new] = (0, 0, 1)
    assert f"{new} is too young, or its counters are not found" in " ".join(
        foreseen(gate, "sts/db", check=check, prometheus_url=BASE, output="text").out.split()
    )


@pytest.mark.contract("B1203")
def test_each_figure_overrides_what_was_measured(
    gate: Gate, server: Server, metrics: Metrics
) -> None:
    """The others stay as measured; a version without a bad event has no ratio."""
    server.put(web())
    count(metrics, {"web": (None, 7200, 121)})
    ended = foreseen(gate, "web", prometheus_url=BASE, traffic=50, exposure="1:1", bake="5m")
    found = only(ended)
    assert (found["traffic_per_second"], found["traffic_origin"]) == (50.0, "given")
    assert (found["rate"], found["rate_origin"]) == (0.0, "measured")
    assert (found["phase_seconds"], found["phase_origin"], found["looks"]) == (300.0, "bake", 26)
    assert [one["failed"] for one in found["chances"]] == [None, None, None]


@pytest.mark.contract("B1204", "B1382")
def test_after_a_rolling_update_a_bake_window_shows_nothing(gate: Gate, server: Server) -> None:
    """And it says why, and what would help."""
    server.put(web())
    ended = foreseen(gate, "web", traffic=20, rate="1%", output="text")
    assert ended.code == 0
    said = " ".join(ended.out.split())
    assert "nothing: a rolling update leaves no pod of the old version in the bake window" in said
    assert "keep old pods by a partition, or say by --exposure which part they get" in said
    assert "FAILS" not in said
    rolling = {**ERRORS, "during": "both"}
    few = foreseen(
        gate, "web", checks=[rolling], traffic=2000, rate="1%", bake="60s", output="text"
    )
    said = " ".join(few.out.split())
    assert "traffic 2,000/s of both versions together" in said
    assert "6 looks decide nothing: 9 are needed more time with both versions, or a" in said
    assert "enough twice as bad is found four times in five with about" in said
    short = foreseen(gate, traffic=20, rate="1%", exposure="1:1", bake="60s", output="text")
    assert "2 looks decide nothing: 9 are needed" in " ".join(short.out.split())
    seldom = foreseen(gate, "web", checks=[rolling], traffic=20, rate="0.1%", output="text").out
    assert "--bake" not in seldom.partition("enough")[2]


@pytest.mark.contract("B1200")
def test_a_check_has_its_part_of_alpha(here: Gate) -> None:
    """With all that decide in the rollout, also where they are about another workload."""
    other = {**ERRORS, "name": "other", "deployment": "api"}
    ended = here("checks", ("web",), power=True, checks=[ERRORS, other], **GIVEN)
    found = only(ended)
    assert (found["name"], found["alpha"]) == ("errors", 0.015)
    alone = only(foreseen(here, **GIVEN))
    assert alone["alpha"] == 0.03
    assert alone["chances"][1]["failed"] > found["chances"][1]["failed"]


@pytest.mark.contract("B1296")
def test_what_is_tolerated_is_not_said_to_be_out_of_reach(here: Gate) -> None:
    """Twice as bad is meant to run on where the tolerance is 1 or more."""
    wide = {**ERRORS, "compare": {"test": "counts", "tolerance": 1, "harm": 4}}
    ended = foreseen(here, check=wide, output="text", **GIVEN, bake="3m")
    said = " ".join(ended.out.split())
    assert "twice as bad is tolerated (tolerance: 1): it is meant to run on" in said
    assert "within reason" not in said


# -- what cannot be --------------------------------------------------------------------------------


@pytest.mark.contract("B1205")
@each(
    ("options", "complaint"),
    [
        ({"checks": [], "check": ["up: up >= 1"]}, "there is no comparison by counts"),
        ({"exposure": None}, "nothing says which part of it each version gets"),
        ({"traffic": None}, "check errors: no Prometheus is configured"),
        ({"traffic": None, "prometheus_url": BASE}, "nothing says the traffic"),
    ],
)
def test_without_what_it_needs_it_is_a_usage_error(
    here: Gate, options: dict[str, Any], complaint: str
) -> None:
    """In one line, before anybody is asked."""
    wanted = {name: value for name, value in {**GIVEN, **options}.items() if value is not None}
    ended = foreseen(here, kubeconfig="/nowhere", **wanted)
    assert ended.code == 2
    assert complaint in ended.err


@pytest.mark.contract("B1205", "B1385")
def test_a_prometheus_that_cannot_be_asked_ends_it_as_checks(
    gate: Gate, server: Server, metrics: Metrics, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2 for a wrong query, 3 for a server that refuses for good, 7 for an outage or no traffic."""
    server.put(web())

    def end() -> tuple[int, str]:
        ended = foreseen(gate, "web", prometheus_url=BASE)
        (asked,) = ended.document["checks"]
        assert ended.document["power"] == []
        return ended.code, asked["verdict"]

    metrics.refuses(400, "1:5: parse error: unexpected end of input")
    assert end() == (2, "error")
    metrics.refuses(403, "no")
    assert end() == (3, "error")
    metrics.answers()
    assert end() == (7, "no-data")
    text = foreseen(gate, "web", prometheus_url=BASE, output="text")
    said = " ".join(text.out.split())
    assert " is too young, or its counters are not found: the last hour has fewer" in said
    count(metrics, {"web": (0, 0, 60)})
    text = foreseen(gate, "web", prometheus_url=BASE, output="text")
    assert "no traffic of web-" in text.out
    monkeypatch.setattr("gate.app.runtime.check_sources.sources", lambda *_: Unreachable({}))
    assert end() == (7, "error")
