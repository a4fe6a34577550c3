"""The kinds of workload that are rolled out: versions of each, and when the API shows what.

A version that fails takes back what it was applied with: the workload itself or, where nothing
undoes that, as with a Job, the configuration beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from tests.cluster import manifests, workloads
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects, condition
from tests.cluster.rollouts import DONE

THIRD_RESTART = 3
DEADLINE_SECONDS = 10
SETTINGS = "settings"
LIMIT = f"--timeout={DEADLINE_SECONDS}s"
"""For kubectl, which gives up by itself only where a Deployment's controller does."""


class Subject(Protocol):
    """One kind of workload; each wait returns when the API shows what is waited for."""

    @property
    def kind(self) -> str:
        """Its name in the API."""

    @property
    def evidence(self) -> str:
        """What tells that a version is bad."""

    def good(self, version: int) -> Sequence[JSON]:
        """Return a version that is ready after half a second, or has ended well by then."""

    def bad(self, version: int) -> Sequence[JSON]:
        """Return a version that crashes, with what its failure takes back."""

    def beside(self, version: int, /) -> Sequence[JSON]:
        """Return what is there of an earlier version beside the workload."""

    def wait_written(self, objects: Objects, version: int) -> None:
        """Wait until a version is there."""

    def wait_done(self, objects: Objects, version: int) -> None:
        """Wait until a version is rolled out."""

    def wait_bad(self, objects: Objects, version: int) -> None:
        """Wait for the evidence against a version."""

    def wait_back(self, objects: Objects, version: int) -> None:
        """Wait until a version that was there has been taken back."""

    @property
    def limit(self) -> str:
        """By what kubectl gives a version up."""

    def kubectl_awaits(self, version: int, /) -> str:
        """Return the arguments by which kubectl waits for a version."""

    def kubectl_returns(self, earlier: str, /) -> str:
        """Return the arguments by which kubectl takes it back; `earlier` is a manifest."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """A kind whose workload goes from version to version; one pod of each."""

    kind: str
    resource: str
    name: str
    make: Callable[..., JSON]
    limit: str = LIMIT
    evidence: str = "the third restart"

    def good(self, version: int) -> Sequence[JSON]:
        """Return the workload alone."""
        return [self.make(self.name, image=_image(version), behaviour="ready=0.5")]

    def bad(self, version: int) -> Sequence[JSON]:
        """Return the workload alone."""
        return [self.make(self.name, image=_image(version), behaviour="crash=0.2")]

    def beside(self, _version: int, /) -> Sequence[JSON]:
        """Return nothing: the workload itself goes back."""
        return []

    def wait_written(self, objects: Objects, version: int) -> None:
        """Wait for its image in the template."""
        objects.wait_for(self.resource, self.name, lambda live: _asks(live, version))

    def wait_done(self, objects: Objects, version: int) -> None:
        """Wait until the status says so, of this template."""
        is_done = DONE[self.resource]
        objects.wait_for(
            self.resource, self.name, lambda live: _asks(live, version) and is_done(live)
        )

    def wait_bad(self, objects: Objects, version: int) -> None:
        """Wait for the third restart of a pod, which is what the gate goes by."""
        objects.wait("pods", lambda pods: any(_is_doomed(pod, version) for pod in pods))

    def wait_back(self, objects: Objects, version: int) -> None:
        """Wait for another image in the template."""
        objects.wait_for(self.resource, self.name, lambda live: not _asks(live, version))

    def kubectl_awaits(self, _version: int, /) -> str:
        """Wait for the rollout, whichever version it is of."""
        limit = self.limit if self.limit.startswith("--") else ""
        return f"rollout status {self.resource}/{self.name} {limit}"

    def kubectl_returns(self, _earlier: str, /) -> str:
        """Return to the revision before."""
        return f"rollout undo {self.resource}/{self.name}"


@dataclass(frozen=True, slots=True)
class Migration:
    """A Job, another one for each version; beside one that fails, a ConfigMap, which goes back."""

    kind: str = "Job"
    limit: str = LIMIT
    evidence: str = "the condition Failed"

    def good(self, version: int) -> Sequence[JSON]:
        """Return a Job that ends well, alone."""
        return [self._job(version, "complete=0.5")]

    def bad(self, version: int) -> Sequence[JSON]:
        """Return a Job that fails with its first pod, and the ConfigMap."""
        return [*self.beside(version), self._job(version, "crash=0.2")]

    def beside(self, version: int, /) -> Sequence[JSON]:
        """Return the ConfigMap."""
        return [manifests.config_map(SETTINGS, {"version": str(version)})]

    def wait_written(self, objects: Objects, version: int) -> None:
        """Wait for the Job."""
        objects.wait_for("jobs", _job(version), lambda _: True)

    def wait_done(self, objects: Objects, version: int) -> None:
        """Wait for the condition Complete."""
        objects.wait_for("jobs", _job(version), DONE["jobs"])

    def wait_bad(self, objects: Objects, version: int) -> None:
        """Wait for the condition Failed: before that its pods may still use the configuration."""
        objects.wait_for("jobs", _job(version), _has_failed)

    def wait_back(self, objects: Objects, version: int) -> None:
        """Wait for another value in the ConfigMap."""
        objects.wait_for(
            "configmaps", SETTINGS, lambda live: live["data"]["version"] != str(version)
        )

    def kubectl_awaits(self, version: int, /) -> str:
        """Wait for the condition Complete; kubectl waits for one that will not come as well."""
        return f"wait job/{_job(version)} --for=condition=complete {LIMIT}"

    def kubectl_returns(self, earlier: str, /) -> str:
        """Apply the configuration of before."""
        return f"apply --server-side --force-conflicts --field-manager=rollout-gate -f {earlier}"

    def _job(self, version: int, behaviour: str) -> JSON:
        return workloads.job(
            _job(version), image=_image(version), behaviour=behaviour, backoffLimit=0
        )


DEPLOYMENT = Lasting(
    "Deployment",
    "deployments",
    "web",
    partial(manifests.deployment, replicas=1, progress_deadline_seconds=DEADLINE_SECONDS),
    limit=f"progressDeadlineSeconds: {DEADLINE_SECONDS}",
)
SUBJECTS: Sequence[Subject] = (
    DEPLOYMENT,
    Lasting("StatefulSet", "statefulsets", "db", partial(workloads.stateful_set, replicas=1)),
    Lasting("DaemonSet", "daemonsets", "agent", workloads.daemon_set),
    Migration(),
)


def _image(version: int) -> str:
    return f"shop/web:{version}"


def _job(version: int) -> str:
    return f"migrate-{version}"


def _asks(live: JSON, version: int) -> bool:
    """Whether a workload's template, or a pod's spec, has the image of a version."""
    spec = live["spec"].get("template", live)["spec"]
    return bool(spec["containers"][0]["image"] == _image(version))


def _is_doomed(pod: JSON, version: int) -> bool:
    statuses = pod.get("status", {}).get("containerStatuses", [])
    return _asks(pod, version) and any(each["restartCount"] >= THIRD_RESTART for each in statuses)


def _has_failed(job: JSON) -> bool:
    return condition(job, "Failed").get("status") == "True"
