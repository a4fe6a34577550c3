"""A cluster with its own roles, and a short way to grant rights in it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from sandbox.access.authorizer import Authorizer
from sandbox.access.bootstrap import found_access
from sandbox.api.api import Api, Writer
from sandbox.times import Timers

RBAC = "rbac.authorization.k8s.io"
ME = Writer("admin", "kubectl")


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
