"""The API server of a sandbox in virtual time, with scripted answers and a hook before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gate.app.rehearsal.virtual_world import Handle, Running, User
from sandbox.face import JSON, Answer, Request
from tests.bed.bed import Bed
from tests.bed.invariants import key_of
from tests.bed.scene import APPLY_PATCH, MERGE_PATCH, OURS
from tests.cluster.objects import is_complete
from tests.played.bed import PlayedUsers
from tests.unit.kube.scripted import Hang, Reply, Seen

SETTLING_SECONDS = 30.0
"""Long enough for pods to come up, or to crash a few times."""


class Silence:
    """A body of which nothing ever comes."""

    ended = False

    def take(self) -> list[bytes]:
        """Return nothing."""
        return []

    def on_data(self, hear: Callable[[], None]) -> None:
        """Never call."""

    def close(self) -> None:
        """Hold nothing."""


class Server:
    """What a command talks to: a script (`on`) answers first, then the sandbox.

    `on_request` is called with every request of the command before it is answered, and may call
    what sets the scene: `put`, `change`. `user` is who the command runs as, `running` is the last
    command.
    """

    def __init__(self, bed: Bed) -> None:
        """Begin with the bed's empty namespace, `shop`, and every right."""
        assert isinstance(bed.users, PlayedUsers)
        self.played = bed.users.played
        self.objects = bed.objects
        self.seen: list[Seen] = []
        self.on_request: Callable[[Seen], None] = lambda _: None
        self.running = Running(self.played.clock)
        self._client = bed.client
        self._script: dict[tuple[str, str], list[Reply | Hang]] = {}
        self.user = self._user("gate", ("system:masters",))

    def limit(self, *rules: JSON) -> None:
        """Let the command have these RBAC rules in the namespace, and no other right."""
        self.objects.bind("limited", rules)
        self.user = self._user("limited", ())

    def put(self, *bodies: JSON, manager: str = OURS, settles: bool = True) -> None:
        """Apply objects under a manager's name, by force; `settles` lets pods come up or fail."""
        for body in bodies:
            key = key_of(body, self.objects.namespace)
            path = f"{self.objects.path(key.resource, key.name)}?fieldManager={manager}&force=true"
            self._client.json("PATCH", path, body, APPLY_PATCH)
            if settles and body["kind"] == "Deployment" and not body["spec"].get("paused"):
                self._settle(key.name)

    def get(self, resource: str, name: str) -> JSON:
        """Return an object."""
        return self.objects.get(resource, name)

    def change(self, patch: JSON, *, manager: str = "somebody", subresource: str = "") -> None:
        """Merge a patch into the Deployment web, as somebody else."""
        path = self.objects.path("deployments", "web") + (f"/{subresource}" if subresource else "")
        self._client.json("PATCH", f"{path}?fieldManager={manager}", patch, MERGE_PATCH)

    def on(self, method: str, path: str, *answers: Reply | Hang) -> None:
        """Script the answers to a method and path, in order; the last is given again and again."""
        self._script[method, path] = list(answers)

    def forget(self, method: str, path: str) -> None:
        """Take a script back."""
        self._script.pop((method, path), None)

    def writes(self) -> list[Seen]:
        """Return the requests that would change something, in their order; locks are none."""
        return [
            seen
            for seen in self.seen
            if seen.method in ("PATCH", "DELETE", "PUT")
            and seen.query.get("dryRun") != "All"
            and "/leases" not in seen.path
        ]

    def trials(self) -> list[Seen]:
        """Return the dry runs."""
        return [seen for seen in self.seen if seen.query.get("dryRun") == "All"]

    def through(self, request: Request, handle: Handle) -> Answer:
        """Answer a request of the command from the script, else from the sandbox."""
        headers = list(request.headers.items())
        seen = Seen(request.method, request.path, dict(request.query), headers, request.body)
        self.seen.append(seen)
        self.on_request(seen)
        answers = self._script.get((seen.method, seen.path))
        if not answers:
            return handle(request)
        match answers.pop(0) if len(answers) > 1 else answers[0]:
            case Reply(status, body, given):
                return Answer(status, body, {"content-type": "application/json", **given})
            case Hang():
                return Answer(200, Silence())

    def _user(self, name: str, groups: Sequence[str]) -> User:
        token = f"token-of-{name}-5f1c2e"
        self.played.cluster.add_user(name, token, groups)
        return User(token, self.objects.namespace, self.through)

    def _settle(self, name: str) -> None:
        def settled() -> bool:
            return is_complete(self._stored(name))

        self.played.clock.wait_until(settled, SETTLING_SECONDS)

    def _stored(self, name: str) -> Any:
        return self.objects.get("deployments", name)
