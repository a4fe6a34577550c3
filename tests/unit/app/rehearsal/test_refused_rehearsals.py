"""What cannot be rehearsed: one error says why, and there is no table."""

from __future__ import annotations

import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.app.rehearsal.stage import Stage
from gate.app.rehearsal.trouble import TROUBLES
from gate.errors import UsageError
from tests.table import each
from tests.unit.app.rehearsal.conftest import Played, Signals, Write


def test_a_kind_that_cannot_be_set_up_does_not_cost_the_table(
    played: Played, manifest: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out, with why; where nothing can be set up, that is the error."""
    some = {name: TROUBLES[name] for name in ("good", "stale-deadline", "deleted")}
    monkeypatch.setattr("gate.app.rehearsal.rehearse.TROUBLES", some)

    def never(_: Stage) -> None:
        raise UsageError("deployment/web has to time out, and does not")

    monkeypatch.setattr(Stage, "time_out", never)
    code, found, said = played.judge(manifest(), all_=True)
    assert (code, [each["kind"] for each in found]) == (0, ["good", "deleted"])
    assert "stale-deadline is left out: deployment/web has to time out" in said[0]


OF_WITH = pytest.mark.contract("B2017")


@pytest.mark.contract("B308")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"with_": "crsh"}, "no such kind of trouble: 'crsh'"),
        pytest.param(
            {"with_": "crash@"}, "error: --with: not a duration: ''", marks=OF_WITH, id="no-time"
        ),
        ({"with_": "crash@soon"}, "error: --with: not a duration: 'soon'"),
        ({"with_": "good@5s"}, "good does not begin at a second"),
        ({"scenario": "none.yaml"}, "none.yaml: No such file"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_line(
    played: Played, manifest: Write, options: dict[str, str], words: str
) -> None:
    """Exit 2, and what there is."""
    assert words in played.refuse(manifest(), **options)


STRANGERS = """\
images:
  "*:before": ready
  "other:1": ready
  "*/wbe:*": crash
logs:
  "*/job:1": done
  "*/wbe:2": cannot start
checks:
  errrs: 1
events:
  5s:
    - pause wbe
    - pause db
    - scale db 3
  6s:
    - supersede web other:1
    - delete shop/web
    - node sandbox-1 ready
"""
MORE = """\
    ---
    apiVersion: apps/v1
    kind: StatefulSet
    metadata: {name: db}
    spec:
      selector: {matchLabels: {app: db}}
      template:
        metadata: {labels: {app: db}}
        spec: {containers: [{name: db, image: "shop/db:2"}]}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: job}
    spec: {containers: [{name: job, image: "shop/job:1"}]}
    """


@pytest.mark.contract("B308", "B2014")
def test_what_a_scenario_names_has_to_be_there(
    played: Played, manifest: Write, tmp_path: Path
) -> None:
    """Each with its place, all at once, and with what there is: nothing is rehearsed."""
    path = tmp_path / "day.yaml"
    path.write_text(STRANGERS)
    said = played.refuse(manifest(MORE), scenario=str(path), allow_kind=["Pod"])
    errors = [
        line.removeprefix(f"error: {path}:")
        for line in said.splitlines()
        if line.startswith("error")
    ]
    images = (
        "localhost:5000/shop/web:2, localhost:5000/shop/web:before, shop/db:2, shop/db:before,"
        " shop/job:1, other:1"
    )
    assert errors == [
        f"4:3: no container of the manifest has such an image: */wbe:*; there are {images}",
        f"7:3: no container of the manifest has such an image: */wbe:2; there are {images}",
        "9:3: no such check is configured: errrs; there is none",
        "12:7: pause: the manifest has no such Deployment: wbe; there is web",
        "13:7: pause: the manifest has no such Deployment: db; there is web",
        "17:7: delete: the manifest has no such workload: shop/web; there are web, db",
    ]


@pytest.mark.contract("B308")
def test_a_kind_that_the_sandbox_does_not_have_is_named(played: Played, manifest: Write) -> None:
    """With its place, and the list of those that it has."""
    other = "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
    said = played.refuse(manifest(other), allow_kind=["Widget.example.com"])
    assert "the sandbox has no Widget (example.com/v1)" in said
    assert "deploy.yaml:14" in said
    assert "ConfigMap" in said


@each(
    ("mistake", "words"),
    [
        ("volumeMounts: [{name: a, mountPath: /a}]", 'volumeMounts[0].name: Not found: "a"'),
        ("ports: [{containerPort: 99999}]", "ports[0].containerPort: Invalid value: 99999"),
        ("readinessProbe: {periodSeconds: 5}", "readinessProbe: Required value: must specify"),
    ],
)
def test_a_manifest_that_a_server_refuses_is_not_rehearsed(
    played: Played, manifest: Write, mistake: str, words: str
) -> None:
    """Exit 2 with the field, whatever is to go wrong: no table says `ok` of it."""
    file = manifest(changes={':2"}': f':2", {mistake}}}'})
    said = played.refuse(file)
    assert 'Deployment.apps "web" is invalid: spec.template.spec.containers[0].' in said
    assert words in said


def test_a_manifest_without_a_workload_has_nothing_to_rehearse(
    played: Played, tmp_path: Any
) -> None:
    """There is nothing that could go wrong."""
    path = tmp_path / "config.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    assert "nothing to rehearse" in played.refuse(str(path))


@pytest.mark.long
def test_a_signal_ends_all_rehearsals(played: Played, manifest: Write) -> None:
    """Nothing of the rest is played, and no table tells of a half."""
    in_the_second = 4  # the command and its preparation listen, and then each run
    played.world = replace(played.world, delivered=Signals(in_the_second).delivered)
    assert played.rehearse(manifest(), all_=True) == 128 + signal.SIGINT
    assert not played.out.getvalue()
    assert played.err.getvalue().endswith("error: SIGINT ended it\n")


@pytest.mark.parametrize(
    "change", ["replicas: 0", "replicas: 3\n  progressDeadlineSeconds: 2147483647"]
)
def test_what_cannot_time_out_is_rehearsed_without_a_stale_deadline(
    played: Played, manifest: Write, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    """All else is; and asking for it alone says why it cannot be."""
    some = {name: TROUBLES[name] for name in ("good", "stale-deadline", "superseded")}
    monkeypatch.setattr("gate.app.rehearsal.rehearse.TROUBLES", some)
    file = manifest(changes={"  progressDeadlineSeconds: 120\n": "", "replicas: 3": change})
    found = played.judge(file, all_=True, timeout="5m")[1]
    assert [each["kind"] for each in found] == ["good", "superseded"]
    assert "stale-deadline is left out" in played.out.getvalue()
    said = played.refuse(file, with_="stale-deadline")
    assert "both pods and a progress deadline" in said


def test_a_refusal_is_no_caught_failure_and_says_why(played: Played, manifest: Write) -> None:
    """A manifest that pauses its own Deployment is refused, whatever is to go wrong."""
    file = manifest(changes={"replicas: 3": "replicas: 3\n  paused: true"})
    code, (row,), _ = played.judge(file, with_="crash")
    assert (code, row["outcome"], row["as_expected"]) == (3, "refused", False)
    assert row["why"] == "Paused: deployment/web is paused"


@pytest.mark.contract("B1404")
@pytest.mark.parametrize("flags", [{"all_": True}, {"with_": "crash"}], ids=["all", "one"])
def test_a_configuration_that_does_not_fit_is_one_error(
    played: Played, manifest: Write, tmp_path: Path, flags: dict[str, Any]
) -> None:
    """Exit 2 with the hint of an apply: no row, and no advice on what was never rehearsed."""
    path = tmp_path / "gate.yaml"
    path.write_text("checks: [{name: a, command: ['true'], deployment: other}]\n")
    said = played.refuse(manifest(), config=[str(path)], **flags)
    assert said.count("error: check a: no workload that is judged is called other") == 1


def test_the_documented_kinds_are_those_of_the_code() -> None:
    """Each with the same words; those about checks have a table of their own."""
    page = (Path(__file__).resolve().parents[4] / "docs" / "sandbox.md").read_text("utf-8")
    said = [f"| `{one.name}` | {one.says} |" for one in TROUBLES.values() if one.checks is None]
    assert "\n".join(said) in page
