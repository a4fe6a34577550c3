"""The whole cluster in one object: API, controllers, kubelet and door, over one time.

Whoever owns the time moves it (`timers.run_due`) and sends requests (`handle`), one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.access.authorizer import ADMIN, Tokens, user
from sandbox.access.bootstrap import found_access
from sandbox.api.api import Api
from sandbox.controllers.claims import ClaimController
from sandbox.controllers.daemonset.controller import DaemonSetController
from sandbox.controllers.deployment.controller import DeploymentController
from sandbox.controllers.disruption import DisruptionController
from sandbox.controllers.garbage import GarbageCollector
from sandbox.controllers.job.controller import JobController
from sandbox.controllers.namespaces import NamespaceController
from sandbox.controllers.queue import Informer
from sandbox.controllers.quota import QuotaAdmission, QuotaController
from sandbox.controllers.replica_sets import ReplicaSetController
from sandbox.controllers.statefulset.controller import StatefulSetController
from sandbox.kubelet.behaviour import Silence, Source
from sandbox.kubelet.container import Pace
from sandbox.kubelet.kubelet import NODES, Kubelet
from sandbox.serving.handle import Door, Heard, unheard
from sandbox.serving.request import Answer, Request
from sandbox.times import Names, Timers

_WATCHED = (
    "deployments.apps",
    "replicasets.apps",
    "statefulsets.apps",
    "daemonsets.apps",
    "jobs.batch",
    "poddisruptionbudgets.policy",
    "controllerrevisions.apps",
    "nodes",
    "pods",
    "persistentvolumeclaims",
    "namespaces",
    "resourcequotas",
)


class Controllers:
    """What a controller manager runs; `deployments` is open for tests that force a hash."""

    def __init__(self, api: Api) -> None:
        self._informers = {name: Informer(api.store, api.timers, name) for name in _WATCHED}
        of = self._informers
        pods, replica_sets = of["pods"], of["replicasets.apps"]
        revisions = of["controllerrevisions.apps"]
        self._api = api
        self.deployments = DeploymentController(api, of["deployments.apps"], replica_sets, pods)
        self._others = (
            ReplicaSetController(api, replica_sets, pods),
            StatefulSetController(api, of["statefulsets.apps"], revisions, pods),
            DaemonSetController(api, of["daemonsets.apps"], revisions, pods, of["nodes"]),
            JobController(api, of["jobs.batch"], pods),
            DisruptionController(api, of["poddisruptionbudgets.policy"], pods),
            ClaimController(api, of["persistentvolumeclaims"], pods),
            GarbageCollector(api),
            NamespaceController(api, of["namespaces"]),
            QuotaController(api, of["resourcequotas"]),
        )

    def start(self) -> None:
        """Begin to act on what is there and on each change; quotas are enforced from now on."""
        self._api.admissions.append(QuotaAdmission(self._api))
        for controller in (self.deployments, *self._others):
            controller.start()
        for informer in self._informers.values():
            informer.start()


ADMIN_TOKEN = "sandbox-admin"  # noqa: S105 - for a cluster that nobody can reach
"""The administrator's token until a secret one takes its place, as on a socket."""


@dataclass(frozen=True, slots=True)
class ClusterOptions:
    """What can be chosen of a cluster.

    `source` says what pods do that do not say it themselves; `heard` is told of each request.
    """

    admin_token: str = ADMIN_TOKEN
    pace: Pace = Pace.NODE
    nodes: tuple[str, ...] = NODES
    source: Source = field(default_factory=Silence)
    heard: Heard = unheard


class Cluster:
    """A cluster that is ready to be asked."""

    def __init__(
        self,
        timers: Timers | None = None,
        names: Names | None = None,
        options: ClusterOptions | None = None,
    ) -> None:
        """Begin with the objects of every cluster, the controllers at work and the nodes ready."""
        chosen = options or ClusterOptions()
        self.timers = timers or Timers()
        self.names = names or Names()
        self.admin_token = chosen.admin_token
        self.tokens = Tokens()
        self.tokens.add(chosen.admin_token, ADMIN)
        self.api = Api(self.timers, self.names)
        self.controllers = Controllers(self.api)
        self.kubelet = Kubelet(
            self.api, self.timers, self.names, nodes=chosen.nodes, pace=chosen.pace
        )
        self.door = Door(self.api, self.tokens, self.kubelet.log, chosen.heard)
        self._begin(chosen.source)

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        return self.door.handle(request)

    def renew_admin_token(self, token: str) -> None:
        """Accept this token as the administrator's, and the one before no more."""
        self.tokens.revoke(self.admin_token)
        self.tokens.add(token, ADMIN)
        self.admin_token = token

    def add_user(self, name: str, token: str, groups: Sequence[str] = ()) -> None:
        """Accept a token of a user, who may do what roles and bindings say."""
        self.tokens.add(token, user(name, *groups))

    def _begin(self, source: Source) -> None:
        found_access(self.api)
        self.controllers.start()
        self.kubelet.follow(source)
        self.kubelet.start()
