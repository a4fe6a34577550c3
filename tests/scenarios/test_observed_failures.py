"""What `--observe` says that a failure would have done: the same as the run does without it."""

from __future__ import annotations

import pytest

from tests.bed.bed import Bed
from tests.bed.jobs import CRASH, ended, job
from tests.bed.scene import Scene, settings, web
from tests.played.bed import PlayedUsers
from tests.scenarios.versions import CRASH as CRASHING

DAY_SECONDS = 86_400.0

pytestmark = pytest.mark.sandbox_only("the words of a run; the same code says them anywhere")


@pytest.mark.contract("B1890", "B981", "B34")
@pytest.mark.parametrize("policy", ["rollback", "keep", "pause"])
@pytest.mark.parametrize(
    ("beside", "said", "exit_code"),
    [
        ("changed", "rolled back configmap/settings because", 4),
        ("new", "failed (job/migrate, there was nothing to return to)", 6),
        ("none", "been rolled back (job/migrate, nothing had to go back)", 4),
    ],
)
def test_an_observer_tells_of_an_apply_that_broke_off_what_the_same_run_does(
    scene: Scene, policy: str, beside: str, said: str, exit_code: int
) -> None:
    """It goes back whatever the policy: no version has failed."""
    scene.serve(*([settings("one")] if beside == "changed" else []), web())
    apply = [*([settings("two")] if beside != "none" else []), job(behaviour=CRASH), web(2)]
    flags = ["--on-failure", policy]
    seen = scene.apply(*apply, flags=[*flags, "--observe"])
    assert ended(seen) == (0, "observed", "JobFailed")
    assert seen.document["message"].startswith(f"would have {said}"), seen.document["message"]
    scene.objects.delete("jobs", "migrate")
    if beside != "none":
        scene.objects.delete("configmaps", "settings")
    if beside == "changed":
        assert scene.apply(settings("one")).exit_code == 0
    assert scene.apply(*apply, flags=flags).exit_code == exit_code


@pytest.mark.contract("B1890", "B981")
@pytest.mark.parametrize("flags", [[], ["--observe"], ["--observe", "--on-failure", "keep"]])
def test_an_observer_tells_the_same_where_somebody_deletes_what_comes_first(
    scene: Scene, flags: list[str]
) -> None:
    """What waits for it is not written either way."""
    scene.serve(settings("one"), web())
    apply = [settings("two"), job(behaviour="ready"), web(2)]
    with scene.applying(*apply, flags=flags) as running:
        running.wait_for_line("1 pod running")
        scene.objects.delete("jobs", "migrate")
        result = running.wait()
    assert ended(result) == ((0, "observed", "Deleted") if flags else (4, "rolled-back", "Deleted"))
    said = "would have rolled back configmap/settings because Deleted: "
    assert result.document["message"].startswith(said if flags else "job/migrate: ")


@pytest.mark.contract("B1890", "B138")
@pytest.mark.parametrize("breaks_off", [True, False])
@pytest.mark.parametrize("policy", ["rollback", "pause"])
def test_an_observer_names_the_option_that_keeps_what_failed(
    scene: Scene, bed: Bed, policy: str, breaks_off: bool
) -> None:
    """An age limit does, of what would go back; a pause is asked for by itself."""
    assert isinstance(bed.users, PlayedUsers)
    scene.serve(settings("one"), web())
    bed.users.played.clock.wait(2 * DAY_SECONDS)
    apply = [job(behaviour=CRASH), web(2)] if breaks_off else [web(2, behaviour=CRASHING)]
    flags = ["--on-failure", policy, "--rollback-max-age-days", "1", "--observe"]
    result = scene.apply(settings("two"), *apply, flags=flags)
    is_limited = breaks_off or policy == "rollback"
    option = "--rollback-max-age-days" if is_limited else "--on-failure pause"
    name = "job/migrate" if breaks_off else "deployment/web"
    expected = f"would have failed ({name}, {option}) because"
    assert result.document["message"].startswith(expected), result.document["message"]
