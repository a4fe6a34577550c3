"""Jobs that are gone before the attempt ends: deleted by somebody, or by their time to live."""

from __future__ import annotations

import pytest

from tests.bed.jobs import ended, entry, job, mode
from tests.bed.scene import Scene, settings, web
from tests.scenarios.versions import screen


@pytest.mark.contract("B1078")
@pytest.mark.sandbox_only("the words of an end that is played elsewhere")
@pytest.mark.parametrize(("behaviour", "exit_code"), [("ready=20", 0), ("never-ready", 4)])
def test_a_job_that_goes_by_its_time_to_live_is_nobodys_deletion(
    scene: Scene, behaviour: str, exit_code: int
) -> None:
    """It had ended, and is gone while the Deployment still rolls: nobody is blamed for it."""
    scene.serve(settings("one"), web())
    passing = job(ttlSecondsAfterFinished=0)
    result = scene.apply(settings("two"), passing, web(2, behaviour=behaviour))
    assert result.exit_code == exit_code, str(result)
    assert not scene.objects.list_all("jobs")
    assert entry(result, "migrate")["reason"] == "Complete"
    assert "somebody" not in result.stdout + result.stderr


@pytest.mark.contract("B981", "B1053", "B1054", "B1055", "B1677")
def test_a_job_that_somebody_deletes_ends_the_apply_before_what_waits_for_it(scene: Scene) -> None:
    """Configuration goes back, 4; nobody rejected anything, and its pod may run on."""
    scene.serve(settings("one"), web())
    with scene.applying(settings("two"), job(behaviour="ready"), web(2)) as running:
        running.wait_for_line("1 pod running")
        scene.objects.delete("jobs", "migrate")
        result = running.wait()
    assert ended(result) == (4, "rolled-back", "Deleted")
    said = {line["event"]: line["message"] for line in result.document["timeline"]}
    assert "rejected" not in said, said
    assert mode(scene) == "one"
    assert entry(result, "migrate")["outcome"] == "superseded"
    assert entry(result, "web")["outcome"] == "refused"
    assert entry(result, "web")["message"].startswith("it was not written, since")
    text = " ".join(screen(result).split())
    assert "the apply broke off half-way at job/migrate: the Job was deleted" in text
    assert "deployment/web was never written; what job/migrate may have done stays" in text
    assert "not written deployment/web Deleted runs shop/web:1" in text
    # The garbage collector may have taken the pod by then.
    left = ("1 of its pods was still there", "no pod of it was left")
    assert any(f"deleted before it ended; {one} when last seen" in text for one in left)


@pytest.mark.contract("B1063")
@pytest.mark.sandbox_only("what is said of an end that comes before the controller acts")
def test_what_somebody_edits_beside_a_deleted_job_is_not_as_it_was(scene: Scene) -> None:
    """Their version is about to roll out, though no pod of it was seen yet."""
    scene.serve(settings("one"), web())
    with scene.applying(settings("two"), job(behaviour="ready"), web(2)) as running:
        running.wait_for_line("1 pod running")
        scene.kubectl("set", "image", "deployment/web", "web=shop/web:3", check=True)
        scene.objects.delete("jobs", "migrate")
        result = running.wait()
    found = entry(result, "web")
    assert (found["outcome"], found["running"]) == ("superseded", "mixed")


@pytest.mark.contract("B1677")
@pytest.mark.sandbox_only("what is said while its finalizer is still there")
def test_a_job_of_the_run_that_is_being_deleted_is_not_called_somebody_elses(scene: Scene) -> None:
    """Deleted as an orphan, it waits for its finalizer; there is no configuration of theirs."""
    scene.serve(settings("one"))
    with scene.applying(settings("two"), job(behaviour="ready")) as running:
        running.wait_for_line("1 pod running")
        scene.objects.delete("jobs", "migrate", "Orphan")
        result = running.wait()
    assert ended(result) == (8, "superseded", "Deleted")
    text = " ".join(screen(result).split())
    left = "configmap/settings still has what this run wrote, though job/migrate is being deleted"
    assert left in text, text
    assert "apply again what is to stand" in text
    assert "theirs" not in text
