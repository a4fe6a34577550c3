"""The shape of the result document, `rollout-gate/result/v1`: every key is always there.

mypy holds the code to it, and the JSON Schema is made of it. Unknown text is "", all else null.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal, TypedDict

from msgspec import Meta

from gate.core.model.outcome import Outcome
from gate.core.model.remedy import Remedy
from gate.report.schema.check_verdict import CheckResult
from gate.report.schema.course import History, Seconds, TimelineEntry
from gate.report.schema.version import NewVersion, ServedVersion, Version

SCHEMA: Final = "rollout-gate/result/v1"

Action = Literal[
    "created", "changed", "unchanged", "restored", "kept", "left", "gone", "deleting", "deleted",
    "in-doubt",
]  # fmt: skip
StateAtEnd = Literal[
    "as-written", "changed", "not-as-sent", "deleted", "being-deleted", "recreated", "unread",
    "written-late",
]  # fmt: skip
Coverage = Literal["judged", "applied", "not-judged"]
Phase = Literal["before", "main", "after"]
Running = Literal["new", "baseline", "mixed", "none", "other", "unknown"]
PodRemedy = Annotated[
    Remedy, Meta(description="What it takes to run again, or to serve; apply does `replace-pod`.")
]
EvidenceKind = Literal["event", "termination", "log"]

Reason = Annotated[
    str,
    Meta(pattern="^[A-Z][A-Za-z]+$", description="Stable CamelCase; later versions may add some."),
]
Time = Annotated[str, Meta(description='RFC 3339, "" where it is not known.')]


class CrashResult(TypedDict):
    """The container that a cause says has ended."""

    container: str
    init: Annotated[bool, Meta(description="Whether it is an init container.")]
    has_last_words: Annotated[
        bool,
        Meta(description="Whether the message contains the container's termination message."),
    ]


class CauseResult(TypedDict):
    """What was wrong underneath."""

    reason: Reason
    message: str
    pods: Annotated[int, Meta(description="Pods it holds for; 0 where it is of none.")]
    subject: Annotated[
        str,
        Meta(
            description='The one object that has to change or go, as `pod/db-1`; "" where no single'
            " one does."
        ),
    ]
    remedy: PodRemedy
    crash: Annotated[
        CrashResult | None, Meta(description="null where the message is about no such container.")
    ]


class EvidenceResult(TypedDict):
    """One piece of evidence; at most 10 a workload, each of at most 20 lines."""

    kind: EvidenceKind
    pod: Annotated[str, Meta(description='"" where it is about no pod.')]
    container: Annotated[str, Meta(description='"" where it is about no single container.')]
    text: str
    at: Time
    previous: Annotated[
        bool, Meta(description="Whether it is a log that `kubectl logs --previous` shows.")
    ]


class RevisionResult(TypedDict):
    """One version in a tree, by the object that keeps it, with its pods in words."""

    name: str
    role: Annotated[Literal["new", "old"], Meta(description="`new`: of the version judged.")]
    revision: Annotated[int | None, Meta(description="null before the controller wrote one.")]
    images: list[str]
    wanted: int
    ready: int
    available: int
    pods: Annotated[list[str], Meta(description="Pods that are alike are listed together.")]


Moment = Annotated[
    Literal["verdict", "end"],
    Meta(description="`verdict`: when it was judged. `end`: after the way back, if any."),
]


class TreeResult(TypedDict):
    """What belonged to a workload at one moment, the new version first."""

    moment: Moment
    revisions: Annotated[list[RevisionResult], Meta(description="At most 6.")]


class PodShare(TypedDict):
    """How many pods run one version."""

    name: Annotated[str, Meta(description="Of the object that keeps the version.")]
    role: Annotated[Literal["new", "old"], Meta(description="`new`: of the version judged.")]
    revision: Annotated[int | None, Meta(description="null before the controller wrote one.")]
    images: list[str]
    pods: Annotated[int, Meta(description="That exist, ready or not, as last seen.")]


class RemarkResult(TypedDict):
    """What is to be known of a workload beside its verdict, as what was not counted."""

    message: str
    about: Annotated[list[str], Meta(description="The objects it concerns, as `node/n2`.")]


class DeletionResult(TypedDict):
    """What was seen of a workload that somebody deletes, alone or with its namespace."""

    done: Annotated[
        bool, Meta(description="Whether it was gone; false while it waits for finalizers.")
    ]
    finalizers: Annotated[list[str], Meta(description="What its deletion waits for.")]
    pods: Annotated[
        int | None,
        Meta(
            description="Its pods that were not being deleted themselves, as last seen; null where"
            " nobody looked."
        ),
    ]
    namespace_goes: Annotated[bool, Meta(description="Whether its namespace is being deleted.")]


class AnyWorkload(TypedDict):
    """What an entry says of a workload, whatever keeps its versions."""

    kind: Annotated[str, Meta(description="Of the workload, as in a manifest.")]
    namespace: str
    name: str
    uid: Annotated[str, Meta(description='"" where it was never seen.')]
    outcome: Outcome
    reason: Reason
    message: Annotated[
        str, Meta(description="What decided, one line for people; the causes say what was wrong.")
    ]
    causes: Annotated[list[CauseResult], Meta(description="Most telling first.")]
    phase: Annotated[
        Phase | None,
        Meta(
            description="When the run writes it: `before` the other workloads, as a Job is unless"
            " its annotation says otherwise, with them (`main`), or `after` them. null where the"
            " run does not write it."
        ),
    ]
    changed: Annotated[bool, Meta(description="Whether the apply changed it.")]
    running: Annotated[
        Running,
        Meta(
            description="Whose pods there are, as last seen. `none`: no pod is wanted, as it is"
            " scaled to 0, or no node is to run it. `other`: somebody else's version, or no pod for"
            " another reason. `mixed`: of several versions, or a change of them is under way."
        ),
    ]
    scaled_from: Annotated[
        int, Meta(description="Replicas wanted until somebody scaled it to 0; 0 where nobody did.")
    ]
    scaled_meanwhile: Annotated[
        bool,
        Meta(
            description="Whether it went back, and keeps a number of replicas set since by others."
        ),
    ]
    paused: Annotated[
        bool,
        Meta(
            description="Whether it ended well and is paused: no change of it rolls out. After a"
            " signal, whether a pause holds it half-way: it does not go on by itself."
        ),
    ]
    complete_after_signal: Annotated[
        bool,
        Meta(description="Whether a signal left its rollout complete: nothing of it goes on."),
    ]
    deletion: Annotated[
        DeletionResult | None,
        Meta(description="null where nobody deletes it, or it was there again at the end."),
    ]
    undo_lacks: Annotated[
        list[str],
        Meta(
            description="Objects that `undo` to the baseline could not restore, if what was applied"
            " stands."
        ),
    ]
    undo_conflicts: Annotated[
        list[str],
        Meta(description="Managers whose fields `undo` has to `--take-over`, as far as known."),
    ]
    evidence: list[EvidenceResult]
    pod_shares: Annotated[
        list[PodShare], Meta(description="The versions that have pods at the end, newest first.")
    ]
    remarks: list[RemarkResult]
    lasting_effect: Annotated[
        str,
        Meta(description='What of it no rollback takes back, as `what it did`, "" for nothing.'),
    ]
    remedy: PodRemedy


class WorkloadResult(AnyWorkload):
    """How it ended for one workload; its outcome can be better than the attempt's."""

    baseline: Annotated[
        ServedVersion | None, Meta(description="What it returns to; null where there is nothing.")
    ]
    new: NewVersion
    undone: Annotated[
        Version | None,
        Meta(description="What an `undo` goes back from; null of other commands."),
    ]
    trees: list[TreeResult]


class ChangedPath(TypedDict):
    """One field that the apply changed; values that may be secret are `masked`."""

    path: str
    before: Annotated[str | None, Meta(description="null where there was none.")]
    after: Annotated[str | None, Meta(description="null where there is none.")]


class AtEnd(TypedDict):
    """How an object stood when it was read last, beside what this attempt left of it."""

    state: Annotated[
        StateAtEnd,
        Meta(
            description="`changed`: fields that this attempt set have another value, or are gone."
            " `not-as-sent`: the server never kept what was sent. `unread`: nobody could tell."
            " `written-late`: a write without an answer was done too late to be taken back."
        ),
    ]
    managers: Annotated[
        list[str],
        Meta(
            description="Field managers that changed or re-created it, as far as it names any."
            " `as-written`: those that own since what was applied, and has gone back."
        ),
    ]
    fields: Annotated[list[str], Meta(description="Paths that differ, at most 50.")]
    finalizers: Annotated[list[str], Meta(description="What its deletion waits for.")]


class ObjectResult(TypedDict):
    """What this attempt did to one object of the manifest."""

    kind: str
    namespace: Annotated[str, Meta(description='"" for cluster-scoped kinds.')]
    name: str
    action: Annotated[
        Action,
        Meta(
            description="`restored`: put back to what it was. `kept`: a rollback left it as this"
            " attempt made it. `left`: somebody else had changed it before the rollback, which"
            " left it alone. `gone`: written by this attempt, and deleted by somebody else since."
            " `deleting`: deleted by this attempt, and not gone yet. `in-doubt`: the answer to the"
            " last write was lost, or is an error that leaves it open, and nobody knows whether it"
            " was done; a warning says so."
        ),
    ]
    at_end: Annotated[
        AtEnd | None,
        Meta(description="null where this attempt wrote nothing to it that it knows of."),
    ]
    judged: Annotated[bool, Meta(description="Whether the outcome covers it.")]
    coverage: Annotated[
        Coverage,
        Meta(
            description="How much the outcome says of it. `applied`: it is configuration, and was"
            " applied. `not-judged`: it has pods or a status of its own, at which nobody looked."
        ),
    ]
    file: Annotated[
        str, Meta(description='The manifest that it stands in, "" where it is in none.')
    ]
    line: Annotated[int, Meta(description="Counts from 1; 0 where it is not known.")]
    changes: Annotated[
        list[ChangedPath],
        Meta(description="What the apply changed, whether or not it went back; at most 50."),
    ]
    irreversible: Annotated[
        str, Meta(description='Why a failure cannot take it back, "" where it can.')
    ]
    not_restored: Annotated[
        str, Meta(description='The reason why it could not be restored, as `Forbidden`; else "".')
    ]
    was_to_be: Annotated[str, Meta(description='What it could not be made, as `paused`; else "".')]
    kept_otherwise: Annotated[list[str], Meta(description="Fields not kept as they were applied.")]


class RollbackResult(TypedDict):
    """The rollback that a failed verdict led to."""

    reason: Reason
    written_at: Annotated[Time, Meta(description='Its first write, RFC 3339; "" for no write.')]
    verified: Annotated[
        bool,
        Meta(
            description="Whether what went back met the conditions of a complete rollout. Where"
            " `running` is `none`, no pod shows that it works."
        ),
    ]
    duration_seconds: Annotated[Seconds, Meta(description="From the decision to the end.")]
    written_after_seconds: Annotated[
        Seconds, Meta(description="From the decision to its first write; 0 for no write.")
    ]


class Result(TypedDict):
    """How one run of rollout-gate ended, for pipelines and later readers."""

    schema: Literal["rollout-gate/result/v1"]
    version: Annotated[str, Meta(description="Of rollout-gate.")]
    command: Annotated[
        str, Meta(description='Of rollout-gate, as in `apply`; "" where it is not known.')
    ]
    attempt: Annotated[str, Meta(description="Id of this attempt.")]
    run_url: Annotated[str, Meta(description='The pipeline run, "" where it is not known.')]
    traceparent: Annotated[
        str, Meta(description='W3C trace context that the run was started in, "" for none.')
    ]
    server: Annotated[str, Meta(description="URL of the API server.")]
    context: Annotated[str, Meta(description="Context of the kubeconfig.")]
    kubeconfig: Annotated[str, Meta(description='The file that was named, "" where none was.')]
    check_flags: Annotated[
        list[str] | None,
        Meta(
            description="With which `checks` asks the same; null where they are not known, or may"
            " hold a secret."
        ),
    ]
    check_variables: Annotated[
        list[str], Meta(description="Names of variables that hold what lets `checks` in.")
    ]
    cluster_uid: Annotated[str, Meta(description="uid of the namespace kube-system.")]
    outcome: Annotated[Outcome, Meta(description="The worst of all workloads.")]
    exit_code: Annotated[
        Annotated[int, Meta(ge=0, le=255)] | None,
        Meta(description="null of a recording that does not hold how its run ended."),
    ]
    reason: Reason
    message: Annotated[str, Meta(description="One line for people.")]
    hint: Annotated[
        str, Meta(description='What to do about an error before a verdict, "" for none.')
    ]
    recoverable: Annotated[
        bool, Meta(description="Whether a lock holds what `recover` goes on from.")
    ]
    has_recovered: Annotated[bool, Meta(description="Whether it finished an earlier run first.")]
    takes_back: Annotated[
        bool, Meta(description="Whether an `undo` takes back what an earlier run left unfailed.")
    ]
    would_have: Annotated[str, Meta(description='What `--observe` kept it from, "" without.')]
    unready_need: Annotated[str, Meta(description='What was needed and not ready, "" without.')]
    undecided_check: Annotated[
        str, Meta(description='Which check of what was complete had still to decide, "" without.')
    ]
    on_failure: Annotated[
        Literal["", "rollback", "pause", "keep"],
        Meta(
            description="What a failure of what it wrote leads to: its `--on-failure`, `keep` with"
            ' `--observe`; "" where that is not known.'
        ),
    ]
    started_at: Time
    duration_seconds: Seconds
    workloads: list[WorkloadResult]
    objects: list[ObjectResult]
    checks: list[CheckResult]
    rollback: RollbackResult | None
    timeline: Annotated[list[TimelineEntry], Meta(description="At most 500 lines.")]
    history: History
    warnings: list[str]
