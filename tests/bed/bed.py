"""The bed of a scenario: a cluster, a namespace for one test, and the programs in it.

There are two: a sandbox in virtual time (`tests.played`), and a real control plane
(`tests.bed.control_plane`). A scenario asks for what stands here, and so runs on both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tests.bed.history import History
from tests.bed.invariants import Run
from tests.bed.policies import Policies
from tests.cluster.audit import Log
from tests.cluster.command import END_SECONDS, Result, RunningProgram
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Client, Objects


class Program(Protocol):
    """A program that works in a folder of its own."""

    @property
    def cwd(self) -> Path:
        """The folder."""

    def __call__(
        self,
        *arguments: str | Path,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        check: bool = False,
        timeout_seconds: float = END_SECONDS,
    ) -> Result:
        """Run to the end; with `check`, an exit code other than 0 raises `AssertionError`."""


class Startable(Program, Protocol):
    """A program that can be met in mid-flight."""

    def start(
        self, *arguments: str | Path, stdin: str = "", env: Mapping[str, str] | None = None
    ) -> RunningProgram:
        """Start a command and return at once."""


class Users(Protocol):
    """Who the gate can be."""

    def everything(self) -> tuple[Startable, tuple[str, ...]]:
        """Return the gate with every right, and the secrets that it is given."""

    def with_rules(self, rules: Sequence[JSON]) -> tuple[Startable, tuple[str, ...]]:
        """Return the gate with these RBAC rules in the namespace, and no other right."""


@dataclass(frozen=True, slots=True)
class Bed:
    """What a test plays with.

    `audit` is None where the cluster's log cannot be read; pods carry `scheduler_name` unless it
    is empty; `runs` are the gate's so far that have ended and kept the invariants.
    """

    client: Client
    objects: Objects
    history: History
    audit: Log | None
    users: Users
    kubectl: Program
    policies: Policies
    folder: Path
    scheduler_name: str = ""
    runs: list[Run] = field(default_factory=list)
