"""How a run ended, asserted in one line: exit code, outcome, reason, cause, and what runs."""

from __future__ import annotations

from http import HTTPStatus

from tests.cluster.audit import Trail
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects, is_complete

REVISION = "deployment.kubernetes.io/revision"


def assert_ended(
    result: Result, code: int, outcome: str, reason: str, *, running: str = "", cause: str = ""
) -> JSON:
    """Assert how a run with `--output json` ended; return the document of its first workload.

    `cause` is the reason of the first cause; "" asserts nothing about causes.
    """
    document: JSON = result.document
    found = (result.exit_code, document["outcome"], document["reason"])
    assert found == (code, outcome, reason), str(result)
    assert document["workloads"], str(result)
    workload: JSON = document["workloads"][0]
    assert not running or workload["running"] == running, str(result)
    causes = [each["reason"] for each in workload["causes"]]
    assert not cause or causes[:1] == [cause], str(result)
    return workload


def assert_verified(result: Result, reason: str = "Complete", *, running: str = "new") -> JSON:
    """Assert that the new version runs, verified; return the document of its first workload."""
    return assert_ended(result, 0, "verified", reason, running=running)


def assert_rolled_back(
    result: Result, reason: str, *, cause: str = "", running: str = "baseline"
) -> JSON:
    """Assert that the baseline runs again, verified; the first cause is `reason` or `cause`."""
    return assert_ended(result, 4, "rolled-back", reason, running=running, cause=cause or reason)


def assert_refused(result: Result, reason: str, *words: str) -> None:
    """Assert that a command was refused, exit 3, in one line with all these words."""
    assert f"refused (exit 3, {reason})" in result.stderr, str(result)
    _assert_one_line(result, 3, words)


def assert_usage(result: Result, *words: str) -> None:
    """Assert that a command was given something wrong, exit 2, in one line with these words."""
    _assert_one_line(result, 2, words)


def _assert_one_line(result: Result, code: int, words: tuple[str, ...]) -> None:
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert (result.exit_code, len(lines)) == (code, 1), str(result)
    missing = [word for word in words if word not in lines[0]]
    assert not missing, f"{missing} are not in the line\n{result}"


def assert_runs(objects: Objects, image: str, *, replicas: int = 2, revision: int = 0) -> JSON:
    """Assert that a Deployment `web` runs `image` completely, and return it.

    Its own counters, its ReplicaSet and its pods all have to say so; `revision` 0 is any.
    """
    live = objects.get("deployments", "web")
    assert is_complete(live), live
    assert (images(live), live["spec"]["replicas"]) == ([image], replicas)
    assert not revision or live["metadata"]["annotations"][REVISION] == str(revision), live
    pods = [pod for pod in objects.list_all("pods", "app=web") if not is_going(pod)]
    assert [each["spec"]["containers"][0]["image"] for each in pods] == [image] * replicas
    return live


def changes(audit: Trail) -> list[str]:
    """Return what the gate has changed, in its order, as `patch statefulsets/db`.

    What the server refused has its status behind it. What the gate keeps for itself is left out,
    and so is a conflict of the resource version: a controller may write between read and write.
    """
    return [
        f"{each.verb} {each.resource}/{each.name}"
        + (f"/{each.subresource}" if each.subresource else "")
        + ("" if each.succeeded else f" {each.code}")
        for each in audit.requests().writes().of_objects()
        if each.code != HTTPStatus.CONFLICT
    ]


def is_going(pod: JSON) -> bool:
    """Whether a pod is being deleted."""
    return "deletionTimestamp" in pod["metadata"]


def images(deployment: JSON) -> list[str]:
    """Return the images of a Deployment's template."""
    return [each["image"] for each in deployment["spec"]["template"]["spec"]["containers"]]


def forecast(result: Result, *words: str) -> bool:
    """Whether one warning of the log, as what a failure could not return, has all these words."""
    lines = (line for line in result.stderr.splitlines() if " warning " in line)
    return any(all(word in line for word in words) for line in lines)


def warned(result: Result, *words: str) -> bool:
    """Whether one warning of the document has all these words."""
    return any(all(word in each for word in words) for each in result.document["warnings"])
