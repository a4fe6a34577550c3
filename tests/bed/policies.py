"""Admission policies of one namespace: what a cluster's policy engine does to a test."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from tests.cluster.kubelet.api import JSON

SIDECAR = {"name": "sidecar", "image": "mesh/proxy:1"}
"""The container that an injector adds."""


@dataclass(frozen=True, slots=True)
class When:
    """A condition on a write, for a real server (CEL) and for the sandbox.

    `holds` is given the object and whether it is a dry run.
    """

    cel: str
    holds: Callable[[JSON, bool], bool]


def with_image(image: str) -> When:
    """Return the condition that a pod's first container has an image."""
    return When(
        f"object.spec.containers[0].image == '{image}'",
        lambda pod, _: bool(pod["spec"]["containers"][0]["image"] == image),
    )


ANY = When("true", lambda _, __: True)
IN_EARNEST = When("request.dryRun != true", lambda _, dry_run: not dry_run)
"""A write that is no dry run."""
IN_DRY_RUNS = When("request.dryRun == true", lambda _, dry_run: dry_run)


class Policies(Protocol):
    """Makes policies that hold for the objects of one namespace, and within a block alone."""

    def denying(
        self, resource: str, message: str, when: When = ANY
    ) -> AbstractContextManager[None]:
        """Within the block, core objects of `resource` for which `when` holds are denied."""

    def injecting_a_sidecar(self) -> AbstractContextManager[None]:
        """Within the block, every pod that is made gets `SIDECAR` beside its own containers."""

    def pinning(self, key: str, value: str) -> AbstractContextManager[None]:
        """Within the block, every ConfigMap with that key is stored with that value of it."""

    def rewriting(
        self, resource: str, image: str, kept: str, when: When = ANY
    ) -> AbstractContextManager[None]:
        """Within the block, workloads of `resource` of one image are stored with another."""
