"""Events: repeated ones counted, similar ones combined, too many dropped."""

from __future__ import annotations

import pytest

from sandbox.controllers.ownership import REPLICA_SETS
from sandbox.controllers.recorder import Recorder
from sandbox.json import JSON
from tests.unit.sandbox.bed import NAMESPACE, Bed

ABOUT: JSON = {
    "apiVersion": "apps/v1",
    "kind": "ReplicaSet",
    "metadata": {"name": "r", "namespace": NAMESPACE, "uid": "u-1", "resourceVersion": "7"},
}


@pytest.fixture
def recorder(bed: Bed) -> Recorder:
    """A recorder of its own on the bed's API."""
    return Recorder(bed.api, REPLICA_SETS, "replicaset-controller")


def events(bed: Bed) -> list[JSON]:
    """Return all events, oldest first."""
    found = bed.api.store.items("events", NAMESPACE)
    return sorted(found, key=lambda body: body["metadata"]["name"])


def test_the_tenth_different_message_begins_a_combined_event(bed: Bed, recorder: Recorder) -> None:
    """Refused pods have a new name each: nine events, then one for all the others."""
    for number in range(12):
        recorder.warning(ABOUT, "FailedCreate", f"pod {number}")
    found = events(bed)
    assert len(found) == 10
    assert found[-1]["message"] == "(combined from similar events): pod 11"
    assert found[-1]["count"] == 3
    assert [each["reportingComponent"] for each in found[-2:]] == ["replicaset-controller", ""]


def test_an_object_has_25_events_at_once_and_one_in_five_minutes(
    bed: Bed, recorder: Recorder
) -> None:
    """A storm is cut off, by type: warnings do not use up what normal events may."""
    for _ in range(30):
        recorder.warning(ABOUT, "FailedCreate", "no")
    assert events(bed)[0]["count"] == 25
    recorder.normal(ABOUT, "SuccessfulCreate", "yes")
    assert len(events(bed)) == 2
    bed.run(300)
    recorder.warning(ABOUT, "FailedCreate", "no")
    assert events(bed)[0]["count"] == 26


def test_a_counted_event_that_was_deleted_is_written_again(bed: Bed, recorder: Recorder) -> None:
    """The count of what is gone is gone too."""
    recorder.normal(ABOUT, "Ready", "yes")
    key = next(iter(bed.api.store.items("events", NAMESPACE)))["metadata"]["name"]
    bed.api.store.remove(bed.key("events", key))
    recorder.normal(ABOUT, "Ready", "yes")
    assert events(bed)[0]["count"] == 1
