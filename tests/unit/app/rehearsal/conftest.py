"""A world outside whose time costs nothing either, and a manifest."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from gate.app.world import World, outside
from gate.virtual_time import VirtualClock


@dataclass
class Played:
    """A command's surroundings, and what it said to them."""

    world: World
    out: io.StringIO
    err: io.StringIO


@pytest.fixture
def played() -> Played:
    """Return surroundings without a cluster, whose clock never sleeps."""
    out, err = io.StringIO(), io.StringIO()
    return Played(replace(outside(), clock=VirtualClock(), stdout=out, stderr=err), out, err)


@pytest.fixture
def manifest(tmp_path: Path) -> Callable[[str], str]:
    """Return a writer of manifests."""

    def write(more: str = "") -> str:
        path = tmp_path / "deploy.yaml"
        path.write_text(textwrap.dedent(DEPLOYMENT) + textwrap.dedent(more))
        return str(path)

    return write


DEPLOYMENT = """\
    apiVersion: apps/v1
    kind: Deployment
    metadata: {name: web}
    spec:
      replicas: 3
      minReadySeconds: 5
      progressDeadlineSeconds: 120
      selector: {matchLabels: {app: web}}
      template:
        metadata: {labels: {app: web}}
        spec:
          containers: [{name: web, image: "localhost:5000/shop/web:2"}]
    """
