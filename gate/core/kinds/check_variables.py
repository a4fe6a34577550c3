"""What queries of checks, and programs, can name of the workloads that are judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from gate.core.checks.query_variables import OF_ALL, WorkloadVariables
from gate.core.checks.tick_questions import environment_names
from gate.core.kinds.registry import KINDS, kind_of
from gate.core.model.objects import Ref

_NAMES: Final = tuple(kind.variables for kind in KINDS if kind.variables is not None)

OF_A_WORKLOAD: Final = frozenset(name for names in _NAMES for name in names.all)
"""The variables that need a single workload for their value."""
BUILT_IN: Final = OF_ALL | OF_A_WORKLOAD
"""The variables that every query can name."""
OF_ONE_VERSION: Final = tuple(
    dict.fromkeys(name for names in _NAMES for name in names.of_one_version)
)
"""Those that tell one version from another; a comparison has to name one of them."""
OF_VERSIONS: Final = frozenset(
    (*OF_ONE_VERSION, *(name for names in _NAMES for name in names.of_baseline))
)
"""Those whose values nobody can choose, or know before the version exists."""
COMMAND_VARIABLES: Final = frozenset(one for names in _NAMES for one in environment_names(names))
"""What tells the program of a command check what it judges."""


def is_measured(ref: Ref) -> bool:
    """Tell whether checks can be about a workload: a Job serves nothing that could be measured."""
    return kind_of(ref).variables is not None


def variables_of(refs: Iterable[Ref]) -> WorkloadVariables:
    """Return the names that the kind of the first workload has, of none those of the first kind."""
    return next((names for ref in refs if (names := kind_of(ref).variables)), _NAMES[0])
