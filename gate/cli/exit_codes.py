"""The exit codes as a reader of a red pipeline needs them: README.md and docs/cli.md show these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from gate.core.model.outcome import EXIT_CODES, Outcome

MEANINGS: Final[dict[Outcome, tuple[str, str]]] = {
    Outcome.VERIFIED: (
        (
            "the new version, all of it available; or nothing had to change, and it is healthy;"
            " or, with `Vacuous`, no pod: none is wanted, for example with 0 replicas, and"
            " nothing shows that it works"
        ),
        "nothing",
    ),
    Outcome.APPLIED: (
        (
            "what was applied, without a workload to judge; what `pause` paused; or, with"
            " `NoRollout`, the version before: the new one is stored, and no pod takes it by itself"
        ),
        "nothing; but the gate has not checked that it works",
    ),
    Outcome.OBSERVED: (
        (
            "with `--observe`: the new version, even if it failed and crashes; after `preflight`"
            " or `--dry-run`, or if there was nothing to do: what ran before"
        ),
        "read the report: it says what would have been done without `--observe` or `--dry-run`",
    ),
    Outcome.INTERNAL_ERROR: (
        "unknown: rollout-gate itself failed",
        "`rollout-gate status NAME`, then `rollout-gate recover`; please report the bug",
    ),
    Outcome.USAGE: (
        "what ran before: the command line, the configuration or the manifest is wrong",
        "correct what the error names, and run it again",
    ),
    Outcome.REFUSED: (
        "what ran before: the cluster or a safety check refused before anything was written",
        "follow the hint below the error",
    ),
    Outcome.ROLLED_BACK: (
        (
            "what ran before: the old version, available again (no health check is asked on the way"
            " back; what had not been verified before still is not); or nothing, if nothing ran"
            " before"
        ),
        "fix what `why` names, then apply again; nothing is urgent",
    ),
    Outcome.ROLLBACK_FAILED: (
        "not certain: the new version failed, the return is unconfirmed; both may run, or neither",
        "act now: `rollout-gate status NAME` shows what runs; do what the report's `next` says",
    ),
    Outcome.FAILED: (
        (
            "a version that failed, alone or beside the one before: rollback is off, nothing is"
            " there to go back to, or this run had not changed it; with `Paused` the one before,"
            " or both; nothing of a new workload that `--on-first-failure` deletes or scales to 0."
            " Where `verify` misses the image of `--expect-image`"
            " (`Superseded`): another one, not judged, which may be healthy"
        ),
        (
            "apply a version that works, or do what the report's `next` says, for example"
            " `rollout-gate undo NAME --to-revision N`; where an expected image is missed, undo"
            " nothing: find out whether its rollout has begun"
        ),
    ),
    Outcome.INCONCLUSIVE: (
        (
            "the new version; its checks could not decide, or a DaemonSet has no node left"
            " (`NoNode`). Of `status`: under way, or half-way paused"
        ),
        (
            "look at them: `rollout-gate checks NAME`; then keep it, or `rollout-gate undo NAME`."
            " If you keep it, it stays unverified: a later failure returns to the version that was"
            " verified last, or to this one if none ever was"
        ),
    ),
    Outcome.SUPERSEDED: (
        (
            "what somebody else changed it to, nothing if they scaled it to 0; if only the lock was"
            " taken, what the report says"
        ),
        (
            "find out who: the report names the field manager where one is recorded; then do what"
            " its `next` says, for example apply again with `--take-over`"
        ),
    ),
    Outcome.LOST_CONTACT: (
        "unknown: after the write the API server stopped answering, or refused reads",
        "`rollout-gate recover`, as soon as it answers",
    ),
}
"""What runs now, and what to do, by outcome."""
_SIGNALS: Final = (
    "| 129, 130, 143 | `interrupted` | what the report says: a signal stopped the run. By default,"
    " if anything had failed by then (a pod that is just not ready yet has not), it began the way"
    " back, but did not wait for its end | `rollout-gate status NAME`; then what the report's"
    " `next` says, for example finish and verify it with `rollout-gate recover` |"
)


def table() -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    yield "| code | outcome | what runs now | what to do |"
    yield "|---|---|---|---|"
    for outcome, (runs, step) in MEANINGS.items():
        yield f"| {EXIT_CODES[outcome]} | `{outcome}` | {runs} | {step} |"
    yield _SIGNALS
