"""Rehearsals of several workloads: which of them the trouble strikes, and when."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.app.rehearsal.row import at_fault, row_of
from gate.app.rehearsal.trouble import TROUBLES
from gate.core.model.outcome import Outcome, Reason
from tests.long import longer
from tests.unit.app.rehearsal.conftest import ENDS, Played, Write
from tests.unit.report.results import cause_of, result_of, workload_result


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
    _, (row,), _ = played.judge(str(path), with_=kind)
    assert row["as_expected"] == fine
    assert ("replaces no pod by itself" in row["mend"]) == (not fine)


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
    played.rehearse(file, silence=["all"], with_="crash")
    said = played.out.getvalue()
    assert "deployment/worker: CrashLoop: main: Error" in said
    assert "\nwhat goes wrong does so in deployment/worker\n" in said
    played.rehearse(file, silence=["all"])
    assert "does so in" not in played.out.getvalue()


@pytest.mark.long
@pytest.mark.contract("B844")
def test_several_deployments_of_one_image_have_its_trouble_together(
    played: Played, manifest: Write
) -> None:
    """A crash befalls an image: each Deployment that runs it is named."""
    second = SECOND.replace("shop/NAME:2", "localhost:5000/shop/web:2").replace("NAME", "worker")
    played.rehearse(manifest(second), silence=["all"], with_="crash")
    said = "what goes wrong does so in deployment/web, deployment/worker\n"
    assert said in played.out.getvalue()


@pytest.mark.long
def test_what_a_scenario_asks_for_in_vain_is_said(
    played: Played, manifest: Write, tmp_path: Path
) -> None:
    """An event that cannot be, one after the end.

    What an event did do is warned of as on any cluster.
    """
    scenario = tmp_path / "day.yaml"
    scenario.write_text("events:\n  1s: delete-node gone\n  2s: scale web 4\n  1h: delete web\n")
    assert played.rehearse(manifest(), scenario=str(scenario), silence=["all"]) == 0
    warnings = [line for line in played.out.getvalue().splitlines() if line.startswith("warning")]
    assert warnings[0].startswith('warning: "delete web" at 1h comes after the verdict, ')
    refused = 'warning: "delete-node gone" at 1s was refused: nodes "gone" not found'
    scaled = "kubectl changed spec.replicas"
    assert warnings[1:] == [
        refused,
        f"warning: deployment/web is not as this run wrote it: {scaled}",
    ]
    assert "not as it should be" not in played.out.getvalue(), "what it should be is the user's"


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
    [row] = played.judge(str(manifest))[1]
    assert (row["outcome"], row["exit_code"]) == ("verified", 0)
    for images, why in (
        ('"shop/migrate:2": crash;code=3', "JobFailed: BackoffLimitExceeded"),
        ('"shop/log:2": crash;node=n-2', "daemonset/log: "),
    ):
        events = "2s: node n-4 ready, 3s: drain-pod db, 4s: delete-node n-4"
        scenario.write_text(f"nodes: [n-1, n-2]\nimages: {{{images}}}\nevents: {{{events}}}\n")
        [row] = played.judge(str(manifest), scenario=str(scenario))[1]
        assert (row["outcome"], row["exit_code"]) == ("rolled-back", 4)
        assert why in row["why"]
    struck = "it pauses a Deployment, and the workload that it would strike is statefulset/db"
    assert struck in played.refuse(str(manifest), with_="paused")


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
    [row] = played.judge(manifest(MIGRATION), with_=kind)[1]
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
    _, _, warned = played.judge(manifest(generated), with_=["crash", "good"])
    (line,) = (line for line in warned if "job/migrate-" in line)
    assert "job/migrate-*" in line


@pytest.mark.contract("B1245")
def test_trouble_that_never_came_is_said(played: Played, manifest: Write) -> None:
    """The Job before it fails, so the workload is never written."""
    failing = MIGRATION.replace("complete=20", "never-ready").replace(
        "backoffLimit: 0", "activeDeadlineSeconds: 5"
    )
    played.rehearse(manifest(failing), with_="superseded", silence=["all"])
    said = "superseded did not strike: the workload that it is about was never written"
    assert f"warning: {said}\n" in played.out.getvalue()


@pytest.mark.contract("B1970")
def test_a_job_is_advised_nothing_that_only_what_serves_has(played: Played, tmp_path: Path) -> None:
    """Its pods end by themselves, and its template never changes: no window and no field helps."""
    manifest = tmp_path / "job.yaml"
    manifest.write_text(OTHER_WORKLOADS.split("---\n", maxsplit=1)[0])
    code, rows, warned = played.judge(str(manifest), all_=True)
    assert (code, [row["mend"] for row in rows if row["mend"]]) == (0, [])
    ends = "the workload that it would strike comes to its own end, and has no other version"
    for kind in ("slow-start", "restart-once", "superseded"):
        assert f"{kind} is left out: {ends}: job/migrate-2" in warned
        assert ends in played.refuse(str(manifest), with_=kind)
    code, _, warned = played.judge(str(manifest), with_="crash@1h")
    assert (code, warned) == (6, ["crash@1h comes after the verdict, 2s after the write"])
