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


def test_unknown_fields_of_a_patch_are_treated_as_asked(api: Api, web: Key, live: JSON) -> None:
    """Refused when strict, told when warned about."""
    patch, told = Patch(PatchType.MERGE, {"spec": {"foo": 1}}), list[str]()
    warned = FieldValidation(Strictness.WARN, warn=told.append)
    assert api.patch(web, patch, ME, validation=warned) is live
    assert told == ['unknown field "spec.foo"']
    found = refusal(api, web, patch, validation=FieldValidation(Strictness.STRICT))
    assert found.status == 422
    assert found.message.endswith('strict decoding error: unknown field "spec.foo"')
