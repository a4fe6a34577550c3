"""A cluster with its own roles, and a short way to grant rights in it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from sandbox.access.authorizer import Authorizer
from sandbox.access.bootstrap import found_access
from sandbox.api.api import Api, Writer
from sandbox.json import JSON
from sandbox.times import Timers

RBAC = "rbac.authorization.k8s.io"
ME = Writer("admin", "kubectl")
Grant = Callable[..., None]


@pytest.fixture
def api() -> Api:
    """Return a cluster that has its own roles."""
    made = Api(Timers(datetime(2026, 1, 1, tzinfo=UTC)))
    found_access(made)
    return made


@pytest.fixture
def authorizer(api: Api) -> Authorizer:
    """Return who decides there."""
    return Authorizer(api.store)


@pytest.fixture
def grant(api: Api) -> Grant:
    """Return how a rule is given to a subject: in a namespace, or in the whole cluster."""

    def give(subject: JSON, rule: JSON, namespace: str = "default", name: str = "r") -> None:
        prefix = "" if namespace else "cluster"
        kind = "Role" if namespace else "ClusterRole"
        role = {"metadata": {"name": name}, "rules": [rule]}
        api.create(f"{prefix}roles.{RBAC}", namespace, role, ME)
        reference = {"apiGroup": RBAC, "kind": kind, "name": name}
        binding = {"metadata": {"name": name}, "roleRef": reference, "subjects": [subject]}
        api.create(f"{prefix}rolebindings.{RBAC}", namespace, binding, ME)

    return give
