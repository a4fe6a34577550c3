"""Defaults of pods and of pod templates: containers, ports, environment, probes, volumes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.decoding import Defaulter

GRACE_SECONDS = 30
FILE_MODE = 0o644
TOKEN_SECONDS = 3600

_IMAGE = re.compile(r"(?P<name>[^@\s]+?)(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>\S+))?")


def setting(**values: object) -> Defaulter:
    """Return a defaulter that sets each of the fields that is not given."""

    def default(struct: JSON) -> None:
        for name, value in values.items():
            struct.setdefault(name, value)

    return default


def _pod(pod: JSON) -> None:
    """Fill in what a pod has and a template has not."""
    spec = pod["spec"]
    for container in (*(spec.get("containers") or ()), *spec.get("initContainers", ())):
        resources = container["resources"]
        if limits := resources.get("limits"):
            resources["requests"] = {**limits, **resources.get("requests", {})}
        for port in container.get("ports", ()) if spec.get("hostNetwork") else ():
            port.setdefault("hostPort", port["containerPort"])
    spec.setdefault("enableServiceLinks", True)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1


def _pod_spec(spec: JSON) -> None:
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("securityContext", {})
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    spec.setdefault("schedulerName", "default-scheduler")
    # The deprecated name stands beside the other one, as conversion has it.
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account


def _container(container: JSON) -> None:
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = _pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")


def _pull_policy(image: str) -> str:
    """Return `Always` for the tag `latest`, which an image without tag and digest has too."""
    match = _IMAGE.fullmatch(image)
    if match is None:
        return "IfNotPresent"
    tag = match["tag"] or ("" if match["digest"] else "latest")
    return "Always" if tag == "latest" else "IfNotPresent"


def _grpc(action: JSON) -> None:
    if action.get("service") is None:
        action["service"] = ""


def _volume(volume: JSON) -> None:
    if len(volume) == 1:
        volume["emptyDir"] = {}


def _image(image: JSON) -> None:
    if "pullPolicy" not in image:
        image["pullPolicy"] = _pull_policy(image.get("reference", ""))


DEFAULTS: Mapping[str, Defaulter] = {
    "core/v1.Pod": _pod,
    "core/v1.PodSpec": _pod_spec,
    "core/v1.Container": _container,
    "core/v1.EphemeralContainer": _container,
    "core/v1.ContainerPort": setting(protocol="TCP"),
    "core/v1.Probe": setting(
        timeoutSeconds=1, periodSeconds=10, successThreshold=1, failureThreshold=3
    ),
    "core/v1.HTTPGetAction": setting(path="/", scheme="HTTP"),
    "core/v1.GRPCAction": _grpc,
    "core/v1.ObjectFieldSelector": setting(apiVersion="v1"),
    "core/v1.FileKeySelector": setting(optional=False),
    "core/v1.Volume": _volume,
    "core/v1.ImageVolumeSource": _image,
    "core/v1.ConfigMapVolumeSource": setting(defaultMode=FILE_MODE),
    "core/v1.DownwardAPIVolumeSource": setting(defaultMode=FILE_MODE),
    "core/v1.ProjectedVolumeSource": setting(defaultMode=FILE_MODE),
    "core/v1.SecretVolumeSource": setting(defaultMode=FILE_MODE),
    "core/v1.ServiceAccountTokenProjection": setting(expirationSeconds=TOKEN_SECONDS),
    "core/v1.HostPathVolumeSource": setting(type=""),
    "core/v1.ISCSIVolumeSource": setting(iscsiInterface="default"),
    "core/v1.RBDVolumeSource": setting(pool="rbd", user="admin", keyring="/etc/ceph/keyring"),
    "core/v1.AzureDiskVolumeSource": setting(
        cachingMode="ReadWrite", fsType="ext4", readOnly=False, kind="Shared"
    ),
    "core/v1.ScaleIOVolumeSource": setting(storageMode="ThinProvisioned", fsType="xfs"),
    "core/v1.PersistentVolumeClaimSpec": setting(volumeMode="Filesystem"),
    "core/v1.PersistentVolumeClaimStatus": setting(phase="Pending"),
}


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


WORKLOAD_DEFAULTS: Mapping[str, Defaulter] = {
    "apps/v1.Deployment": _deployment,
    "apps/v1.ReplicaSetSpec": setting(replicas=1),
    "apps/v1.DaemonSet": _daemon_set,
    "apps/v1.StatefulSet": _stateful_set,
    "batch/v1.Job": _job,
    "batch/v1.CronJob": _cron_job,
    "batch/v1.PodFailurePolicyOnPodConditionsPattern": _pod_condition_pattern,
}
