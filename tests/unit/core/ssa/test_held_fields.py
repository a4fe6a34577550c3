"""What others own of what an apply has to change, and how they lose it."""

from __future__ import annotations

from typing import Any

import pytest

from gate.core.ssa.held_fields import release

ANNOTATED: dict[str, Any] = {"f:annotations": {".": {}, "f:a": {}}}


def entry(manager: str, fields: dict[str, Any], **more: str) -> dict[str, Any]:
    """Return an entry of `metadata.managedFields`."""
    return {"manager": manager, "operation": "Update", "fieldsV1": fields, **more}


@pytest.mark.contract("B1651")
def test_a_map_is_lost_with_the_last_field_in_it() -> None:
    """Else its owner would be in conflict with whoever fills it again."""
    theirs = entry("kubectl", {**ANNOTATED, "f:labels": {".": {}, "f:a": {}, "f:b": {}}})
    lost: dict[str, Any] = {"f:annotations": {"f:a": {}}, "f:labels": {"f:a": {}}}
    assert release([theirs], lost, "ours") == [entry("kubectl", {"f:labels": {".": {}, "f:b": {}}})]


@pytest.mark.contract("B1651")
def test_what_is_ours_or_written_through_a_subresource_is_not_lost() -> None:
    """Nothing is sent where nobody else owns anything of it."""
    owned: dict[str, Any] = {"f:spec": {"f:replicas": {}}}
    kept = [entry("ours", owned), entry("autoscaler", owned, subresource="scale")]
    assert release(kept, owned, "ours") is None
    assert release([*kept, entry("kubectl", owned)], owned, "ours") == kept
