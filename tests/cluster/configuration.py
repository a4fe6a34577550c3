"""How a control plane is run: its controllers, feature gates and flags, by a name of its own."""

from __future__ import annotations

from dataclasses import dataclass

CONTROLLERS = (
    "cronjob-controller",
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "endpoints-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "persistentvolume-binder-controller",
    "persistentvolume-protection-controller",
    "persistentvolumeclaim-protection-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "statefulset-controller",
    "ttl-after-finished-controller",
)


@dataclass(frozen=True, slots=True)
class Configuration:
    """What differs between control planes.

    `controllers` run beside `CONTROLLERS`, with `controller_flags`; `feature_gates`, as in
    `Name=true`, hold in every server.
    """

    name: str
    controllers: tuple[str, ...] = ()
    controller_flags: tuple[str, ...] = ()
    feature_gates: tuple[str, ...] = ()


PLAIN = Configuration("plain")
"""Nobody looks after nodes here: a server that tests hold for a while leaves them ready."""

NODE_LIFECYCLE = Configuration(
    "node-lifecycle",
    controllers=("node-lifecycle-controller", "taint-eviction-controller"),
    controller_flags=("--node-monitor-period=500ms", "--node-monitor-grace-period=4s"),
)
"""A node that is silent for 4 s (a cluster's default is 50 s) is unreachable."""

MAX_UNAVAILABLE = Configuration(
    "max-unavailable", feature_gates=("MaxUnavailableStatefulSet=true",)
)
"""StatefulSets honour `maxUnavailable`, which is off by default."""

AUTOSCALING = Configuration(
    "autoscaling",
    controllers=("horizontal-pod-autoscaler-controller",),
    controller_flags=("--horizontal-pod-autoscaler-sync-period=500ms",),
)
"""HorizontalPodAutoscalers are looked at every 0.5 s (a cluster's default is 15 s)."""

BY_NAME = {each.name: each for each in (PLAIN, NODE_LIFECYCLE, MAX_UNAVAILABLE, AUTOSCALING)}
