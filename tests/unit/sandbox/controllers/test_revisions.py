"""Revisions as annotations: what anybody wrote into them never stops the controller."""

from __future__ import annotations

import pytest

from sandbox.controllers.deployment.facts import REVISION
from sandbox.controllers.deployment.revisions import (
    DESIRED,
    HISTORY,
    annotated_as_new,
    read_noted_count,
)
from sandbox.json import JSON


def replica_set(**annotations: str) -> JSON:
    """Return a ReplicaSet's metadata."""
    return {"metadata": {"annotations": annotations}}


def test_a_version_that_is_returned_to_keeps_its_history() -> None:
    """The revision it had stays beside the one that it gets."""
    found = annotated_as_new({"metadata": {}}, replica_set(**{REVISION: "2"}), 5)
    annotations = found["metadata"]["annotations"]
    assert (annotations[REVISION], annotations[HISTORY]) == ("5", "2")


@pytest.mark.parametrize("text", ["²", "٣", "-1", "first", "9" * 5000, ""])
def test_an_annotation_that_is_no_number_is_left_alone(text: str) -> None:
    """Neither as a revision nor as a count; nothing raises."""
    strange = replica_set(**{REVISION: text, DESIRED: text})
    assert annotated_as_new({"metadata": {}}, strange, 5) is strange
    assert read_noted_count(strange, DESIRED) is None
