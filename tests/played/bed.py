"""The bed of a sandbox: a cluster of its own for each test, in virtual time, in this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gate import log
from gate.app.rehearsal.virtual_world import Played, Through, User, straight
from sandbox.face import Cluster, ClusterOptions, Names, Pace, Timers
from tests.bed.bed import Bed
from tests.bed.checked_gate import CheckedGate, Place
from tests.bed.scene import Scene
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.played.client import PlayedClient
from tests.played.gate import PlayedGate
from tests.played.kubectl import USER_AGENT, PlayedKubectl
from tests.played.policies import PlayedPolicies
from tests.played.records import PlayedAudit, PlayedHistory

NAMESPACE = "shop"
STARTED = datetime(2026, 1, 1, tzinfo=UTC)
OPEN_FILES = Path("/proc/self/fd")
ENDING_SECONDS = 5.0
"""How long a thread may take to end that has nothing left to do, on a machine that is busy."""


@dataclass(frozen=True, slots=True)
class PlayedUsers:
    """The users of a sandbox, each known by a token."""

    played: Played
    objects: Objects
    folder: Path

    def everything(self, through: Through = straight) -> tuple[PlayedGate, tuple[str, ...]]:
        """Return the gate with every right."""
        return self._gate("gate", ("system:masters",), through)

    def with_rules(self, rules: Sequence[JSON]) -> tuple[PlayedGate, tuple[str, ...]]:
        """Return the gate with these RBAC rules in the namespace, and no other right."""
        self.objects.bind("limited", rules)
        return self._gate("limited", (), straight)

    def _gate(
        self, user: str, groups: tuple[str, ...], through: Through
    ) -> tuple[PlayedGate, tuple[str, ...]]:
        token = f"token-of-{user}-5f1c2e"
        self.played.cluster.add_user(user, token, groups)
        return PlayedGate(self.played, self.folder, User(token, NAMESPACE, through)), (token,)


@contextmanager
def sandbox_bed(folder: Path, *, at_length: bool = False) -> Iterator[Bed]:
    """Play a sandbox; at the end none of its threads is left, and no file is open.

    Pods fail and wait as fast as on the other bed, or `at_length` as on a node.
    """
    pace = Pace.NODE if at_length else Pace.SHORT
    threads, files = set(threading.enumerate()), _open_files()
    timers = Timers(STARTED)
    audit = PlayedAudit(timers)
    cluster = Cluster(timers, Names(), ClusterOptions(pace=pace, heard=audit.hear))
    played = Played.of(cluster)
    client = PlayedClient(played, "tests/admin")
    objects = Objects(client, NAMESPACE)
    objects.create("namespaces", {"metadata": {"name": NAMESPACE}})
    try:
        yield Bed(
            client=client,
            objects=objects,
            history=PlayedHistory(cluster),
            audit=audit,
            users=PlayedUsers(played, objects, folder),
            kubectl=PlayedKubectl(PlayedClient(played, USER_AGENT), NAMESPACE, folder),
            policies=PlayedPolicies(cluster.api, NAMESPACE),
            folder=folder,
        )
    finally:
        played.clock.end()
        log.configure("console", "info")  # which is the process's: the next command has another
    left = set(threading.enumerate()) - threads
    for thread in left:  # that of a request which was just answered may be about to end
        thread.join(ENDING_SECONDS)
    left = {thread for thread in left if thread.is_alive()}
    assert not left, f"threads are left: {left}"
    assert _open_files() <= files, "a file is left open"


def scene_through(bed: Bed, through: Through = straight) -> Scene:
    """Return the scene of a sandbox's bed; `through` stands between the gate and the server."""
    assert isinstance(bed.users, PlayedUsers)
    program, secrets = bed.users.everything(through)
    gate = CheckedGate(program, Place.of(bed), secrets)
    return Scene(bed.client, bed.objects, bed.history, gate, bed.kubectl, bed.folder)


def _open_files() -> int:
    """Return how many file descriptors there are, 0 where the system does not tell."""
    return sum(1 for _ in OPEN_FILES.iterdir()) if OPEN_FILES.is_dir() else 0
