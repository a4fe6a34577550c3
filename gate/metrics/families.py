"""Every metric, declared once: its name, its kind, its labels, and the values these can have.

Each label is bounded: by a closed set, or by the workloads of the attempt. What concerns the
whole run is written under its first workload, so that sums over all are right everywhere.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import field
from typing import Final

from gate.core.attempt.transitions import State
from gate.core.checks.measurement import Kind as Verdict
from gate.core.frozen import dataclass
from gate.core.model.outcome import Outcome
from gate.core.plan.leg import Leg

PREFIX: Final = "rollout_gate_"
PLACE: Final = ("namespace", "deployment", "workload", "workload_kind")
"""The labels of every metric; all are "" for a run that never knew its workloads.

`deployment` is the name again where the workload is a Deployment, for readers of earlier versions.
"""
PREPARING: Final = "preparing"
"""The phase before the first step of an attempt: the gate takes locks and runs the preflight."""
NO_ANSWER: Final = "none"
OTHER: Final = "other"
"""Stands for a verb or a code that HTTP does not define."""
VERBS: Final = ("GET", "WATCH", "POST", "PUT", "PATCH", "DELETE")


class Type(enum.StrEnum):
    """How a value changes from one scrape to the next."""

    GAUGE = "gauge"
    COUNTER = "counter"


class Probe(enum.StrEnum):
    """What a check asks."""

    PROMETHEUS = "prometheus"
    HTTP = "http"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class Family:
    """One metric; `labels` come after those of `PLACE`, each with its possible values.

    A label without values here has those that its name implies: reasons, commands, versions.
    """

    name: str
    type: Type
    help: str
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def label_names(self) -> tuple[str, ...]:
        """All labels, in the order of a sample's values."""
        return (*PLACE, *self.labels)


_OUTCOMES: Final = tuple(outcome.value for outcome in Outcome)
_PHASES: Final = (PREPARING, *(state.value for state in State if state is not State.ENDED))

ATTEMPTS: Final = Family(
    f"{PREFIX}attempts_total",
    Type.COUNTER,
    "Attempts that ended in this run.",
    {"command": (), "outcome": _OUTCOMES, "reason": ()},
)
LAST_TIMESTAMP: Final = Family(
    f"{PREFIX}last_attempt_timestamp_seconds",
    Type.GAUGE,
    "When the last attempt ended, Unix time.",
)
LAST_DURATION: Final = Family(
    f"{PREFIX}last_attempt_duration_seconds",
    Type.GAUGE,
    "How long the last attempt took, from its start to its verdict.",
)
LAST_OUTCOME: Final = Family(
    f"{PREFIX}last_attempt_outcome",
    Type.GAUGE,
    "1 for the outcome of the last attempt, 0 for all others.",
    {"outcome": _OUTCOMES},
)
LAST_INFO: Final = Family(
    f"{PREFIX}last_attempt_info",
    Type.GAUGE,
    "Always 1; its labels give the command, reason, gate version and cluster of the last attempt.",
    {"command": (), "reason": (), "version": (), "cluster_uid": ()},
)
PHASE: Final = Family(
    f"{PREFIX}phase_duration_seconds",
    Type.GAUGE,
    "How long the run spent in each phase of the rollout and of the rollback.",
    {"leg": tuple(leg.value for leg in Leg), "phase": _PHASES},
)
DELAY: Final = Family(
    f"{PREFIX}evidence_to_rollback_seconds",
    Type.GAUGE,
    "From the observation that condemned the new version to the first write of the rollback.",
)
CHECKS: Final = Family(
    f"{PREFIX}check_measurements_total",
    Type.COUNTER,
    "Measurements of health checks.",
    {
        "kind": tuple(probe.value for probe in Probe),
        "verdict": tuple(verdict.value for verdict in Verdict),
    },
)
REQUESTS: Final = Family(
    f"{PREFIX}api_requests_total",
    Type.COUNTER,
    "Requests to the API server, including watches and retries.",
    {"verb": (*VERBS, OTHER), "code": ()},
)

FAMILIES: Final = (
    ATTEMPTS,
    LAST_TIMESTAMP,
    LAST_DURATION,
    LAST_OUTCOME,
    LAST_INFO,
    PHASE,
    DELAY,
    CHECKS,
    REQUESTS,
)
"""In the order of the exposition and of docs/metrics.md."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One value; `labels` are in the order of the family's names."""

    family: Family
    labels: tuple[str, ...]
    value: float
