"""What the tests of the sandbox are given: clusters in virtual time, and makers of objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from sandbox.api.api import Api, Key
from sandbox.json import JSON
from sandbox.times import Names, Timers
from tests.unit.sandbox.bed import STARTED, Bed


@pytest.fixture
def bed() -> Bed:
    """Return an API with its controllers and its kubelet."""
    return Bed()


@pytest.fixture
def timers() -> Timers:
    """Return the time, which begins on New Year's morning."""
    return Timers(STARTED)


@pytest.fixture
def api(timers: Timers) -> Api:
    """Return an API without controllers."""
    return Api(timers, Names(7))


@pytest.fixture
def web() -> Key:
    """Return where the Deployment of most tests is."""
    return Key("deployments.apps", "default", "web")


@pytest.fixture
def deployment() -> Callable[..., JSON]:
    """Return a maker of Deployments."""

    def make(name: str = "web", replicas: int = 2, **spec: Any) -> JSON:
        labels = {"app": name}
        pod = {"containers": [{"name": name, "image": f"shop/{name}:1"}]}
        template = {"metadata": {"labels": labels}, "spec": pod}
        selector = {"matchLabels": labels}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": selector, "template": template, **spec},
        }

    return make
