"""The bed of a real control plane: its cluster, a namespace of it, users by their tokens."""

from __future__ import annotations

import dataclasses
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bed.bed import Bed
from tests.bed.cel import CelPolicies
from tests.bed.checked_gate import CheckedGate, Place
from tests.bed.history import History
from tests.bed.lacking import lacks
from tests.cluster import access, programs
from tests.cluster.cluster import Cluster
from tests.cluster.command import Program
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects

_numbers = itertools.count(1)
_roles = itertools.cycle(access.ROLES)


@dataclass(frozen=True, slots=True)
class ClusterUsers:
    """The users of a namespace, each known by a kubeconfig in the test's folder."""

    cluster: Cluster
    objects: Objects
    folder: Path

    def everything(self) -> tuple[Program, tuple[str, ...]]:
        """Return the gate with every right."""
        return self.program(self.write_kubeconfig())

    def with_rules(self, rules: Sequence[JSON]) -> tuple[Program, tuple[str, ...]]:
        """Return the gate with these rules in the namespace, and no other right."""
        return self.program(self.kubeconfig_with_rules(rules))

    def program(self, kubeconfig: Path, *wrapping: str) -> tuple[Program, tuple[str, ...]]:
        """Return the gate with a kubeconfig, and its token; `wrapping` as in `nohup`."""
        program = programs.gate(kubeconfig, self.folder)
        wrapped = dataclasses.replace(program, words=(*wrapping, *program.words))
        return wrapped, tuple(re.findall(r"token: (\S+)", kubeconfig.read_text()))

    def write_kubeconfig(self, user: str = access.GATE, *, server: str | None = None) -> Path:
        """Write a kubeconfig; `server` names a proxy in front of the API server."""
        path = self.folder / f"kubeconfig-{next(_numbers)}"
        path.touch(mode=0o600)
        path.write_text(self.cluster.kubeconfig(user, self.objects.namespace, server))
        return path

    def kubeconfig_with_rules(self, rules: Sequence[JSON]) -> Path:
        """Write the kubeconfig of a user with these rules."""
        if not self.cluster.tokens:
            lacks("this cluster has no users without rights")
        user = next(_roles)
        self.objects.bind(user, rules)
        return self.write_kubeconfig(user)

    def gate(self, bed: Bed, kubeconfig: Path, *wrapping: str) -> CheckedGate:
        """Return the gate with a kubeconfig of the test's choice, each run checked."""
        program, secrets = self.program(kubeconfig, *wrapping)
        return CheckedGate(program, Place.of(bed), secrets)


@contextmanager
def control_plane_bed(cluster: Cluster, history: History, test: str, folder: Path) -> Iterator[Bed]:
    """Make a namespace that is this test's alone; it goes in the background afterwards."""
    cluster.check()
    called = re.sub(r"[^a-z0-9]+", "-", test.lower()).strip("-")[:30].strip("-")
    name = f"{called}-{os.getpid()}-{next(_numbers)}"
    objects = cluster.objects(name)
    objects.create("namespaces", {"metadata": {"name": name}})
    users = ClusterUsers(cluster, objects, folder)
    kubeconfig = users.write_kubeconfig(access.ADMIN)
    yield Bed(
        client=cluster.api,
        objects=objects,
        history=history,
        audit=cluster.audit,
        users=users,
        kubectl=programs.kubectl(cluster.kubectl, kubeconfig, folder),
        policies=CelPolicies(cluster.api, objects),
        folder=folder,
        scheduler_name=cluster.scheduler_name,
    )
    if objects.find("namespaces", name) is not None:
        objects.delete("namespaces", name)
