"""The shape of the result document, `rollout-gate/result/v1`: every key is always there.

One place says it: mypy holds the code to it, the JSON Schema is made of it. Text that is not
known is "", numbers and parts that are not known are null.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypedDict

from msgspec import Meta

from gate.core.outcome import Outcome

SCHEMA: Final = "rollout-gate/result/v1"

Action = Literal["created", "changed", "unchanged", "restored", "deleted", "kept"]
Running = Literal["new", "baseline", "mixed", "other", "unknown"]
EvidenceKind = Literal["event", "termination", "log"]

Reason = Annotated[
    str,
    Meta(pattern="^[A-Z][A-Za-z]+$", description="Stable CamelCase; later versions may add some."),
]
Seconds = Annotated[float, Meta(description="Seconds, to the millisecond.")]
Time = Annotated[str, Meta(description='RFC 3339, "" where it is not known.')]


class CauseResult(TypedDict):
    """What was wrong underneath."""

    reason: Reason
    message: str
    pods: Annotated[int, Meta(description="Pods it holds for; 0 where it is of none.")]


class Version(TypedDict):
    """One version of a Deployment: what its ReplicaSet is called and what it runs."""

    revision: Annotated[int | None, Meta(description="null before the controller wrote one.")]
    replicaset: Annotated[str, Meta(description='"" where there is none.')]
    images: Annotated[list[str], Meta(description="In the template's order, init containers out.")]


class NewVersion(Version):
    """The version that this attempt rolled out, or was about to."""

    image_ids: Annotated[
        list[str], Meta(description="What the nodes really ran, by digest, as far as pods told.")
    ]


class EvidenceResult(TypedDict):
    """One piece of evidence; at most 10 a Deployment, each of at most 20 lines."""

    kind: EvidenceKind
    pod: Annotated[str, Meta(description='"" where it is about no pod.')]
    container: Annotated[str, Meta(description='"" where it is about no single container.')]
    text: str
    at: Time


class DeploymentResult(TypedDict):
    """How it ended for one Deployment; its outcome can be better than the attempt's."""

    namespace: str
    name: str
    uid: Annotated[str, Meta(description='"" where it was never seen.')]
    outcome: Outcome
    reason: Reason
    causes: Annotated[list[CauseResult], Meta(description="Most telling first.")]
    baseline: Annotated[
        Version | None, Meta(description="What served before; null where nothing did.")
    ]
    new: NewVersion
    changed: Annotated[bool, Meta(description="Whether the apply changed the Deployment.")]
    running: Annotated[
        Running,
        Meta(
            description="Whose pods there are, as last seen. `other`: somebody else's version, or"
            " no pod at all. `mixed`: of several versions, or a change of them is under way."
        ),
    ]
    evidence: list[EvidenceResult]


class ObjectResult(TypedDict):
    """What this attempt did to one object of the manifest."""

    kind: str
    namespace: Annotated[str, Meta(description='"" for cluster-scoped kinds.')]
    name: str
    action: Annotated[
        Action,
        Meta(
            description="`restored`: back to what it was. `kept`: a rollback left it as this"
            " attempt made it. A write whose answer was lost counts as done, with a warning."
        ),
    ]
    judged: Annotated[bool, Meta(description="Whether the outcome covers it: Deployments alone.")]


class CheckResult(TypedDict):
    """How one health check ended."""

    name: str
    source: str
    verdict: str
    required: bool
    measurements: int
    failures: int
    last_value: float | None
    message: str


class RollbackResult(TypedDict):
    """The rollback that a failed verdict led to."""

    reason: Reason
    written_at: Annotated[Time, Meta(description='Its first write, RFC 3339; "" for no write.')]
    verified: bool
    duration_seconds: Annotated[Seconds, Meta(description="From the decision to the end.")]


class TimelineEntry(TypedDict):
    """One line of what happened."""

    at_seconds: Annotated[Seconds, Meta(description="Since the start.")]
    event: str
    message: str


class Result(TypedDict):
    """How one run of rollout-gate ended, for pipelines and later readers."""

    schema: Literal["rollout-gate/result/v1"]
    version: Annotated[str, Meta(description="Of rollout-gate.")]
    attempt: Annotated[str, Meta(description="Id of this attempt.")]
    run_url: Annotated[str, Meta(description='The pipeline run, "" where it is not known.')]
    server: Annotated[str, Meta(description="URL of the API server.")]
    context: Annotated[str, Meta(description="Context of the kubeconfig.")]
    cluster_uid: Annotated[str, Meta(description="uid of the namespace kube-system.")]
    outcome: Annotated[Outcome, Meta(description="The worst of all Deployments.")]
    exit_code: Annotated[int, Meta(ge=0, le=255)]
    reason: Reason
    message: Annotated[str, Meta(description="One line for people.")]
    started_at: Time
    duration_seconds: Seconds
    deployments: list[DeploymentResult]
    objects: list[ObjectResult]
    checks: list[CheckResult]
    rollback: RollbackResult | None
    timeline: Annotated[list[TimelineEntry], Meta(description="At most 500 lines.")]
    warnings: list[str]
