"""The annotations with the gate's prefix: what none of them is, is no comment but a typo."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gate.errors import UsageError
from gate.manifests.manifest import Manifest


def annotated(kind: str, api_version: str, key: str) -> str:
    """Return an object with one annotation, as one line of YAML."""
    metadata = f'{{name: migrate, annotations: {{"{key}": "after"}}}}'
    return f"{{apiVersion: {api_version}, kind: {kind}, metadata: {metadata}}}"


@pytest.mark.contract("B1198")
@pytest.mark.parametrize(
    ("kind", "api_version"), [("Job", "batch/v1"), ("ConfigMap", "v1"), ("Deployment", "apps/v1")]
)
@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("phse", "did you mean rollout-gate.dev/phase?"),
        ("replace-faild", "did you mean rollout-gate.dev/replace-failed?"),
        ("owner", "with that prefix there is phase and replace-failed"),
    ],
)
def test_an_unknown_annotation_of_the_gate_is_refused(
    complaint: Callable[[str], UsageError], kind: str, api_version: str, name: str, hint: str
) -> None:
    """With its place and what may be meant: a smoke test would run as a migration instead."""
    error = complaint(annotated(kind, api_version, f"rollout-gate.dev/{name}"))
    said = f'/migrate has the annotation "rollout-gate.dev/{name}", which means nothing'
    assert str(error).endswith(said)
    assert ":1: " in str(error)
    assert error.hint == hint


@pytest.mark.contract("B1198")
@pytest.mark.parametrize(
    "key",
    [
        "rollout-gate.dev/phase",
        "rollout-gate.dev/locks",
        "sandbox.rollout-gate.dev/behaviour",
        "phse",
        "example.com/phse",
    ],
)
def test_other_annotations_are_left_alone(loaded: Callable[[str], Manifest], key: str) -> None:
    """Those that are known, the gate's own as in what was read back, and those of others."""
    assert len(loaded(annotated("Job", "batch/v1", key)).objects) == 1
