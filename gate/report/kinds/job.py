"""A Job in a report: it has one version, runs once, and nothing takes back what it did."""

from __future__ import annotations

from typing import Final

from gate.core.kinds.job.reasons import JobReason
from gate.core.model.outcome import Reason
from gate.core.model.remedy import Remedy
from gate.report.kinds.kind import Advice, Stage, StageWords, WorkloadWords

JOB: Final = WorkloadWords(
    "Job",
    version="Job",
    parts="pods",
    ends={
        Reason.COMPLETE: "{name} has completed",
        Reason.NO_CHANGE: "{name} had completed before, and was not run again",
        Reason.VACUOUS: "{name} was asked for no completions: nothing ran",
    },
    stages={
        Stage.WAITING: StageWords(
            "did not start, and may yet",
            steps=(
                Advice(
                    "{called} is left, and runs once nothing keeps it from that, with the"
                    " configuration that is there then; to prevent that, or to change its"
                    " template, delete it:",
                    "kubectl delete {called} {place}",
                ),
            ),
        ),
        Stage.RUNNING: StageWords(
            "did not complete, and its pods may run on",
            "what {it} does stays",
            (
                Advice(
                    "{called} may still run, with the configuration that is there now; what its"
                    " pods write:",
                    "kubectl logs -l job-name={bare} {place} --all-containers --prefix --tail=50",
                ),
                Advice("how far it is:", "kubectl describe {called} {place}"),
                Advice(
                    "wait for its end, or delete it before another one does the same:",
                    "kubectl delete {called} {place}",
                ),
            ),
        ),
        Stage.SUSPENDED: StageWords(
            "did not complete: it is suspended",
            "what {it} did stays",
            (
                Advice(
                    "{called} is left suspended, which ends its pods: once resumed it runs with the"
                    " configuration that is there then; to prevent that, delete it:",
                    "kubectl delete {called} {place}",
                ),
            ),
        ),
        Stage.ENDED: StageWords("{did}", "what {it} did stays"),
    },
    failures=frozenset({"JobFailed"}),
    end_of_pause=("patch", "{called}", "--type=merge", "-p", '{{"spec":{{"suspend":false}}}}'),
    steps={
        JobReason.JOB_FAILED: (
            Advice(
                "fix what the pods of {called} report; what it had already done stays, and the next"
                " run finds it; their logs:",
                "kubectl logs -l job-name={bare} {place} --all-containers --prefix --tail=50",
            ),
            Advice(
                "apply again: each apply makes a Job of its own, as the name is generated",
                remedy=Remedy.RUN_AGAIN,
            ),
            Advice(
                "apply again: the failed Job is deleted then, and runs again, as its annotation"
                " rollout-gate.dev/replace-failed asks for",
                remedy=Remedy.REPLACE,
            ),
            Advice(
                "a failed Job does not run again while it is there: apply it under a new name, or"
                ' with the annotation rollout-gate.dev/replace-failed: "true"',
                remedy=Remedy.RENAME,
            ),
            Advice(
                "fix what the pods of {called} reported; what it had already done stays; the Job,"
                " its pods and their logs are gone, so the next apply runs it again",
                is_for_gone=True,
            ),
        ),
        JobReason.POD_FAILED: (
            Advice("mend what its pods say, and look at what they had done by then"),
        ),
        JobReason.NO_PARALLELISM: (
            Advice("raise spec.parallelism, and apply again: a longer timeout would not help"),
        ),
        Reason.TIMEOUT: (
            Advice(
                "if it is merely slow, raise --timeout",
            ),
        ),
    },
)
