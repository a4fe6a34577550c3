"""`rehearse`: what the gate would decide, when and why, and what its policy makes of it."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest

from gate.app.rehearsal.rehearse import rehearse
from gate.app.rehearsal.row import at_fault, row_of
from gate.app.rehearsal.stage import Stage
from gate.app.rehearsal.trouble import TROUBLES
from gate.cli.main import rollout_gate
from gate.config import load
from gate.core.model.outcome import Outcome, Reason
from gate.errors import UsageError
from gate.report.views.rehearsals import RehearsalResult
from gate.virtual_time import VirtualClock
from tests.long import longer
from tests.table import each
from tests.unit.app.rehearsal.conftest import Played, Signals
from tests.unit.report.results import cause_of, result_of, workload_result

Write = Callable[..., str]


def rows(played: Played, file: str, **options: Any) -> tuple[int, list[RehearsalResult]]:
    """Rehearse a manifest; return the exit code and the rows of the document."""
    flags = {"file": [file], "output": "json", "silence": ["all"], **options}
    played.out.truncate(0)
    played.out.seek(0)
    code = rehearse(played.world, load("rehearse", flags, environ={}))
    return code, json.loads(played.out.getvalue())["rehearsals"]


ENDS = {
    "good": (0, "verified", ""),
    "slow-start": (0, "verified", ""),
    "restart-once": (0, "verified", ""),
    "crash": (4, "rolled-back", "CrashLoop"),
    "oom": (4, "rolled-back", "OutOfMemory"),
    "image-pull": (4, "rolled-back", "ImagePull"),
    "image-denied": (4, "rolled-back", "ImagePull"),
    "config-error": (4, "rolled-back", "ContainerConfig"),
    "never-ready": (4, "rolled-back", "NotReady"),
    "flapping": (4, "rolled-back", "ReadinessLost"),
    "unschedulable": (4, "rolled-back", "Unschedulable"),
    "superseded": (8, "superseded", ""),
    "paused": (6, "failed", ""),
    "deleted": (8, "superseded", ""),
    "stale-deadline": (0, "verified", ""),
    "first-deployment": (6, "failed", "CrashLoop"),
}
OF_PODS = [name for name, trouble in TROUBLES.items() if trouble.checks is None]
"""What a manifest can have without any health check."""


@pytest.mark.long
@pytest.mark.contract("B305", "B306")
def test_every_trouble_ends_as_the_contract_says(played: Played, manifest: Write) -> None:
    """All of them in one run, which is fine where each failure was caught."""
    code, found = rows(played, manifest(), all_=True)
    assert [each["kind"] for each in found] == OF_PODS
    assert not json.loads(played.out.getvalue())["warnings"], "what nobody configured is not missed"
    ends = {each["kind"]: each for each in found}
    for kind, (exit_code, outcome, cause) in ENDS.items():
        row = ends[kind]
        assert (row["exit_code"], row["outcome"]) == (exit_code, outcome), row
        assert cause in row["why"].partition(":")[0], row
    assert {each["returned_to"] for each in found if each["exit_code"] == 4} == {"revision 1"}
    assert all(each["as_expected"] for each in found)
    assert code == 0


@pytest.mark.long
@pytest.mark.contract("B305")
def test_when_it_is_decided_is_told_in_the_clusters_time(played: Played, manifest: Write) -> None:
    """A third restart comes after 10 and 20 s of back-off, a deadline after its 2 minutes."""
    assert 30 < rows(played, manifest(), with_="crash")[1][0]["decided_at_seconds"] < 35
    row = rows(played, manifest(), with_="never-ready")[1][0]
    assert 120 <= row["decided_at_seconds"] < 125
    assert row["duration_seconds"] > row["decided_at_seconds"], "the way back is verified"


@pytest.mark.contract("B305")
def test_the_exit_code_is_that_of_apply(played: Played, manifest: Write) -> None:
    """Of a single rehearsal; the policy that is rehearsed is the user's."""
    assert rows(played, manifest(), with_="crash", on_failure="keep")[0] == 6


@pytest.mark.contract("B1136")
def test_a_failure_that_would_pass_is_no_success(played: Played, manifest: Write) -> None:
    """What apply would end with stays in the row, which says that it is not as it should be."""
    code, [row] = rows(played, manifest(), with_="crash@1h")
    assert (code, row["exit_code"], row["as_expected"]) == (6, 0, False)


@pytest.mark.contract("B305", "B988")
def test_a_load_balancer_is_not_waited_for(played: Played, manifest: Write) -> None:
    """Nobody on the stage gives it an address; it stood there before, and is not changed."""
    service = """\
        ---
        apiVersion: v1
        kind: Service
        metadata: {name: web}
        spec: {type: LoadBalancer, ports: [{port: 80}], selector: {app: web}}
        """
    code, [row] = rows(played, manifest(service), with_="good")
    assert (code, row["outcome"]) == (0, "verified")


@pytest.mark.contract("B305", "B306")
@pytest.mark.parametrize(("too_strict", "expected"), [(["crash=1"], 6), longer([], 0)])
def test_of_all_kinds_one_that_is_judged_wrongly_counts(
    played: Played,
    manifest: Write,
    monkeypatch: pytest.MonkeyPatch,
    too_strict: list[str],
    expected: int,
) -> None:
    """One restart that recovers fails nothing, or this gate is too strict: exit 6 of --all."""
    some = {name: TROUBLES[name] for name in ("restart-once", "image-pull", "deleted")}
    monkeypatch.setattr("gate.app.rehearsal.rehearse.TROUBLES", some)
    code, found = rows(played, manifest(), all_=True, fail_fast=too_strict)
    assert [each["kind"] for each in found] == [*some]
    wrong = ["restart-once"] if too_strict else []
    assert [each["kind"] for each in found if not each["as_expected"]] == wrong
    assert code == expected


@pytest.mark.contract("B305")
@pytest.mark.parametrize("kind", ["crash", "stale-deadline"])
def test_a_trouble_outranks_a_behaviour_of_the_manifest(
    played: Played, manifest: Write, kind: str
) -> None:
    """An annotation that was tried in a sandbox stays in the manifest: no kind gets lost by it."""
    ready = "annotations: {sandbox.rollout-gate.dev/behaviour: ready}"
    file = manifest(changes={"labels: {app: web}}": f"labels: {{app: web}}, {ready}}}"})
    code, (row,) = rows(played, file, with_=kind)
    assert (code, row["as_expected"]) == (ENDS[kind][0], True)


def test_a_kind_that_cannot_be_set_up_does_not_cost_the_table(
    played: Played, manifest: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out, with why; where nothing can be set up, that is the error."""
    some = {name: TROUBLES[name] for name in ("good", "stale-deadline", "deleted")}
    monkeypatch.setattr("gate.app.rehearsal.rehearse.TROUBLES", some)

    def never(_: Stage) -> None:
        raise UsageError("deployment/web as it is to be before does not time out")

    monkeypatch.setattr(Stage, "time_out", never)
    code, found = rows(played, manifest(), all_=True)
    assert (code, [each["kind"] for each in found]) == (0, ["good", "deleted"])
    said = json.loads(played.out.getvalue())["warnings"]
    assert "stale-deadline is left out: deployment/web as it is to be before" in said[0]


@pytest.mark.contract("B315")
@pytest.mark.parametrize(
    ("kind", "wrong", "setting", "mended"),
    [
        ("restart-once", {"fail_fast": ["crash=1"]}, "--fail-fast crash", {}),
        ("flapping", {}, "--bake 1m", {"bake": "1m"}),
        ("slow-start", {"timeout": "30s"}, "--timeout", {"timeout": "10m"}),
        ("crash", {"rollback_timeout": "1s"}, "--rollback-timeout", {}),
    ],
)
def test_what_fails_names_the_setting_that_mends_it(
    played: Played,
    manifest: Write,
    wrong: dict[str, Any],
    mended: dict[str, Any],
    kind: str,
    setting: str,
) -> None:
    """With it the same rehearsal is as it should be; what is fine names none."""
    recreate = "replicas: 3\n  strategy: {type: Recreate}"
    changes = {"minReadySeconds: 5": "minReadySeconds: 0", "replicas: 3": recreate}
    file = manifest(changes=changes)
    (row,) = rows(played, file, with_=kind, **wrong)[1]
    assert not row["as_expected"]
    assert setting in row["mend"]
    (row,) = rows(played, file, with_=kind, **mended)[1]
    assert (row["as_expected"], row["mend"]) == (True, "")


@pytest.mark.long
@pytest.mark.contract("B307", "B1136")
def test_trouble_after_the_verdict_asks_for_a_bake_window(played: Played, manifest: Write) -> None:
    """The advice is what would have seen it, and it does."""
    file = manifest()
    flags = {"file": [file], "with_": "crash@5m"}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 6
    advice = next(line for line in played.out.getvalue().splitlines() if "--bake" in line)
    assert advice.startswith("warning: crash@5m comes after the verdict")
    window = advice.partition("--bake ")[2].split()[0]
    code, (row,) = rows(played, file, with_="crash@5m", bake=window)
    assert (code, row["why"].partition(":")[0]) == (4, "AvailabilityLost, CrashLoop")


@pytest.mark.contract("B307")
def test_inconsistent_limits_are_warned_of(played: Played, manifest: Write) -> None:
    """A timeout that ends before the progress deadline can."""
    flags = {"file": [manifest()], "timeout": "60"}
    rehearse(played.world, load("rehearse", flags, environ={}))
    assert "timeout" in played.out.getvalue().partition("warning: ")[2]


@pytest.mark.long
def test_a_scenario_file_says_what_happens(played: Played, manifest: Write, tmp_path: Any) -> None:
    """By image, from a second on."""
    scenario = tmp_path / "bad-day.yaml"
    scenario.write_text("images:\n  '*:2':\n    20s: oom\n")
    code, (row,) = rows(played, manifest(), scenario=str(scenario), bake="2m")
    assert (code, row["why"].partition(":")[0]) == (4, "AvailabilityLost, OutOfMemory")


@pytest.mark.contract("B1292", "B1293", "B1514")
def test_several_kinds_are_rehearsed_in_one_table(played: Played, manifest: Write) -> None:
    """Each has its row, and 0 says that all of them end as they should."""
    file = manifest()
    flags = {"file": [file], "silence": ["all"], "with_": ["oom", "good"]}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 0
    _, oom, good, *below = played.out.getvalue().splitlines()
    assert oom.split()[:4] == ["ok", "oom", "rolled-back", "4"]
    assert "CrashLoop, OutOfMemory: web: OOMKilled" in oom
    assert good.split()[:4] == ["ok", "good", "verified", "0"]
    assert below[1].startswith("ok: ")
    assert "decided: " in below[2]
    code, found = rows(played, file, with_=["crash", "crash@1h"])
    assert (code, [one["as_expected"] for one in found]) == (6, [True, False])
    warned = json.loads(played.out.getvalue())["warnings"]
    assert "crash@1h comes after the verdict, 15s after the write: --bake" in "".join(warned)


@pytest.mark.contract("B1293")
@pytest.mark.parametrize(
    ("strategy", "kind", "fine"),
    [
        ("rollingUpdate: {partition: 1}", "good", True),
        ("rollingUpdate: {partition: 1}", "crash", True),
        ("type: OnDelete", "good", True),
        ("type: OnDelete", "crash", False),
    ],
)
def test_what_a_strategy_leaves_old_is_as_it_should_be(
    played: Played, tmp_path: Path, strategy: str, kind: str, fine: bool
) -> None:
    """But where no pod is replaced, no failure is caught either, and the advice says why."""
    _, stateful_set, _ = OTHER_WORKLOADS.split("---\n")
    path = tmp_path / "db.yaml"
    path.write_text(stateful_set.replace("spec:", f"spec:\n  updateStrategy: {{{strategy}}}", 1))
    _, (row,) = rows(played, str(path), with_=kind)
    assert row["as_expected"] == fine
    assert ("replaces no pod by itself" in row["mend"]) == (not fine)


@pytest.mark.contract("B308")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"with_": "crsh"}, "no such kind of trouble: 'crsh'"),
        ({"with_": "crash@soon"}, "not a duration: 'soon'"),
        ({"with_": "good@5s"}, "good does not begin at a second"),
        ({"scenario": "none.yaml"}, "none.yaml: No such file"),
    ],
)
def test_what_is_asked_for_wrongly_is_one_line(
    played: Played, manifest: Write, options: dict[str, str], words: str
) -> None:
    """Exit 2, and what there is."""
    flags = {"file": [manifest()], **options}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 2
    assert words in played.err.getvalue()


@pytest.mark.contract("B308")
def test_a_kind_that_the_sandbox_does_not_have_is_named(played: Played, manifest: Write) -> None:
    """With its place, and the list of those that it has."""
    other = "---\napiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w}\n"
    flags = {"file": [manifest(other)], "allow_kind": ["Widget.example.com"]}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 2
    said = played.err.getvalue()
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
    assert rehearse(played.world, load("rehearse", {"file": [file]}, environ={})) == 2
    said = played.err.getvalue()
    assert 'Deployment.apps "web" is invalid: spec.template.spec.containers[0].' in said
    assert words in said
    assert not played.out.getvalue()


def test_a_manifest_without_a_workload_has_nothing_to_rehearse(
    played: Played, tmp_path: Any
) -> None:
    """There is nothing that could go wrong."""
    path = tmp_path / "config.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n")
    assert rehearse(played.world, load("rehearse", {"file": [str(path)]}, environ={})) == 2
    assert "nothing to rehearse" in played.err.getvalue()


@pytest.mark.long
def test_a_signal_ends_all_rehearsals(played: Played, manifest: Write) -> None:
    """Nothing of the rest is played, and no table tells of a half."""
    in_the_second = 4  # the command and its preparation listen, and then each run
    world = replace(played.world, delivered=Signals(in_the_second).delivered)
    flags = {"file": [manifest()], "all_": True}
    assert rehearse(world, load("rehearse", flags, environ={})) == 128 + signal.SIGINT
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
    found = rows(played, file, all_=True, timeout="5m")[1]
    assert [each["kind"] for each in found] == ["good", "superseded"]
    assert "stale-deadline is left out" in played.out.getvalue()
    flags = {"file": [file], "with_": "stale-deadline"}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 2
    assert "both pods and a progress deadline" in played.err.getvalue()


def test_a_refusal_is_no_caught_failure_and_says_why(played: Played, manifest: Write) -> None:
    """A manifest that pauses its own Deployment is refused, whatever is to go wrong."""
    file = manifest(changes={"replicas: 3": "replicas: 3\n  paused: true"})
    code, (row,) = rows(played, file, with_="crash")
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
    given = {"file": [manifest()], "config": [str(path)], **flags}
    assert rehearse(played.world, load("rehearse", given, environ={})) == 2
    wrong = "error: check a: no workload that is judged is called other"
    assert played.err.getvalue().count(wrong) == 1
    assert played.out.getvalue() == ""


@pytest.mark.contract("B1404")
def test_the_row_names_what_failed_by_itself_before_what_was_drawn_in() -> None:
    """A StatefulSet whose pod was starting when the Deployment failed is not at fault."""
    own, drawn = Reason.CRASH_LOOP, Reason.SIBLING_FAILED
    db = workload_result(Outcome.ROLLED_BACK, drawn, name="db")
    db["causes"] = [cause_of(drawn, "deployment/web failed"), cause_of(own, "starts", 1)]
    found = result_of(db, workload_result(Outcome.ROLLED_BACK, own))
    row = row_of(TROUBLES["crash"], dict(found))
    assert row["why"] == "deployment/web: CrashLoop: said"
    assert at_fault(dict(found)) == ["deployment/web"]


SECOND = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME}
spec:
  replicas: 1
  minReadySeconds: 5
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      containers: [{name: main, image: "shop/NAME:2"}]
"""


@pytest.mark.long
def test_of_several_deployments_the_first_with_pods_has_the_trouble(
    played: Played, manifest: Write
) -> None:
    """Which one that is, is said; of a good version there is nothing to say."""
    file = manifest(SECOND.replace("NAME", "worker"), {"replicas: 3": "replicas: 0"})
    flags = {"file": [file], "silence": ["all"]}
    rehearse(played.world, load("rehearse", {**flags, "with_": "crash"}, environ={}))
    said = played.out.getvalue()
    assert "deployment/worker: CrashLoop: main: Error" in said
    assert "\nwhat goes wrong does so in deployment/worker\n" in said
    played.out.truncate(0)
    played.out.seek(0)
    rehearse(played.world, load("rehearse", flags, environ={}))
    assert "does so in" not in played.out.getvalue()


@pytest.mark.long
@pytest.mark.contract("B844")
def test_several_deployments_of_one_image_have_its_trouble_together(
    played: Played, manifest: Write
) -> None:
    """A crash befalls an image: each Deployment that runs it is named."""
    second = SECOND.replace("shop/NAME:2", "localhost:5000/shop/web:2").replace("NAME", "worker")
    file = Path(manifest(second))
    flags = {"file": [str(file)], "silence": ["all"], "with_": "crash"}
    rehearse(played.world, load("rehearse", flags, environ={}))
    said = played.out.getvalue()
    assert "what goes wrong does so in deployment/web, deployment/worker\n" in said


@pytest.mark.long
def test_what_a_scenario_asks_for_in_vain_is_said(
    played: Played, manifest: Write, tmp_path: Path
) -> None:
    """A slip in a name, an image that nobody has, an event after the end.

    What an event did do is warned of as on any cluster.
    """
    scenario = tmp_path / "day.yaml"
    scenario.write_text(
        "images:\n  'shop/wbe:*': crash\n"
        "events:\n  1s: scale wbe 5\n  2s: scale web 4\n  1h: delete web\n"
    )
    flags = {"file": [manifest()], "scenario": str(scenario), "silence": ["all"]}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 0
    warnings = [line for line in played.out.getvalue().splitlines() if line.startswith("warning")]
    assert warnings[0] == "warning: the scenario's shop/wbe:* fits no image of the manifest"
    assert warnings[1].startswith('warning: "delete web" at 1h comes after the verdict, ')
    refused = 'warning: "scale wbe 5" at 1s was refused: deployments.apps "wbe" not found'
    scaled = "kubectl changed spec.replicas"
    assert warnings[2:] == [
        refused,
        f"warning: deployment/web is not as this run wrote it: {scaled}",
    ]
    assert "not as it should be" not in played.out.getvalue(), "what it should be is the user's"


@pytest.mark.long
def test_the_same_rehearsal_twice_says_the_same(played: Played, manifest: Write) -> None:
    """Virtual time has no noise, wherever in a second a rehearsal begins."""
    file = manifest(changes={"minReadySeconds: 5": "minReadySeconds: 0"})
    found = []
    for microsecond in (100_000, 700_000):
        started = datetime(2026, 11, 21, 12, 0, 0, microsecond, tzinfo=UTC)
        played.world = replace(played.world, clock=VirtualClock(started=started))
        found.append(rows(played, file, with_="unschedulable"))
    assert found[0] == found[1]


@pytest.mark.parametrize(("command", "kinds"), [("demo", OF_PODS), ("rehearse", [*TROUBLES])])
def test_the_help_names_every_kind(command: str, kinds: list[str]) -> None:
    """In the order of the table, and no other."""
    with click.Context(rollout_gate) as context:
        found = rollout_gate.get_command(context, command)
    assert found is not None
    _, _, listed = " ".join((found.help or "").split()).partition(" is one of ")
    names = re.sub(r" \(without .*?\)", "", listed.partition(";")[0].removesuffix("."))
    assert names.split(", ") == kinds


OTHER_WORKLOADS = """
apiVersion: batch/v1
kind: Job
metadata: {name: migrate-2}
spec:
  backoffLimit: 0
  template:
    spec: {restartPolicy: Never, containers: [{name: m, image: shop/migrate:2}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 2
  minReadySeconds: 5
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: db, image: "shop/db:2"}]}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: log}
spec:
  selector: {matchLabels: {app: log}}
  template:
    metadata: {labels: {app: log}}
    spec: {containers: [{name: log, image: "shop/log:2"}]}
"""


@pytest.mark.contract("B305")
def test_every_kind_of_workload_is_rehearsed(played: Played, tmp_path: Path) -> None:
    """A Job runs to its end, and what serves is updated from the version before, node by node."""
    manifest, scenario = tmp_path / "all.yaml", tmp_path / "scenario.yaml"
    manifest.write_text(OTHER_WORKLOADS)
    [row] = rows(played, str(manifest))[1]
    assert (row["outcome"], row["exit_code"]) == ("verified", 0)
    for images, why in (
        ('"shop/migrate:2": crash;code=3', "JobFailed: BackoffLimitExceeded"),
        ('"shop/log:2": crash;node=n-2', "daemonset/log: "),
    ):
        events = "2s: node n-4 ready, 3s: drain-pod db, 4s: delete-node n-4"
        scenario.write_text(f"nodes: [n-1, n-2]\nimages: {{{images}}}\nevents: {{{events}}}\n")
        [row] = rows(played, str(manifest), scenario=str(scenario))[1]
        assert (row["outcome"], row["exit_code"]) == ("rolled-back", 4)
        assert why in row["why"]
    flags = {"file": [str(manifest)], "with_": "paused"}
    assert rehearse(played.world, load("rehearse", flags, environ={})) == 2
    struck = "it pauses a Deployment, and the workload that it would strike is statefulset/db"
    assert struck in played.err.getvalue()


MIGRATION = """\
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 0
  template:
    metadata: {annotations: {sandbox.rollout-gate.dev/behaviour: complete=20}}
    spec:
      restartPolicy: Never
      containers: [{name: migrate, image: "localhost:5000/shop/web:2"}]
"""


@pytest.mark.contract("B1245")
@pytest.mark.parametrize("kind", ["crash", "superseded", "deleted", longer("quota")])
def test_trouble_strikes_while_the_workload_rolls_that_it_is_about(
    played: Played, manifest: Write, kind: str
) -> None:
    """The Job before it has the same image, and comes to its end."""
    [row] = rows(played, manifest(MIGRATION), with_=kind)[1]
    exit_code, outcome, why = {**ENDS, "quota": (4, "rolled-back", "")}[kind]
    assert (row["exit_code"], row["outcome"]) == (exit_code, outcome), row
    assert row["why"].startswith(f"deployment/web: {why}" if why else "")
    assert row["decided_at_seconds"] >= 20


@pytest.mark.contract("B1514")
def test_a_warning_of_a_run_with_a_name_of_its_own_is_said_once(
    played: Played, manifest: Write
) -> None:
    """However many rehearsals give it another name."""
    generated = MIGRATION.replace("name: migrate}", "generateName: migrate-}", 1)
    rows(played, manifest(generated), with_=["crash", "good"])
    warned = json.loads(played.out.getvalue())["warnings"]
    (line,) = (line for line in warned if "job/migrate-" in line)
    assert "job/migrate-*" in line


@pytest.mark.contract("B1245")
def test_trouble_that_never_came_is_said(played: Played, manifest: Write) -> None:
    """The Job before it fails, so the workload is never written."""
    failing = MIGRATION.replace("complete=20", "never-ready").replace(
        "backoffLimit: 0", "activeDeadlineSeconds: 5"
    )
    flags = {"file": [manifest(failing)], "with_": "superseded", "silence": ["all"]}
    rehearse(played.world, load("rehearse", flags, environ={}))
    said = "superseded did not strike: the workload that it is about was never written"
    assert f"warning: {said}\n" in played.out.getvalue()
