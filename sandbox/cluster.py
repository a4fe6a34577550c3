"""The whole cluster in one object: API, controllers, kubelet and door, over one time.

Whoever owns the time moves it (`timers.run_due`) and sends requests (`handle`), one at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sandbox.access.bootstrap import found_access
from sandbox.access.identity import ADMIN, Tokens, user
from sandbox.api.api import Api
from sandbox.controllers.composition import Controllers
from sandbox.kubelet.behaviour import Silence, Source
from sandbox.kubelet.kubelet import NODES, Kubelet
from sandbox.kubelet.states import Pace
from sandbox.serving.handle import Door, Heard, unheard
from sandbox.serving.request import Answer, Request
from sandbox.times import Names, Timers

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
        self.controllers = Controllers(self.api, self.timers)
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
