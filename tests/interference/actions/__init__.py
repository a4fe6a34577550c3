"""What others do while the gate works; importing this fills the table."""

from __future__ import annotations

from tests.interference.actions import (
    deployments,
    gates,
    manifests,
    stateful_sets,
    surroundings,
)
from tests.interference.actions.gates import FOREIGN_HOLDER
from tests.interference.actions.manifests import FINALIZER
from tests.interference.actions.table import ACTIONS, Action

__all__ = [
    "ACTIONS",
    "FINALIZER",
    "FOREIGN_HOLDER",
    "Action",
    "deployments",
    "gates",
    "manifests",
    "stateful_sets",
    "surroundings",
]
