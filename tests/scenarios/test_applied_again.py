"""The next apply of a version that a check has left unverified, and that the check is not asked."""

from __future__ import annotations

import pytest

from tests.bed.expectations import (
    assert_ended,
    assert_rolled_back,
    assert_verified,
    warned,
)
from tests.bed.pods import image_of
from tests.bed.scene import Scene, service, settings, web
from tests.cluster.kubelet.api import JSON
from tests.scenarios.pod_replacement import db
from tests.scenarios.versions import (
    CRASH,
    assert_a_failure_returns_to,
    history_rows,
    mode,
    one_line,
    report,
)

FAILS = ("--smoke-test", "false", "--on-failure", "keep")
IN_DOUBT = ("--smoke-test", "sh -c 'exit 75'")


PAUSED = ("--smoke-test", "false", "--on-failure", "pause")


def apply_both(scene: Scene, flags: tuple[str, ...]) -> None:
    """Let version 1 be verified, and version 2 be kept, with its settings, unverified."""
    assert_verified(scene.apply(settings("1"), web(1)))
    kept = scene.apply(settings("2"), web(2), flags=flags)
    assert kept.exit_code in (6, 7), str(kept)


def remembered(scene: Scene) -> list[tuple[object, ...]]:
    """Return what `history` says of each revision, and which one a failure returns to."""
    rows = history_rows(scene)
    return [(one["images"], one["verdict"], one["reason"], one["returned_to"]) for one in rows]


@pytest.mark.contract("B1302", "B1540")
@pytest.mark.parametrize(
    ("command", "flags", "said"),
    [
        ("apply", FAILS, "what this run judges failed a check in an attempt that ended at 2"),
        ("restart", FAILS, "what this run judges failed a check in an attempt that ended at 2"),
        ("apply", PAUSED, "what this run judges failed a check in an attempt that ended at 2"),
        ("resume", PAUSED, "what this run judges failed a check in an attempt that ended at 2"),
        (
            "apply",
            IN_DOUBT,
            "was left undecided by a check in an attempt that ended at 2",
        ),
        (
            "restart",
            IN_DOUBT,
            "was left undecided by a check in an attempt that ended at 2",
        ),
    ],
    ids=["failed", "failed-restart", "paused", "paused-resume", "in-doubt", "in-doubt-restart"],
)
def test_what_a_check_found_stays_until_the_check_is_asked_again(
    scene: Scene, command: str, flags: tuple[str, ...], said: str
) -> None:
    """It is said before the write and at the end, and the next failure returns to version 1."""
    apply_both(scene, flags)
    if command == "apply":
        again = scene.apply(settings("2"), web(2))
    else:
        again = scene.gate(command, "web", "--output", "json")
    assert (again.exit_code, again.document["outcome"]) == (0, "verified"), str(again)
    assert warned(again, said, "exit", "history does not call it verified"), again.document[
        "warnings"
    ]
    before, _, _ = again.stderr.partition(" progress ")
    assert said in before
    assert_a_failure_returns_to(scene, 1)


@pytest.mark.contract("B1302")
def test_a_check_that_passes_now_verifies_the_version(scene: Scene) -> None:
    """The same check decides again: nothing is said, and the next failure returns to version 2."""
    check = scene.folder / "check"
    command = ("--smoke-test", f"test -e {check}", "--on-failure", "keep")
    apply_both(scene, command)
    check.touch()
    again = scene.apply(settings("2"), web(2), flags=command)
    assert (again.exit_code, again.document["outcome"]) == (0, "verified"), str(again)
    assert "failed a check" not in again.stderr
    assert not warned(again, "history does not call it verified")
    assert_a_failure_returns_to(scene, 2)


@pytest.mark.contract("B1465", "B1481", "B1554")
@pytest.mark.parametrize("flags", [FAILS, IN_DOUBT], ids=["failed", "in-doubt"])
@pytest.mark.parametrize(
    ("beside", "configuration"),
    [
        pytest.param([settings("3"), web(2)], "1", id="configuration"),
        pytest.param([settings("2"), web(2), service()], "1", id="added"),
        # Another workload keeps what it was verified with.
        pytest.param([settings("2"), web(2), web(1, name="api")], "2", id="another-workload"),
        pytest.param([settings("2"), web(2, replicas=3, minReadySeconds=1)], "1", id="of-itself"),
    ],
)
def test_what_changes_beside_a_version_answers_no_check(
    scene: Scene, flags: tuple[str, ...], beside: list[JSON], configuration: str
) -> None:
    """While its pod template stays, history and its marks do, and a failure returns to 1."""
    apply_both(scene, flags)
    before = remembered(scene)
    again = scene.apply(*beside)
    assert (again.exit_code, again.document["outcome"]) == (0, "verified"), str(again)
    assert warned(again, "this run judged its pods alone", "history does not call it verified")
    assert remembered(scene) == before
    assert_a_failure_returns_to(scene, 1, configuration)


@pytest.mark.contract("B1496")
@pytest.mark.parametrize(
    ("check", "command"), [("false", "apply"), ("sh -c 'exit 75'", "apply"), ("false", "undo")]
)
def test_what_was_taken_back_for_a_check_stays_in_doubt(
    scene: Scene, check: str, command: str
) -> None:
    """It comes back without that check: it runs, and the next failure returns to version 1."""
    assert_verified(scene.apply(settings("1"), web(1)))
    flags = ("--smoke-test", check, "--on-inconclusive", "rollback")
    assert scene.apply(settings("2"), web(2), flags=flags).exit_code == 4
    if command == "apply":
        again = scene.apply(settings("3"), web(2))
    else:
        again = scene.gate("undo", "web", "--to-revision", "2", "--output", "json")
    assert (again.exit_code, again.document["outcome"]) == (0, "verified"), str(again)
    assert warned(again, "this run judged its pods alone", "history does not call it verified")
    assert not any(row[0] == ["shop/web:2"] and row[1] == "verified" for row in remembered(scene))
    assert_a_failure_returns_to(scene, 1)


@pytest.mark.contract("B1465")
@pytest.mark.parametrize("flags", [FAILS, IN_DOUBT], ids=["failed", "in-doubt"])
@pytest.mark.parametrize("partition", [0, 1], ids=["promoted", "next-step"])
def test_a_canary_that_goes_on_without_its_check_stays_in_doubt(
    scene: Scene, flags: tuple[str, ...], partition: int
) -> None:
    """The version before, which was verified, is what a failure returns to."""
    assert_verified(scene.apply(db(1)))
    assert scene.apply(db(2, partition=2), flags=flags).exit_code in (6, 7)
    again = scene.apply(db(2, partition=partition))
    assert (again.exit_code, again.document["outcome"]) == (0, "verified"), str(again)
    assert warned(again, "this run judged its pods alone", "history does not call it verified")
    result = scene.apply(db(3, partition=partition, behaviour=CRASH))
    assert_rolled_back(result, "CrashLoop")
    assert {image_of(pod) for pod in scene.objects.list_all("pods")} == {"shop/db:1"}


@pytest.mark.contract("B1957")
def test_a_run_that_asks_another_check_does_not_say_that_it_asked_none(scene: Scene) -> None:
    """It says which check has to pass for the version to be verified."""
    apply_both(scene, FAILS)
    again = scene.apply(settings("2"), web(2), flags=["--smoke-test", "true"])
    assert warned(
        again,
        "(false: exit 1), which this run does not ask: a check of that name has to pass before it"
        " is verified; history does not call it verified",
    )
    assert_a_failure_returns_to(scene, 1)


@pytest.mark.contract("B1302")
def test_another_version_than_the_one_a_check_failed_is_verified_without_the_check(
    scene: Scene,
) -> None:
    """Another pod template is none that the check has seen."""
    apply_both(scene, FAILS)
    fixed = scene.apply(settings("3"), web(3))
    assert (fixed.exit_code, fixed.document["outcome"]) == (0, "verified"), str(fixed)
    assert not warned(fixed, "history does not call it verified"), fixed.document["warnings"]
    assert_rolled_back(scene.apply(settings("4"), web(4, behaviour=CRASH)), "CrashLoop")
    assert mode(scene) == "3"


@pytest.mark.contract("B1540")
def test_a_paused_version_whose_check_failed_is_none_to_return_to(scene: Scene) -> None:
    """It is named as what failed, and the version before it is what a failure returns to."""
    assert_verified(scene.apply(settings("1"), web(1)))
    paused = scene.apply(settings("2"), web(2), flags=PAUSED)
    assert_ended(paused, 6, "failed", "CheckFailed", running="new")
    said = one_line(report(scene, paused))
    assert "the new version of deployment/web failed" in said
    assert "rollout-gate undo web" in said
    assert (["shop/web:2"], "failed", "CheckFailed", False) in remembered(scene)
    assert_a_failure_returns_to(scene, 1)


@pytest.mark.contract("B1541")
def test_a_promotion_that_a_check_left_undecided_is_none_to_return_to(scene: Scene) -> None:
    """The canary was verified; the version before it is what a failure and an undo return to."""
    assert_verified(scene.apply(db(1)))
    assert scene.apply(db(2, partition=2)).exit_code == 0
    promoted = scene.apply(db(2), flags=IN_DOUBT)
    assert_ended(promoted, 7, "inconclusive", "CheckError", running="new")
    undone = scene.gate("undo", "statefulset/db", "--dry-run")
    assert "goes to revision 1 (shop/db:1)" in undone.stderr, str(undone)
    assert_rolled_back(scene.apply(db(3, behaviour=CRASH)), "CrashLoop")
    assert {image_of(pod) for pod in scene.objects.list_all("pods")} == {"shop/db:1"}


@pytest.mark.contract("B1542")
@pytest.mark.parametrize("is_one_run", [True, False], ids=["one-run", "two-runs"])
def test_a_version_stays_in_doubt_until_each_check_that_left_it_has_passed(
    scene: Scene, is_one_run: bool
) -> None:
    """Each is asked alone, in its turn: only the second that passes verifies the version."""
    first, second = IN_DOUBT, ("--smoke-test", "bash -c 'exit 75'")
    apply_both(scene, (*first, *second) if is_one_run else first)
    if not is_one_run:
        again = scene.apply(settings("2"), web(2, minReadySeconds=1), flags=second)
        assert again.exit_code == 7, str(again)
    one = scene.apply(settings("2"), web(2), flags=("--smoke-test", "sh -c 'exit 0'"))
    assert warned(one, "left undecided by a check", "(bash: ", "which this run does not ask")
    assert not warned(one, "(sh: ")
    assert remembered(scene)[-1][3], "version 1 is returned to"
    none = scene.apply(settings("2"), web(2))
    assert warned(none, "(bash: ")
    assert not warned(none, "(sh: ")
    other = scene.apply(settings("2"), web(2), flags=("--smoke-test", "bash -c 'exit 0'"))
    assert not warned(other, "which this run does not ask")
    assert remembered(scene)[0] == (["shop/web:2"], "verified", "", True)


@pytest.mark.contract("B1543")
def test_a_check_that_fails_what_it_had_left_undecided_is_remembered(scene: Scene) -> None:
    """Nothing changed, but the version was in doubt: that is the answer, and the report says so."""
    apply_both(scene, IN_DOUBT)
    failed = scene.apply(settings("2"), web(2), flags=("--smoke-test", "sh -c 'exit 1'"))
    assert_ended(failed, 6, "failed", "CheckFailed")
    assert "not remembered against its version" not in one_line(report(scene, failed))
    assert (["shop/web:2"], "failed", "CheckFailed", False) in remembered(scene)
