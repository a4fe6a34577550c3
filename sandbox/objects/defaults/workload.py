"""Defaults of the kinds that run pods: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job."""

from __future__ import annotations

from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.decoding import Defaulter

ROLLING = "RollingUpdate"
HISTORY_LIMIT = 10
PROGRESS_DEADLINE_SECONDS = 600
BACKOFF_LIMIT = 6
NO_BACKOFF_LIMIT = 2**31 - 1


def _deployment(deployment: JSON) -> None:
    spec = deployment["spec"]
    spec.setdefault("replicas", 1)
    strategy = spec["strategy"]
    strategy.setdefault("type", ROLLING)
    if strategy["type"] == ROLLING:
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", "25%")
        rolling.setdefault("maxSurge", "25%")
    spec.setdefault("revisionHistoryLimit", HISTORY_LIMIT)
    spec.setdefault("progressDeadlineSeconds", PROGRESS_DEADLINE_SECONDS)


def _replica_set(replica_set: JSON) -> None:
    replica_set["spec"].setdefault("replicas", 1)


def _daemon_set(daemon_set: JSON) -> None:
    spec = daemon_set["spec"]
    strategy = spec["updateStrategy"]
    strategy.setdefault("type", ROLLING)
    if strategy["type"] == ROLLING:
        rolling = strategy.setdefault("rollingUpdate", {})
        rolling.setdefault("maxUnavailable", 1)
        rolling.setdefault("maxSurge", 0)
    spec.setdefault("revisionHistoryLimit", HISTORY_LIMIT)


def _stateful_set(stateful_set: JSON) -> None:
    spec = stateful_set["spec"]
    spec.setdefault("podManagementPolicy", "OrderedReady")
    strategy = spec["updateStrategy"]
    if "type" not in strategy:
        strategy["type"] = ROLLING
        strategy.setdefault("rollingUpdate", {})
    if strategy["type"] == ROLLING and "rollingUpdate" in strategy:
        strategy["rollingUpdate"].setdefault("partition", 0)
    for claim in spec.get("volumeClaimTemplates", ()):
        claim.update(apiVersion="v1", kind="PersistentVolumeClaim")
    retention = spec.setdefault("persistentVolumeClaimRetentionPolicy", {})
    retention.setdefault("whenDeleted", "Retain")
    retention.setdefault("whenScaled", "Retain")
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", HISTORY_LIMIT)


def _job(job: JSON) -> None:
    spec = job["spec"]
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    by_index = "backoffLimitPerIndex" in spec
    spec.setdefault("backoffLimit", NO_BACKOFF_LIMIT if by_index else BACKOFF_LIMIT)
    labels = spec["template"]["metadata"].get("labels")
    if labels:
        # One map for both, as in the server: what is added to one is in the other.
        job["metadata"].setdefault("labels", labels)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    replaced = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    spec.setdefault("podReplacementPolicy", replaced)
    spec.setdefault("manualSelector", False)


def _cron_job(cron_job: JSON) -> None:
    spec = cron_job["spec"]
    spec.setdefault("concurrencyPolicy", "Allow")
    spec.setdefault("suspend", False)
    spec.setdefault("successfulJobsHistoryLimit", 3)
    spec.setdefault("failedJobsHistoryLimit", 1)


def _pod_condition_pattern(pattern: JSON) -> None:
    if not pattern.get("status"):
        pattern["status"] = "True"


DEFAULTS: Mapping[str, Defaulter] = {
    "apps/v1.Deployment": _deployment,
    "apps/v1.ReplicaSet": _replica_set,
    "apps/v1.DaemonSet": _daemon_set,
    "apps/v1.StatefulSet": _stateful_set,
    "batch/v1.Job": _job,
    "batch/v1.CronJob": _cron_job,
    "batch/v1.PodFailurePolicyOnPodConditionsPattern": _pod_condition_pattern,
}
