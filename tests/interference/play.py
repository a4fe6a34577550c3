"""Plays one trial: what serves, the attempt and those who disturb it, and what came of it."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tests.bed.invariants import key_of
from tests.cluster import access, manifests, programs
from tests.cluster.audit import Requests
from tests.cluster.cluster import NODE, Cluster
from tests.cluster.command import Program, Result
from tests.cluster.kubelet.api import JSON, Api, ApiError, from_kubeconfig
from tests.cluster.objects import Objects
from tests.cluster.rollouts import DONE
from tests.interference import shop
from tests.interference.actions import ACTIONS, FINALIZER, FOREIGN_HOLDER
from tests.interference.anchors import has_come
from tests.interference.chronicle import Chronicle
from tests.interference.facts import Facts, Performed
from tests.interference.record import OTHERS, RECOVERER, SECOND, SETTER, Known, Run, facts_of
from tests.interference.stage import SecondGate, Stage
from tests.interference.trial import (
    LOCK_WAIT_SECONDS,
    ROLLBACK_SECONDS,
    TIMEOUT_SECONDS,
    Start,
    Step,
    Trial,
)

END_SECONDS = 120.0
_BUDGETS = (
    *("--timeout", f"{TIMEOUT_SECONDS}s", "--rollback-timeout", f"{ROLLBACK_SECONDS}s"),
    *("--progress-deadline", f"{shop.DEADLINE_SECONDS}s"),
    *("--lock-wait", f"{LOCK_WAIT_SECONDS}s", "--output", "json"),
)
_JOB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_RUN_ID": "7",
    "GITHUB_RUN_ATTEMPT": "1",
    "GITHUB_JOB": "deploy",
    "GITHUB_REPOSITORY": "shop/web",
}
_FAILURES = (ApiError, OSError, http.client.HTTPException, AssertionError, IndexError, EOFError)


@dataclass(frozen=True, slots=True)
class Bed:
    """One control plane for many trials, and everything that happens on it."""

    cluster: Cluster
    chronicle: Chronicle
    folder: Path


@dataclass(frozen=True, slots=True)
class Played:
    """What came of a trial: the attempt's facts, those of other gates' attempts, all requests."""

    facts: Facts
    others: tuple[Facts, ...]
    requests: Requests
    results: Mapping[str, Result]


def grant(cluster: Cluster) -> None:
    """Give the users of trials every right."""
    group = "rbac.authorization.k8s.io"
    subjects = [
        {"apiGroup": group, "kind": "User", "name": user}
        for user in (SETTER, OTHERS, SECOND, RECOVERER)
    ]
    role = {"apiGroup": group, "kind": "ClusterRole", "name": "cluster-admin"}
    body = {"metadata": {"name": "trials"}, "roleRef": role, "subjects": subjects}
    cluster.api.json("POST", f"/apis/{group}/v1/clusterrolebindings", body)


def play(bed: Bed, trial: Trial) -> Played:
    """Play a trial in a namespace of its own, which is deleted afterwards."""
    bed.cluster.check()
    with _space(bed, trial) as space:
        return space.play()


class _Space:
    """The namespace of one trial, and the users in it."""

    def __init__(self, bed: Bed, trial: Trial, others: Api, folder: Path) -> None:
        self.bed = bed
        self.trial = trial
        self.folder = folder
        self.objects = bed.cluster.objects(f"trial-{trial.seed}")
        self._others = others
        self._results: dict[str, Result] = {}

    # -- programs ----------------------------------------------------------------------------------

    def gate(self, user: str) -> Program:
        """Return the gate as a user of the cluster."""
        return programs.gate(self._kubeconfig(user), self.folder)

    def kubectl(self, user: str) -> Program:
        """Return kubectl as a user of the cluster; all trials share one discovery cache."""
        own = programs.kubectl(self.bed.cluster.kubectl, self._kubeconfig(user), self.folder)
        cache = {"KUBECACHEDIR": str(self.bed.folder / "kubectl-cache")}
        return replace(own, env={**own.env, **cache})

    def _kubeconfig(self, user: str) -> Path:
        path = self.folder / f"{user}.kubeconfig"
        if not path.exists():
            path.touch(mode=0o600)
            path.write_text(self.bed.cluster.kubeconfig(user, self.objects.namespace))
        return path

    def version(
        self, number: int, replicas: int | None = None, db_pods: int = shop.DB_PODS
    ) -> list[JSON]:
        """Return the objects of a version of this trial's manifest."""
        behaviours = {shop.NEW: self.trial.behaviour, shop.KEPT: "never-ready"}
        return shop.version(
            number,
            parts=self.trial.parts,
            replicas=self.trial.replicas if replicas is None else replicas,
            behaviour=behaviours.get(number, shop.GOOD),
            secret=1 if number == shop.KEPT and self.trial.start is Start.KEPT else None,
            db_pods=db_pods,
        )

    def manifest(
        self, number: int, replicas: int | None = None, db_pods: int = shop.DB_PODS
    ) -> Path:
        """Write a version into a file."""
        path = self.folder / f"v{number}.yaml"
        path.write_text(manifests.yaml_text(*self.version(number, replicas, db_pods)))
        return path

    # -- the trial ---------------------------------------------------------------------------------

    def play(self) -> Played:
        """Play it: what serves, the attempt, the end of all, the next apply."""
        audit = self.bed.cluster.audit
        assert audit is not None
        mark = audit.mark()
        verified = self._set_up()
        started = self._count()
        stage, results, performed = self._attempt()
        ended = self._count()
        seconds = [(second, self._wait(second), self._count()) for second in stage.started]
        left = self._left()
        self._clear_up()
        next_apply = self._next_apply()
        self._results |= {"attempt": results[0], "end": results[-1], "next": next_apply}
        self.bed.chronicle.catch_up(self.objects)
        known = Known(
            trial=self.trial,
            namespace=self.objects.namespace,
            seen=self.bed.chronicle.seen(self.objects.namespace),
            requests=audit.since(mark, "", namespace=self.objects.namespace),
            started=started,
            verified=verified,
            performed=performed,
            left=left,
            next_apply=next_apply,
        )
        ours, second_user = frozenset({access.GATE, RECOVERER}), frozenset({SECOND})
        facts = facts_of(Run(ours, results, self.version(shop.NEW), ended), known)
        others = [
            facts_of(Run(second_user, (result,), self.version(second.manifest), until), known)
            for second, result, until in seconds
            if second.manifest is not None
        ]
        return Played(facts, tuple(others), known.requests, dict(self._results))

    def _set_up(self) -> int:
        """Let something serve; return the count of writes when the gate had verified it, or 0."""
        start = self.trial.start
        if start is Start.NOTHING:
            return 0
        if start is Start.KUBECTL:
            self.kubectl(SETTER)("apply", "-f", self.manifest(1), check=True)
            self._wait_complete()
            return 0
        gate = self.gate(SETTER)
        gate("apply", "-f", self.manifest(1), *_BUDGETS, check=True)
        verified = self._count()
        if self.trial.is_kept:
            words = ("apply", "-f", self.manifest(shop.KEPT), "--on-failure", "keep")
            kept = gate(*words, "--timeout", "3s", "--output", "json")
            assert kept.exit_code == 6, str(kept)
        return verified

    def _wait_complete(self) -> None:
        for body in self.version(1):
            key = key_of(body, self.objects.namespace)
            if key.resource in shop.WORKLOADS:
                self.objects.wait_for(key.resource, key.name, DONE[key.resource])

    def _attempt(self) -> tuple[Stage, tuple[Result, ...], tuple[Performed, ...]]:
        """Run the gate while others do what they do, and `recover` where it was killed."""
        path = self.manifest(shop.NEW)
        for number in (1, shop.THIRD):
            self.manifest(number)
        environment = _JOB if any(step.action == "killed" for step in self.trial.steps) else {}
        others = _Others(self, self._count())
        words: tuple[str | Path, ...] = ("apply", "-f", path, *self.trial.flags, *_BUDGETS)
        with self.gate(access.GATE).start(*words, env=environment) as running:
            stage = Stage(
                api=self._others,
                objects=Objects(self._others, self.objects.namespace),
                kubectl=self.kubectl(OTHERS),
                manifest=lambda number: self.folder / f"v{number}.yaml",
                running=running,
                gate=self.gate(SECOND),
                environment=environment,
                cluster=self.bed.cluster,
            )
            others.begin(stage)
            result = running.wait(END_SECONDS)
        performed = others.end()
        results = (result, self._recover()) if result.exit_code < 0 else (result,)
        return stage, results, performed

    def _recover(self) -> Result:
        """Finish what a killed gate has left, as the next step of its job would."""
        words = ("recover", "--output", "json", "--lock-wait", "90s", "--rollback-timeout", "20s")
        return self.gate(RECOVERER)(*words, env=_JOB)

    def _wait(self, second: SecondGate) -> Result:
        result = second.running.wait(END_SECONDS)
        self._results["second"] = result
        return result

    def _left(self) -> tuple[JSON, ...]:
        """Return the Leases and Secrets of gates that are there when all have ended."""
        found = [
            {**item, "kind": kind}
            for kind, resource in (("Lease", "leases"), ("Secret", "secrets"))
            for item in self.objects.list_all(resource)
        ]
        return tuple(each for each in found if each["metadata"]["name"].startswith("rollout-gate."))

    def _clear_up(self) -> None:
        """Take away what no gate is meant to overcome: quotas, foreign locks, budgets, a node."""
        for item in self.objects.list_all("resourcequotas"):
            self.objects.delete("resourcequotas", item["metadata"]["name"])
        for item in self.objects.list_all("configmaps"):
            if FINALIZER in item["metadata"].get("finalizers", []):
                name = item["metadata"]["name"]
                self.objects.patch("configmaps", name, {"metadata": {"finalizers": None}})
            if item.get("immutable"):
                self.objects.delete("configmaps", item["metadata"]["name"])
        for item in self.objects.list_all("leases"):
            if item["spec"].get("holderIdentity") == FOREIGN_HOLDER:
                self.objects.delete("leases", item["metadata"]["name"])
        if self.objects.find("poddisruptionbudgets", shop.DB):
            self.objects.delete("poddisruptionbudgets", shop.DB)
        if self.objects.find("statefulsets", shop.DB):
            strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
            self.objects.patch("statefulsets", shop.DB, {"spec": {"updateStrategy": strategy}})
        if self.trial.is_global:
            ready = {"conditions": [{"type": "Ready", "status": "True"}]}
            self.objects.patch("nodes", NODE, {"spec": {"unschedulable": None}})
            self.objects.patch("nodes", NODE, {"status": ready}, subresource="status")

    def _next_apply(self) -> Result:
        """Apply a good version with what others own, and as many pods as others asked for."""
        live = self.objects.find("deployments", shop.WEB)
        replicas = live["spec"]["replicas"] if live else None
        db = self.objects.find("statefulsets", shop.DB)
        path = self.manifest(shop.NEXT, replicas, db["spec"]["replicas"] if db else shop.DB_PODS)
        words = ("apply", "-f", path, "--force-conflicts", "--resume")
        return self.gate(SETTER)(*words, *_BUDGETS)

    def _count(self) -> int:
        """Return the cluster's count of writes so far."""
        listed = self.bed.cluster.api.json("GET", self.objects.path("leases"))
        return int(listed["metadata"]["resourceVersion"])


class _Others:
    """Those who disturb an attempt, each action in a thread of its own, at its moment."""

    def __init__(self, space: _Space, since: int) -> None:
        self._space = space
        self._since = since
        self._ended = threading.Event()
        self._threads: list[threading.Thread] = []
        self._performed: list[Performed] = []
        self._began_at = time.monotonic()

    def begin(self, stage: Stage) -> None:
        """Begin to wait for the moments."""
        for step in self._space.trial.steps:
            thread = threading.Thread(target=self._perform, args=(step, stage), daemon=True)
            thread.start()
            self._threads.append(thread)

    def end(self) -> tuple[Performed, ...]:
        """End those whose moment has not come, and return what was performed."""
        self._ended.set()
        self._space.bed.chronicle.wake()
        for thread in self._threads:
            thread.join(END_SECONDS)
        return tuple(self._performed)

    def _perform(self, step: Step, stage: Stage) -> None:
        space = self._space
        namespace = space.objects.namespace
        is_there = has_come(step.anchor, self._since)
        if is_there and not space.bed.chronicle.wait(namespace, is_there, self._ended):
            return
        if self._ended.wait(step.seconds):
            return
        at, seconds, error = datetime.now(UTC), time.monotonic() - self._began_at, ""
        try:
            ACTIONS[step.action].do(stage, random.Random(step.seed))
        except _FAILURES as failure:
            error = f"{type(failure).__name__}: {failure}"
        self._performed.append(Performed(step.action, at, seconds, error))


@contextmanager
def _space(bed: Bed, trial: Trial) -> Iterator[_Space]:
    folder = bed.folder / str(trial.seed)
    folder.mkdir()
    name = f"trial-{trial.seed}"
    bed.cluster.objects(name).create("namespaces", {"metadata": {"name": name}})
    kubeconfig = folder / f"{OTHERS}.kubeconfig"
    kubeconfig.touch(mode=0o600)
    kubeconfig.write_text(bed.cluster.kubeconfig(OTHERS, name))
    others = from_kubeconfig(kubeconfig, folder, "somebody/1")
    try:
        yield _Space(bed, trial, others, folder)
    finally:
        others.close()
        bed.cluster.objects(name).delete("namespaces", name)
        bed.chronicle.forget(name)
