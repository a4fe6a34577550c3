"""A cluster without controllers, and the objects that its tests are about."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from sandbox.api.api import Api, Key
from sandbox.json import JSON
from sandbox.times import Names, Timers


@pytest.fixture
def timers() -> Timers:
    """Return the time, which begins on New Year's morning."""
    return Timers(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def api(timers: Timers) -> Api:
    """Return the API of an empty cluster."""
    return Api(timers, Names(7))


@pytest.fixture
def deployment() -> Callable[..., JSON]:
    """Return a maker of Deployments."""

    def make(name: str = "web", image: str = "shop/web:1", **spec: object) -> JSON:
        labels = {"app": name}
        template = {
            "metadata": {"labels": labels},
            "spec": {"containers": [{"name": "web", "image": image}]},
        }
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {
                "replicas": 2,
                "selector": {"matchLabels": labels},
                "template": template,
                **spec,
            },
        }

    return make


@pytest.fixture
def pod() -> Callable[..., JSON]:
    """Return a maker of Pods."""

    def make(name: str = "p", **spec: object) -> JSON:
        return {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "shop/web:1"}], **spec},
        }

    return make


@pytest.fixture
def web() -> Key:
    """Return where the Deployment of most tests is."""
    return Key("deployments.apps", "default", "web")
