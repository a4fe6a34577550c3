"""What an action of somebody else has at hand: the cluster as another user, and the gate's pid."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.cluster.cluster import Cluster
from tests.cluster.command import Program, Running
from tests.cluster.kubelet.api import JSON, MERGE_PATCH, Api
from tests.cluster.objects import Objects

MANAGER = "somebody"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True)
class SecondGate:
    """A gate that was started beside the first; `manifest` is the version that it applies."""

    running: Running
    manifest: int | None


@dataclass(frozen=True, slots=True)
class Stage:
    """Somebody else's way to one namespace.

    `manifest` writes a version as a file; `gate` is the gate's program under another user's name,
    and `started` what was started of it.
    """

    api: Api
    objects: Objects
    kubectl: Program
    manifest: Callable[[int], Path]
    running: Running
    gate: Program
    environment: Mapping[str, str]
    cluster: Cluster
    started: list[SecondGate] = field(default_factory=list)

    def patch(
        self,
        resource: str,
        name: str,
        body: JSON | Sequence[JSON],
        content_type: str = MERGE_PATCH,
        subresource: str = "",
    ) -> JSON:
        """Patch an object as the field manager `somebody`."""
        force = "&force=true" if content_type == APPLY_PATCH else ""
        query = f"?fieldManager={MANAGER}{force}"
        return self.objects.patch(resource, name, body, content_type, subresource, query)

    def patch_web(self, patch: JSON) -> JSON:
        """Merge a patch into the Deployment `web`."""
        return self.patch("deployments", "web", patch)

    def run_kubectl(self, *words: str | Path) -> None:
        """Run kubectl; raises `AssertionError` where it fails."""
        self.kubectl(*words, check=True)

    def start_gate(self, *words: str | Path, manifest: int | None = None) -> None:
        """Start a second gate, which goes on beside the first."""
        running = self.gate.start(*words, env=self.environment)
        self.started.append(SecondGate(running, manifest))

    def send(self, number: signal.Signals) -> None:
        """Send the gate a signal."""
        self.running.send(number)

    def hold(self, process: str, seconds: float) -> None:
        """Hold the API server or the controller manager still for a while."""
        plane = self.cluster.plane
        assert plane is not None
        servers = {"api": plane.api_server, "controllers": plane.controller_manager}
        with servers[process].suspended():
            threading.Event().wait(seconds)
