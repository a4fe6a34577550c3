"""One stage: a sandbox with what ran before, and the gate that deploys into it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from gate.app.commands.apply import apply
from gate.app.rehearsal.measured import USUAL_REQUESTS, Requests, Scripted, Scripts
from gate.app.rehearsal.pod_traffic import PodTraffic
from gate.app.rehearsal.trouble import Before, Trouble
from gate.app.rehearsal.virtual_world import Played, Running
from gate.app.runtime.console import NO_ENVIRONMENT, Environment
from gate.app.runtime.world import Streams, World
from gate.clock import Clock
from gate.config import Settings, all_checks
from gate.core.checks.old_pods import FRESH_SECONDS
from gate.core.checks.spec import Check
from gate.core.frozen import dataclass
from gate.core.model.field_manager import FIELD_MANAGER
from gate.errors import UsageError
from gate.kube.kinds import registry
from gate.manifests.manifest import ManifestObject
from gate.signals import SIGNAL_BASE, Delivery
from gate.wire.secret_values import SecretValues
from sandbox.face import (
    BY_KIND,
    JSON,
    ApiError,
    ImageRule,
    Images,
    Key,
    Patch,
    PatchType,
    Play,
    Scenario,
    Series,
    Writer,
    behaviour,
    copy_json,
    dig,
)

PATIENCE_SECONDS: Final = 7 * 86_400.0
"""How long the versions before may take to roll out: `minReadySeconds` may be hours, per step."""

OLD_SECONDS: Final = 2 * FRESH_SECONDS
"""How long what was there before has served: no pod of it is as young as those of the rollout."""

NO_DEADLINE: Final = 2**31 - 1
"""The `progressDeadlineSeconds` that never ends (Deployment controller, HasProgressDeadline)."""

_JUDGED_BY_CONTROLLER: Final = ("deployments.apps",)
"""Whose progress is judged, and can be paused (apps/v1: `progressDeadlineSeconds`, `paused`)."""

_BEFORE, _TIMED_OUT = "before", "timed-out"
_WRITER: Final = Writer("system:admin", FIELD_MANAGER)


_WORKLOADS: Final = {
    f"{one.watched.resource.plural}.{one.watched.resource.group}" for one in registry.WORKLOADS
}
"""The resources whose objects are judged, as the sandbox names them."""


@dataclass(frozen=True, slots=True)
class Actor:
    """An object of the manifest as the sandbox stores it."""

    key: Key
    body: JSON

    @property
    def is_workload(self) -> bool:
        """Whether its rollout is judged."""
        return self.key.resource in _WORKLOADS

    @property
    def called(self) -> str:
        """What people call it, as in `deployment/web`."""
        return f"{self.body['kind'].lower()}/{self.key.name}"

    @property
    def comes_to_an_end(self) -> bool:
        """Whether its pods do: what has ended is replaced by no later version (Jobs)."""
        policy = dig(self.body, "spec", "template", "spec", "restartPolicy")
        return self.is_workload and policy in {"OnFailure", "Never"}

    @property
    def has_pods(self) -> bool:
        """Whether it is a workload that asks for pods; without a number it gets one."""
        return self.is_workload and dig(self.body, "spec", "replicas") != 0

    @property
    def can_time_out(self) -> bool:
        """Whether a rollout of it can end in the deadline condition."""
        deadline_seconds = dig(self.body, "spec", "progressDeadlineSeconds")
        is_held = self.key.resource in _JUDGED_BY_CONTROLLER and deadline_seconds != NO_DEADLINE
        return is_held and self.has_pods

    @property
    def can_be_paused(self) -> bool:
        """Whether a rollout of it can be."""
        return self.key.resource in _JUDGED_BY_CONTROLLER

    @property
    def images(self) -> tuple[str, ...]:
        """The images of a workload's template, init containers last."""
        return tuple(each.get("image", "") for each in _containers(self.body))

    @property
    def played_images(self) -> tuple[str, ...]:
        """The images that pods of it can run: those of a bare Pod too, and of the version before.

        Pods of the version before are there when the run begins.
        """
        bare = dig(self.body, "spec", "containers") or ()
        before = (each.get("image", "") for each in _containers(self.of_version(_BEFORE)))
        return (*self.images, *(each.get("image", "") for each in bare), *before)

    def of_version(self, tag: str) -> JSON:
        """Return the object as another version of itself: its images have that tag."""
        body: JSON = copy_json(self.body)
        for each in _containers(body):
            each["image"] = _with_tag(each.get("image", ""), tag)
        if self.is_workload:
            body["spec"].pop("paused", None)
        return body


class Stage:
    """A sandbox that can hold what was there before the gate."""

    def __init__(self, played: Played, actors: Sequence[Actor]) -> None:
        self._played = played
        self._actors = tuple(actors)
        self._scripts: Scripts = lambda _: None
        self._traffic = PodTraffic(played.cluster.api)

    @property
    def workloads(self) -> tuple[Actor, ...]:
        """The workloads, in the manifest's order."""
        return tuple(actor for actor in self._actors if actor.is_workload)

    @property
    def pods(self) -> int:
        """How many pods there are."""
        return len(self._played.cluster.api.store.items("pods"))

    @property
    def stored(self) -> list[JSON]:
        """The workloads as the server has them; one that was deleted is left out."""
        store = self._played.cluster.api.store
        found = (store.get(actor.key) for actor in self.workloads)
        return [body for body in found if body is not None]

    def set_up(self, before: Before) -> None:
        """Create what was there before the gate."""
        for namespace in sorted({actor.key.namespace for actor in self._actors} - {""}):
            self._make_namespace(namespace)
        if before is Before.NOTHING:
            return
        there = [actor for actor in self._actors if not actor.comes_to_an_end]
        for actor in there:
            self._apply(actor.key, actor.of_version(_BEFORE))
        self._wait([actor for actor in there if actor.is_workload], _complete, "get ready")
        self._played.clock.wait(OLD_SECONDS)
        if before is Before.TIMED_OUT:
            self.time_out()

    def play_out(self, trouble: Trouble, checks: Sequence[Check] = ()) -> Play:
        """Start a trouble: for the first image of the `unlucky` workload, or for checks.

        It strikes from the write of that workload on: a Job may come before it.
        """
        actor = unlucky(self.workloads)
        scenario = trouble.scenario(actor.images, actor.key.name, self.pods, checks)
        play = self._make_play(scenario, outranks_annotations=True)
        play.start_with(actor.key)
        return play

    def play(self, scenario: Scenario) -> Play:
        """Start a scenario."""
        play = self._make_play(scenario)
        play.start()
        return play

    def _make_play(self, scenario: Scenario, *, outranks_annotations: bool = False) -> Play:
        """Return a scenario's play in the namespace of the workload that gets the trouble."""
        play = Play(
            scenario,
            self._played.cluster.api,
            self._played.cluster.kubelet,
            unlucky(self.workloads).key.namespace,
            outranks_annotations=outranks_annotations,
        )
        self._scripts = play.measurement
        return play

    def run(
        self,
        settings: Settings,
        streams: Streams,
        delivered: Delivery,
        environ: Environment = NO_ENVIRONMENT,
    ) -> int:
        """Run `rollout-gate apply` to its end, as a process that receives our signals.

        Return its exit code, or after a signal the signal's code, whatever the command returned.
        All its threads have ended by then.
        """
        running = Running(self._played.clock)
        numbers: list[int] = []

        def put(number: int) -> None:
            numbers.append(number)
            running.send(number)

        def command(world: World) -> int:
            return apply(world, settings)

        with delivered(put):
            world = self._played.world(running.signals, streams, sources=self._sources)
            running.begin(command, replace(world, environ=environ))
            exit_code = running.finish()
        return SIGNAL_BASE + numbers[0] if numbers else exit_code

    def time_out(self) -> None:
        """Roll out a version that never gets ready, and wait for its deadline condition."""
        cluster = self._played.cluster
        stuck = Series.constant(behaviour.parse("never-ready"))
        scenario = Scenario(Images((ImageRule(f"*:{_TIMED_OUT}", stuck),)))
        Play(scenario, cluster.api, cluster.kubelet, outranks_annotations=True).start()
        late = [actor for actor in self.workloads if actor.can_time_out]
        for actor in late:
            self._apply(actor.key, actor.of_version(_TIMED_OUT))
        self._wait(late, _timed_out, "time out")

    def _sources(self, settings: Settings, _: Clock, __: SecretValues) -> Scripted:
        """Return the answers to a run's checks: from the current play, else good ones."""
        requests = requests_of(settings)
        return Scripted(all_checks(settings), self._scripts, self._traffic, requests)

    def _make_namespace(self, name: str) -> None:
        key = Key("namespaces", "", name)
        if self._played.cluster.api.store.get(key) is None:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            self._played.cluster.api.create("namespaces", "", body, _WRITER)

    def _apply(self, key: Key, body: JSON) -> None:
        try:
            self._played.cluster.api.patch(key, Patch(PatchType.APPLY, body, force=True), _WRITER)
        except ApiError as error:
            raise UsageError(f"{key.name}: {error.message}") from error

    def _wait(self, actors: Sequence[Actor], holds: Callable[[JSON], bool], what: str) -> None:
        store = self._played.cluster.api.store

        def still() -> Iterator[str]:
            return (actor.called for actor in actors if not holds(store.get(actor.key) or {}))

        if not self._played.clock.wait_until(lambda: not any(still()), PATIENCE_SECONDS):
            problem = f"before the rehearsal begins, {next(still())} has to {what}, and does not"
            hint = "does the manifest ask for it: a ResourceQuota, a behaviour annotation?"
            raise UsageError(problem, hint=hint)


def requests_of(settings: Settings) -> Requests:
    """Return the requests for which comparisons are answered."""
    usual = USUAL_REQUESTS
    return Requests(
        usual.per_second if settings.traffic is None else settings.traffic,
        usual.rate if settings.rate is None else settings.rate,
    )


def unlucky(workloads: Sequence[Actor]) -> Actor:
    """Return the workload that gets the trouble: the first with pods that serve, if there is one.

    Else the first one with pods, or else the first.
    """
    able = [actor for actor in workloads if actor.has_pods] or list(workloads)
    return next((actor for actor in able if not actor.comes_to_an_end), able[0])


def actors_of(objects: Sequence[ManifestObject], namespace: str) -> Iterator[Actor]:
    """Yield a manifest's objects; UsageError for a kind that the sandbox does not have."""
    for item in objects:
        resource = BY_KIND.get((item.api_version, item.kind))
        if resource is None:
            known = ", ".join(sorted({kind for _, kind in BY_KIND}))
            problem = f"{item.source}: the sandbox has no {item.kind} ({item.api_version})"
            raise UsageError(problem, hint=f"it has {known}")
        place = (item.namespace or namespace) if resource.namespaced else ""
        body = item.body_copy()
        body["metadata"] = {**body["metadata"], **({"namespace": place} if place else {})}
        yield Actor(Key(resource.key, place, item.name), body)


def _containers(body: JSON) -> Sequence[JSON]:
    """Return the pod template's containers, init containers last; empty without a template."""
    spec = dig(body, "spec", "template", "spec") or {}
    return (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))


def _with_tag(image: str, tag: str) -> str:
    """Return an image with another tag and without a digest; a registry's port is not a tag."""
    name = image.partition("@")[0]
    folder, slash, last = name.rpartition("/")
    return f"{folder}{slash}{last.partition(':')[0]}:{tag}"


_OF_REPLICAS: Final = ("replicas", "updatedReplicas", "availableReplicas")
_OF_NODES: Final = ("updatedNumberScheduled", "numberAvailable")


def _complete(workload: JSON) -> bool:
    """Whether all pods that are wanted are of the version and available.

    How many that is a DaemonSet's status says.
    """
    status = workload.get("status", {})
    by_node = status.get("desiredNumberScheduled")
    wanted = dig(workload, "spec", "replicas") if by_node is None else by_node
    counters = _OF_REPLICAS if by_node is None else _OF_NODES
    observed = status.get("observedGeneration", 0) >= dig(workload, "metadata", "generation")
    return observed and all(status.get(counter, 0) == wanted for counter in counters)


def _timed_out(deployment: JSON) -> bool:
    conditions = dig(deployment, "status", "conditions") or []
    return any(each.get("reason") == "ProgressDeadlineExceeded" for each in conditions)
