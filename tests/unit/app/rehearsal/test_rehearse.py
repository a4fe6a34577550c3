"""`rehearse`: what the gate would decide, when and why, and what its policy makes of it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import pytest

from gate.app.rehearsal.trouble import TROUBLES
from gate.cli.main import rollout_gate
from gate.virtual_time import VirtualClock
from tests.long import longer
from tests.unit.app.rehearsal.conftest import ENDS, Played, Write

OF_PODS = [name for name, trouble in TROUBLES.items() if trouble.checks is None]
"""What a manifest can have without any health check."""


@pytest.mark.long
@pytest.mark.contract("B305", "B306")
def test_every_trouble_ends_as_the_contract_says(played: Played, manifest: Write) -> None:
    """All of them in one run, which is fine where each failure was caught."""
    code, found, warnings = played.judge(manifest(), all_=True)
    assert [each["kind"] for each in found] == OF_PODS
    assert not warnings, "what nobody configured is not missed"
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
    assert 30 < played.judge(manifest(), with_="crash")[1][0]["decided_at_seconds"] < 35
    row = played.judge(manifest(), with_="never-ready")[1][0]
    assert 120 <= row["decided_at_seconds"] < 125
    assert row["duration_seconds"] > row["decided_at_seconds"], "the way back is verified"


@pytest.mark.contract("B305")
def test_the_exit_code_is_that_of_apply(played: Played, manifest: Write) -> None:
    """Of a single rehearsal; the policy that is rehearsed is the user's."""
    assert played.judge(manifest(), with_="crash", on_failure="keep")[0] == 6


@pytest.mark.contract("B1136")
def test_a_failure_that_would_pass_is_no_success(played: Played, manifest: Write) -> None:
    """What apply would end with stays in the row, which says that it is not as it should be."""
    code, [row], _ = played.judge(manifest(), with_="crash@1h")
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
    code, [row], _ = played.judge(manifest(service), with_="good")
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
    code, found, _ = played.judge(manifest(), all_=True, fail_fast=too_strict)
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
    code, (row,), _ = played.judge(file, with_=kind)
    assert (code, row["as_expected"]) == (ENDS[kind][0], True)


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
    (row,) = played.judge(file, with_=kind, **wrong)[1]
    assert not row["as_expected"]
    assert setting in row["mend"]
    (row,) = played.judge(file, with_=kind, **mended)[1]
    assert (row["as_expected"], row["mend"]) == (True, "")


@pytest.mark.long
@pytest.mark.contract("B307", "B1136")
def test_trouble_after_the_verdict_asks_for_a_bake_window(played: Played, manifest: Write) -> None:
    """The advice is what would have seen it, and it does."""
    file = manifest()
    assert played.rehearse(file, with_="crash@5m") == 6
    advice = next(line for line in played.out.getvalue().splitlines() if "--bake" in line)
    assert advice.startswith("warning: crash@5m comes after the verdict")
    window = advice.partition("--bake ")[2].split()[0]
    code, (row,), _ = played.judge(file, with_="crash@5m", bake=window)
    assert (code, row["why"].partition(":")[0]) == (4, "AvailabilityLost, CrashLoop")


@pytest.mark.contract("B307", "B2013")
@pytest.mark.parametrize(
    ("begins", "policy", "end"),
    [
        ("1s", "rollback", (4, "rolled-back")),
        ("1s", "keep", (6, "failed")),
        ("5m", "rollback", (0, "verified")),
    ],
)
def test_a_scenario_is_not_judged(
    played: Played, manifest: Write, begins: str, policy: str, end: tuple[int, str]
) -> None:
    """Nobody said what it should lead to: a dash; what came too late for the verdict is told."""
    file = manifest()
    path = Path(file).with_name("day.yaml")
    path.write_text(f"images:\n  '*/web:2': {{{begins}: crash}}\n")
    options = {"scenario": str(path), "on_failure": policy, "silence": ["all"]}
    code, (row,), warnings = played.judge(file, **options)
    assert (code, row["outcome"]) == end
    assert (row["as_expected"], row["mend"]) == (None, "")
    told = "*/web:2 at 5m comes after the verdict, 15s after apply began: --bake 5m45s would see it"
    assert warnings == [told] * (begins == "5m")
    played.rehearse(file, **options)
    _, mark, _, legend, *below = played.out.getvalue().splitlines()
    assert mark.startswith("-  ")
    assert legend == "-: a scenario is not judged: read its outcome"
    assert not any(line.startswith(("ok", "not as it should be")) for line in below)


@pytest.mark.long
@pytest.mark.contract("B2013")
def test_the_window_that_is_advised_sees_the_scenario(
    played: Played, manifest: Write, tmp_path: Path
) -> None:
    """What came after the verdict of a shorter run fails this one."""
    path = tmp_path / "day.yaml"
    path.write_text("images:\n  '*/web:2': {5m: crash}\n")
    code, _, warnings = played.judge(manifest(), scenario=str(path), bake="5m45s")
    assert (code, warnings) == (4, [])


@pytest.mark.contract("B307")
def test_inconsistent_limits_are_warned_of(played: Played, manifest: Write) -> None:
    """A timeout that ends before the progress deadline can."""
    played.rehearse(manifest(), timeout="60")
    assert "timeout" in played.out.getvalue().partition("warning: ")[2]


@pytest.mark.contract("B1292", "B1293", "B1514")
def test_several_kinds_are_rehearsed_in_one_table(played: Played, manifest: Write) -> None:
    """Each has its row, and 0 says that all of them end as they should."""
    file = manifest()
    assert played.rehearse(file, silence=["all"], with_=["oom", "good"]) == 0
    _, oom, good, *below = played.out.getvalue().splitlines()
    assert oom.split()[:4] == ["ok", "oom", "rolled-back", "4"]
    assert "CrashLoop, OutOfMemory: web: OOMKilled" in oom
    assert good.split()[:4] == ["ok", "good", "verified", "0"]
    assert below[1].startswith("ok: ")
    assert "decided: " in below[2]
    code, found, warned = played.judge(file, with_=["crash", "crash@1h"])
    assert (code, [one["as_expected"] for one in found]) == (6, [True, False])
    assert "crash@1h comes after the verdict, 15s after the write: --bake" in "".join(warned)


@pytest.mark.long
def test_the_same_rehearsal_twice_says_the_same(played: Played, manifest: Write) -> None:
    """Virtual time has no noise, wherever in a second a rehearsal begins."""
    file = manifest(changes={"minReadySeconds: 5": "minReadySeconds: 0"})
    found = []
    for microsecond in (100_000, 700_000):
        started = datetime(2026, 11, 21, 12, 0, 0, microsecond, tzinfo=UTC)
        played.world = replace(played.world, clock=VirtualClock(started=started))
        found.append(played.judge(file, with_="unschedulable"))
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
