"""The steps of a Deployment's sync, each on ReplicaSets as a lagging cache may show them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, cast

from sandbox.controllers.deployment.history import clean_up
from sandbox.controllers.deployment.new_replica_set import Sets
from sandbox.controllers.deployment.rolling import grow_new, shrink_old
from sandbox.controllers.deployment.scaling import scale
from sandbox.controllers.deployment.status import calculate_rollout_status, calculate_status
from sandbox.controllers.deployment.writes import Writes
from sandbox.controllers.moments import Moments
from sandbox.json import JSON
from sandbox.times import Timers

NOW = "2026-01-01T00:00:00Z"


class Written:
    """Remembers sizes and deletions by name, in their order; every write succeeds."""

    def __init__(self) -> None:
        self.sizes: dict[str, int] = {}
        self.deleted: list[str] = []

    def scale(self, _deployment: JSON, body: JSON, replicas: int) -> JSON | None:
        """Remember a size that differs; return the ReplicaSet with it."""
        if body["spec"]["replicas"] == replicas:
            return None
        return self._scaled(body, replicas)

    def scale_and_note(self, _deployment: JSON, body: JSON, replicas: int) -> None:
        """Remember a size."""
        self._scaled(body, replicas)

    def delete(self, body: JSON) -> None:
        """Remember a deletion."""
        self.deleted.append(body["metadata"]["name"])

    def _scaled(self, body: JSON, replicas: int) -> JSON:
        self.sizes[body["metadata"]["name"]] = replicas
        return {**body, "spec": {**body["spec"], "replicas": replicas}}


def writes() -> tuple[Written, Writes]:
    """Return what remembers writes, twice: as itself and as what the steps take."""
    written = Written()
    return written, cast("Writes", written)


def deployment(replicas: int, *, surge: int = 1, unavailable: int = 1, **spec: Any) -> JSON:
    """Return a Deployment that rolls."""
    rolling = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {
        "metadata": {"name": "web", "generation": 2},
        "spec": {
            "replicas": replicas,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": rolling},
            **spec,
        },
        "status": {},
    }


def replica_set(name: str, size: int, available: int | None = None, **facts: Any) -> JSON:
    """Return a ReplicaSet; all of its pods are available unless told otherwise."""
    counted = size if available is None else available
    noted = {
        "deployment.kubernetes.io/desired-replicas": str(facts.get("desired", 4)),
        "deployment.kubernetes.io/max-replicas": str(facts.get("most", 5)),
        "deployment.kubernetes.io/revision": str(facts.get("revision", 1)),
    }
    return {
        "metadata": {
            "name": name,
            "generation": facts.get("generation", 1),
            "creationTimestamp": facts.get("created", NOW),
            "annotations": noted,
        },
        "spec": {"replicas": size},
        "status": {
            "replicas": facts.get("pods", counted),
            "availableReplicas": counted,
            "observedGeneration": 1,
            "terminatingReplicas": 0,
        },
    }


def test_a_scaling_down_that_is_not_seen_yet_ends_the_step() -> None:
    """More available than asked for is an old count: nothing more is taken from any."""
    written, taken = writes()
    old = replica_set("old", 3, available=4)
    other = replica_set("other", 2)
    new = replica_set("new", 2)
    assert not shrink_old(taken, deployment(4), Sets(new, [old, other]))
    assert written.sizes == {}


def test_pods_that_are_not_available_go_from_every_old_one_first() -> None:
    """Then available ones, as far as the least allows."""
    written, taken = writes()
    bad = replica_set("bad", 2, available=0)
    good = replica_set("good", 4)
    assert shrink_old(taken, deployment(4, surge=2), Sets(replica_set("new", 0), [bad, good]))
    assert written.sizes == {"bad": 0, "good": 3}


def test_unavailable_new_pods_hold_up_the_old_ones() -> None:
    """What the new ReplicaSet lacks is not taken from the old one."""
    written, taken = writes()
    sets = Sets(replica_set("new", 2, available=0), [replica_set("old", 3)])
    assert not shrink_old(taken, deployment(4), sets)
    assert written.sizes == {}


def test_a_new_one_that_is_too_large_shrinks() -> None:
    """As after a scaling down that was missed."""
    written, taken = writes()
    assert grow_new(taken, deployment(2), Sets(replica_set("new", 4), []))
    assert written.sizes == {"new": 2}


def test_a_saturated_new_one_leaves_nothing_to_old_ones() -> None:
    """As after a ReplicaSet with pods was adopted."""
    written, taken = writes()
    scale(taken, deployment(4), Sets(replica_set("new", 4), [replica_set("adopted", 3)]))
    assert written.sizes == {"adopted": 0}


def test_of_equal_ones_the_newer_grow_first_and_the_older_shrink_first() -> None:
    """What rounding leaves over goes there."""
    older = replica_set("older", 3, created="2026-01-01T00:00:00Z", most=6)
    newer = replica_set("newer", 3, created="2026-01-01T00:01:00Z", most=6)
    written, taken = writes()
    scale(taken, deployment(6), Sets(newer, [older]))
    assert written.sizes == {"newer": 4, "older": 3}
    written, taken = writes()
    scale(taken, deployment(4, surge=1), Sets(newer, [older]))
    assert written.sizes == {"older": 2, "newer": 3}


def test_history_keeps_what_has_pods_or_is_not_observed() -> None:
    """Only ReplicaSets that are known to be empty are deleted."""
    written, taken = writes()
    old = [
        replica_set("running", 0, pods=1, revision=1),
        replica_set("asked", 1, available=0, revision=2),
        replica_set("unseen", 0, generation=2, revision=3),
        replica_set("empty", 0, revision=4),
        replica_set("kept", 0, revision=5),
    ]
    limited = deployment(4, revisionHistoryLimit=1)
    clean_up(taken, limited, Sets(replica_set("new", 4, revision=6), old))
    assert written.deleted == ["empty"]


def test_more_available_than_asked_for_is_none_unavailable() -> None:
    """While it scales down; zero is not written."""
    scaled_down = replica_set("new", 2, available=4)
    status = calculate_status(deployment(2), scaled_down, [scaled_down], now=NOW)
    assert "unavailableReplicas" not in status
    assert status["availableReplicas"] == 4


def test_terminating_pods_are_unknown_where_a_replica_set_does_not_tell() -> None:
    """A control plane in the midst of its upgrade; one that was never observed adds none."""
    silent = replica_set("silent", 1)
    del silent["status"]["terminatingReplicas"]
    assert "terminatingReplicas" not in calculate_status(deployment(1), silent, [silent], now=NOW)
    silent["status"]["observedGeneration"] = 0
    assert calculate_status(deployment(1), silent, [silent], now=NOW)["terminatingReplicas"] == 0


def progress(reason: str, status: str = "True", since: str = NOW) -> JSON:
    """Return a condition Progressing."""
    return {
        "type": "Progressing",
        "status": status,
        "reason": reason,
        "lastUpdateTime": since,
        "lastTransitionTime": since,
    }


def judged(before: JSON, new: JSON, seconds: float) -> JSON:
    """Return the condition Progressing that follows, so many seconds after NOW."""
    timers = Timers(datetime(2026, 1, 1, tzinfo=UTC))
    moments = Moments(timers)
    timers.run_due(seconds)
    body = deployment(4, progressDeadlineSeconds=10)
    body["status"] = {"replicas": 4, "updatedReplicas": 4, "conditions": [before]}
    status = calculate_rollout_status(body, new, [new], moments)
    return next(each for each in status["conditions"] if each["type"] == "Progressing")


def test_the_transition_time_moves_only_with_the_status() -> None:
    """Progress from True to True moves lastUpdateTime alone."""
    found = judged(progress("NewReplicaSetCreated"), replica_set("new", 4, available=1), 5)
    assert found["reason"] == "ReplicaSetUpdated"
    assert found["lastTransitionTime"] == NOW
    assert found["lastUpdateTime"] == "2026-01-01T00:00:05Z"


def test_the_deadline_passes_after_its_seconds_and_not_at_them() -> None:
    """Counted from lastUpdateTime; the transition is of then."""
    new = replica_set("new", 4, available=0, pods=4)
    assert judged(progress("ReplicaSetUpdated"), new, 10.0)["status"] == "True"
    found = judged(progress("ReplicaSetUpdated"), new, 10.1)
    assert (found["status"], found["reason"]) == ("False", "ProgressDeadlineExceeded")
    assert found["message"] == 'ReplicaSet "new" has timed out progressing.'
    assert found["lastTransitionTime"] == "2026-01-01T00:00:10Z"


def test_a_complete_rollout_does_not_time_out_before_the_next_is_known() -> None:
    """The old condition is older than any deadline when the next ReplicaSet comes."""
    new = replica_set("new", 0, available=0, pods=4)
    body = replica_set("old", 4, pods=5)
    timers = Timers(datetime(2026, 1, 1, tzinfo=UTC))
    moments = Moments(timers)
    timers.run_due(3600)
    found = deployment(4, progressDeadlineSeconds=10)
    found["status"] = {"replicas": 9, "updatedReplicas": 4, "availableReplicas": 4}
    found["status"]["conditions"] = [progress("NewReplicaSetAvailable")]
    conditions = calculate_rollout_status(found, new, [body, new], moments)["conditions"]
    assert [each["reason"] for each in conditions if each["type"] == "Progressing"] == [
        "NewReplicaSetAvailable"
    ]
