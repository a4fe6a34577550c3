"""Where a host's job deploys to: a sandbox that listens, or a namespace of a real control plane."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from sandbox.face import behaviour
from tests.cluster import manifests, programs
from tests.cluster.command import Program
from tests.cluster.kubelet.api import JSON
from tests.e2e.sandbox_server import sandbox_server

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "ci"


@dataclass(frozen=True, slots=True)
class Place:
    """A cluster as a pipeline knows it; `folder` holds its kubeconfig and is the test's own."""

    kubeconfig: Path
    folder: Path
    scheduler_name: str = ""

    @property
    def gate(self) -> Program:
        """The gate, as somebody at a terminal would run it."""
        return programs.gate(self.kubeconfig, self.folder)

    def deployment(self, name: str, version: int, asked: str = "") -> JSON:
        """Return a Deployment of two pods that do what is asked of them."""
        return manifests.deployment(
            name,
            image=f"shop/{name}:{version}",
            replicas=2,
            behaviour=asked,
            labels={"app.kubernetes.io/instance": name},
            progress_deadline_seconds=60,
            scheduler_name=self.scheduler_name,
        )

    def write(self, path: Path, name: str, version: int, asked: str = "") -> None:
        """Write a Deployment's manifest."""
        behaviour.parse(asked)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(manifests.yaml_text(self.deployment(name, version, asked)))

    def serve(self, *names: str) -> None:
        """Let the first version of each serve."""
        for name in names:
            path = self.folder / f"{name}-1.yaml"
            self.write(path, name, 1)
            self.gate("apply", "-f", path, check=True)

    def images(self, name: str) -> list[str]:
        """Return the images that the revisions of a Deployment have, the newest first."""
        said = self.gate("history", name, "--output", "json", check=True).document
        return [revision["images"][0] for revision in said]


@contextmanager
def sandbox_place(folder: Path) -> Iterator[Place]:
    """Return a sandbox of its own, as long as the block runs."""
    path = folder / "kubeconfig"
    path.touch(mode=0o600)
    with sandbox_server() as endpoint:
        path.write_text(endpoint.kubeconfig)
        yield Place(path, folder)


def installed_gate(folder: Path) -> Path:
    """Write `rollout-gate` as an agent has it installed; return the folder for its PATH."""
    command = folder / "bin" / "rollout-gate"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -P -m gate "$@"\n',
        encoding="utf-8",
    )
    command.chmod(0o755)
    return command.parent


def environment(home: Path, *paths: str) -> dict[str, str]:
    """Return the environment of an agent: no variable of ours, no other host's."""
    foreign = ("ROLLOUT_GATE_", "GITHUB_", "GITLAB_", "CI_", "KUBECONFIG", "JENKINS_", "PYTHON")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(foreign) and k != "CI"}
    return {**kept, "HOME": str(home), "PATH": os.pathsep.join([*paths, kept["PATH"]])}


def rules(text: str) -> list[dict[str, list[str]]]:
    """Return the rules of the only Role in a text of several objects."""
    [role] = [one for one in yaml.safe_load_all(text) if one["kind"] == "Role"]
    found: list[dict[str, list[str]]] = role["rules"]
    return found


def figure(what: str) -> None:
    """Print what was measured, beside the test's verdict: no test judges by it."""
    print(what)
