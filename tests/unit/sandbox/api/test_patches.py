"""Patch: four kinds of it, each a write like any other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.api.api import (
    Api,
    ApiError,
    FieldValidation,
    Key,
    Patch,
    PatchType,
    Strictness,
    Writer,
)
from sandbox.json import JSON

ME = Writer("alice", "kubectl")


@pytest.fixture
def live(api: Api, deployment: Callable[..., JSON]) -> JSON:
    """Return a stored Deployment."""
    return api.create("deployments.apps", "default", deployment(), ME)


def refusal(api: Api, key: Key, patch: Patch, by: Writer = ME, **options: Any) -> ApiError:
    """Return why a patch is not written."""
    with pytest.raises(ApiError) as caught:
        api.patch(key, patch, by, **options)
    return caught.value


CONTAINERS = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "new"}]}}}}


@pytest.mark.parametrize(
    ("patch", "image"),
    [
        (Patch(PatchType.STRATEGIC, CONTAINERS), "new"),
        (Patch(PatchType.MERGE, CONTAINERS), "new"),
        (
            Patch(
                PatchType.JSON,
                [
                    {
                        "op": "replace",
                        "path": "/spec/template/spec/containers/0/image",
                        "value": "new",
                    }
                ],
            ),
            "new",
        ),
    ],
)
def test_each_kind_of_patch_is_a_write(
    api: Api, web: Key, live: JSON, patch: Patch, image: str
) -> None:
    """It changes what it says, counts the generation, and keeps the defaults."""
    made = api.patch(web, patch, ME)
    (container,) = made["spec"]["template"]["spec"]["containers"]
    assert container["image"] == image
    assert container["imagePullPolicy"]
    assert made["metadata"]["generation"] == 2
    assert made["kind"] == "Deployment"


def test_a_patch_that_names_another_uid_is_invalid(api: Api, web: Key, live: JSON) -> None:
    """422: the field is immutable; a patch of what is not there is 404."""
    found = refusal(api, web, Patch(PatchType.MERGE, {"metadata": {"uid": "x"}}))
    assert found.status == 422
    assert 'metadata.uid: Invalid value: "x": field is immutable' in found.message
    missing = Key("deployments.apps", "default", "nope")
    assert refusal(api, missing, Patch(PatchType.MERGE, {})).status == 404


def test_unknown_fields_of_a_patch_are_treated_as_asked(api: Api, web: Key, live: JSON) -> None:
    """Refused when strict, told when warned about."""
    patch, told = Patch(PatchType.MERGE, {"spec": {"foo": 1}}), list[str]()
    warned = FieldValidation(Strictness.WARN, warn=told.append)
    assert api.patch(web, patch, ME, validation=warned) is live
    assert told == ['unknown field "spec.foo"']
    found = refusal(api, web, patch, validation=FieldValidation(Strictness.STRICT))
    assert found.status == 422
    assert found.message.endswith('strict decoding error: unknown field "spec.foo"')


def test_duplicate_fields_are_seen_in_the_bytes(api: Api, web: Key, live: JSON) -> None:
    """The decoded patch does not show them any more."""
    told: list[str] = []
    raw = b'{"spec":{"replicas":2,"replicas":2}}'
    validation = FieldValidation(Strictness.WARN, raw, told.append)
    api.patch(web, Patch(PatchType.MERGE, {"spec": {"replicas": 2}}), ME, validation=validation)
    assert told == ['duplicate field "spec.replicas"']
