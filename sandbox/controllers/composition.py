"""All controllers together, over one API: construction and start."""

from __future__ import annotations

from sandbox.api.api import Api
from sandbox.controllers.deployment.controller import DeploymentController
from sandbox.controllers.garbage import GarbageCollector
from sandbox.controllers.informer import Informer
from sandbox.controllers.namespaces import NamespaceController
from sandbox.controllers.quota.enforcement import QuotaAdmission, QuotaController
from sandbox.controllers.replicaset.controller import ReplicaSetController
from sandbox.times import Timers


class Controllers:
    """What a controller manager runs; `deployments` is open for tests that force a hash."""

    def __init__(self, api: Api, timers: Timers) -> None:
        watched = ("deployments.apps", "replicasets.apps", "pods", "namespaces", "resourcequotas")
        self._informers = [Informer(api.store, timers, resource) for resource in watched]
        deployments, replica_sets, pods, namespaces, quotas = self._informers
        self._api = api
        self.deployments = DeploymentController(api, timers, deployments, replica_sets, pods)
        self._quota_admission = QuotaAdmission(api, timers)
        self._others = (
            ReplicaSetController(api, timers, replica_sets, pods),
            GarbageCollector(api, timers),
            NamespaceController(api, timers, namespaces),
            QuotaController(api, timers, quotas),
        )

    def start(self) -> None:
        """Begin to act on what is there and on each change; quotas are enforced from now on."""
        self._api.admissions.append(self._quota_admission)
        for controller in (self.deployments, *self._others):
            controller.start()
        for informer in self._informers:
            informer.start()
