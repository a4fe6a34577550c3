"""The stand-in for kubectl on the sandbox's bed sends what the real one sends, to the letter."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.bed.invariants import holds
from tests.bed.scene import Scene, settings, web
from tests.cluster import programs
from tests.cluster.audit import Trail
from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON, WATCH_IDLE_SECONDS
from tests.cluster.objects import Client
from tests.played.kubectl import PlayedKubectl

EVERYTHING: JSON = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
MEANT = ("fieldManager", "fieldValidation", "force")
"""The parameters that decide what a write does; dryRun and the like are the same by default."""


@dataclass(slots=True)
class Asking:
    """Reads as the administrator, and keeps writes back."""

    client: Client
    writes: list[tuple[str, JSON | list[JSON] | None]] = field(default_factory=list)

    def json(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> JSON:
        """Ask the server, or note what it would be told."""
        del content_type
        if method == "GET":
            return self.client.json(method, path)
        self.writes.append((path, body))
        return {}

    def text(
        self,
        method: str,
        path: str,
        body: JSON | list[JSON] | None = None,
        content_type: str = "application/json",
    ) -> str:
        """Fail the test: the stand-in reads and writes objects alone."""
        pytest.fail(f"the stand-in sent {method} {path} as {content_type}: {body}")

    def lines(
        self, path: str, idle_seconds: float = WATCH_IDLE_SECONDS
    ) -> AbstractContextManager[Iterator[bytes]]:
        """Fail the test: the stand-in watches nothing."""
        pytest.fail(f"the stand-in watched {path}, {idle_seconds} s")


@pytest.fixture
def ask(
    scene: Scene,
    audit: Trail,
    cluster: Cluster,
    kubeconfig_with_rules: Callable[[Sequence[JSON]], Path],
) -> Callable[..., None]:
    """Return what has a command asked by both, and compares."""
    # Of a user with a Role the audit log keeps the bodies.
    kubeconfig = kubeconfig_with_rules([EVERYTHING])
    real = programs.kubectl(cluster.kubectl, kubeconfig, scene.folder)

    def compare(*words: str | Path) -> None:
        asking = Asking(scene.client)
        stand_in = PlayedKubectl(asking, scene.objects.namespace, scene.folder)
        stand_in(*words, check=True)
        before = len(audit.requests("kubectl/"))
        real(*words, check=True)
        later = audit.requests("kubectl/").all[before:]
        sent = [each for each in later if each.is_write]
        assert [_meant(uri) for uri, _ in asking.writes] == [_meant(each.uri) for each in sent]
        for (_, body), each in zip(asking.writes, sent, strict=True):
            # Of a creation the log has the whole object, with its defaults.
            assert holds(body, each.body) if each.verb == "create" else body == each.body

    return compare


def _meant(uri: str) -> tuple[str, dict[str, str]]:
    """Return a path, and the parameters that matter; a default that is spelt out says nothing."""
    parts = urlsplit(uri)
    query = dict(parse_qsl(parts.query))
    told = {name: query[name] for name in MEANT if query.get(name, "false") != "false"}
    return parts.path, told


@pytest.mark.parametrize(
    "command",
    [
        "set image deployment/web web=shop/web:2",
        "set env deployment/web ADDED=1",
        "set env deployment/web MODE=two",
        "set env deployment/web MODE-",
        "scale deployment/web --replicas=3",
        "rollout pause deployment/web",
    ],
)
def test_a_change_of_a_live_deployment(
    scene: Scene, ask: Callable[..., None], command: str
) -> None:
    """Patch, field manager and target are kubectl's."""
    scene.serve(web(env={"PASSWORD": "x", "MODE": "one"}))
    ask(*command.split())


def test_the_last_variable_and_the_end_of_a_pause(scene: Scene, ask: Callable[..., None]) -> None:
    """A list that is left empty goes as a whole, and so does a field that is at its default."""
    scene.serve(web(env={"PASSWORD": "x"}))
    ask("set", "env", "deployment/web", "PASSWORD-")
    scene.kubectl("rollout", "pause", "deployment/web", check=True)
    ask("rollout", "resume", "deployment/web")


def test_client_side_applies(scene: Scene, ask: Callable[..., None]) -> None:
    """Creation, the patch of three versions, and nothing where nothing changed."""
    ask("apply", "-f", scene.manifest(settings(), web(env={"PASSWORD": "x", "MODE": "one"})))
    scene.objects.wait_complete("web")
    scene.kubectl("set", "env", "deployment/web", "ADDED=1", check=True)
    proxy = {"name": "proxy", "image": "mesh/proxy:1"}
    second = web(2, env={"PASSWORD": "other"}, containers=[proxy], annotations={"team": "shop"})
    path = scene.manifest(settings("two"), second)
    ask("apply", "-f", path)
    ask("apply", "-f", path)
    ask("apply", "-f", scene.manifest(web(3, replicas=None)))


def test_server_side_applies(scene: Scene, ask: Callable[..., None]) -> None:
    """The object as it is in the file, under the manager that was asked for."""
    ask("apply", "--server-side", "-f", scene.manifest(web()))
    manager = "--field-manager=argocd-controller"
    ask("apply", "--server-side", manager, "-f", scene.manifest(settings()))
