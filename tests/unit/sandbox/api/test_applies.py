"""Server-side apply as a write: creation, conflicts, force, refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.api.api import Api, ApiError, Key, Patch, PatchType, Writer
from sandbox.json import JSON, dig
from sandbox.times import Timers

ME = Writer("alice", "kubectl")
GATE = Writer("ci", "rollout-gate")


@pytest.fixture
def live(api: Api, deployment: Callable[..., JSON]) -> JSON:
    """Return a stored Deployment."""
    return api.create("deployments.apps", "default", deployment(), ME)


def applied(name: str = "web", metadata: JSON | None = None, **spec: Any) -> Patch:
    """Return an apply of a Deployment."""
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, **(metadata or {})},
        "spec": spec,
    }
    return Patch(PatchType.APPLY, body)


def forced(patch: Patch) -> Patch:
    """Return the same apply with force."""
    return Patch(patch.type, patch.body, force=True)


def refusal(api: Api, key: Key, patch: Patch, by: Writer = ME, **options: Any) -> ApiError:
    """Return why a patch is not written."""
    with pytest.raises(ApiError) as caught:
        api.patch(key, patch, by, **options)
    return caught.value


def test_an_apply_of_a_status_creates_nothing(api: Api, web: Key) -> None:
    """404."""
    assert refusal(api, web, applied(), GATE, subresource="status").status == 404


def test_a_dry_apply_creates_nothing(api: Api, web: Key, deployment: Callable[..., JSON]) -> None:
    """The answer is the whole object."""
    made = api.patch(web, Patch(PatchType.APPLY, deployment()), GATE, dry_run=True)
    assert made["spec"]["revisionHistoryLimit"] == 10
    assert api.store.get(web) is None


def test_an_apply_names_every_field_in_conflict(api: Api, web: Key, live: JSON) -> None:
    """409 with a cause for each; with force the fields change hands."""
    template = {"spec": {"containers": [{"name": "web", "image": "new"}]}}
    patch = applied(replicas=5, template=template)
    found = refusal(api, web, patch, GATE)
    assert (found.status, found.reason) == (409, "Conflict")
    assert found.message == (
        'Apply failed with 2 conflicts: conflicts with "kubectl" using apps/v1:\n'
        '- .spec.replicas\n- .spec.template.spec.containers[name="web"].image'
    )
    assert found.details["causes"][0] == {
        "reason": "FieldManagerConflict",
        "message": 'conflict with "kubectl" using apps/v1',
        "field": ".spec.replicas",
    }
    made = api.patch(web, forced(patch), GATE)
    assert made["spec"]["replicas"] == 5
    owned = {entry["manager"]: entry["fieldsV1"] for entry in made["metadata"]["managedFields"]}
    assert dig(owned["rollout-gate"], "f:spec", "f:replicas") == {}
    assert dig(owned["kubectl"], "f:spec", "f:replicas") is None


def test_applying_the_same_again_is_no_write(
    api: Api, timers: Timers, web: Key, live: JSON
) -> None:
    """No version is spent, however much later it is."""
    made = api.patch(web, forced(applied(replicas=5)), GATE)
    timers.run_due(60)
    assert api.patch(web, forced(applied(replicas=5)), GATE) is made


def test_an_apply_with_an_old_version_is_a_conflict(api: Api, web: Key, live: JSON) -> None:
    """As any write of an existing object."""
    found = refusal(api, web, applied(metadata={"resourceVersion": "1"}), GATE)
    assert found.status == 409
    assert "the object has been modified" in found.message
