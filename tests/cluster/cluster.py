"""The cluster of a test run: a control plane and its kubelet, or one that somebody runs already."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.cluster import access
from tests.cluster.access import Certificate
from tests.cluster.audit import AuditLog
from tests.cluster.build import binaries
from tests.cluster.configuration import PLAIN, Configuration
from tests.cluster.control_plane import ControlPlane
from tests.cluster.kubelet.api import JSON, Api, from_kubeconfig, named
from tests.cluster.objects import Objects, condition
from tests.cluster.programs import REPOSITORY
from tests.cluster.server_process import ServerProcess

NODE = "rig-0"
KUBECONFIG = "kubeconfig"
SHARED_SCHEDULER = "rollout-gate-test"
"""The `schedulerName` by which pods ask for the scripted kubelet in a cluster with real nodes."""


@dataclass(frozen=True, slots=True)
class Cluster:
    """A cluster with scripted pods, as tests see it.

    `plane` and `kubelet` are there where this run started them, `audit` where its log can be read.
    Pods have to carry `scheduler_name` unless it is empty.
    """

    api: Api
    kubectl: Path
    tokens: Mapping[str, str]
    admin_kubeconfig: Path
    audit: AuditLog | None = None
    plane: ControlPlane | None = None
    kubelet: ServerProcess | None = None
    scheduler_name: str = ""

    def kubeconfig(
        self, user: str = access.GATE, namespace: str = "default", server: str | None = None
    ) -> str:
        """Return the text of a kubeconfig; `server` names a proxy in front of the API server.

        Where the cluster has no tokens of ours, every user is its administrator.
        """
        document = yaml.safe_load(self.admin_kubeconfig.read_text())
        context = named(document["contexts"], document["current-context"])["context"]
        context["namespace"] = namespace
        if server:
            named(document["clusters"], context["cluster"])["cluster"]["server"] = server
        if self.tokens:
            named(document["users"], context["user"])["user"] = {"token": self.tokens[user]}
        return yaml.safe_dump(document, sort_keys=False)

    def objects(self, namespace: str) -> Objects:
        """Return the objects of a namespace."""
        return Objects(self.api, namespace)

    def check(self) -> None:
        """Raise `ServerError` where a process that this run started has ended."""
        if self.plane:
            self.plane.check()
        if self.kubelet:
            self.kubelet.check()


@contextmanager
def own_cluster(folder: Path, configuration: Configuration = PLAIN) -> Iterator[Cluster]:
    """Start a control plane and its kubelet in `folder`; stop both at the end."""
    programs = binaries()
    with ControlPlane(programs, folder, configuration) as plane, plane.api() as api:
        kubeconfig = folder / KUBECONFIG
        kubeconfig.write_text(plane.kubeconfig())
        with _kubelet(folder, plane.kubeconfig(access.KUBELET), plane.certificate) as kubelet:
            _wait_for_node(api, kubelet)
            yield Cluster(
                api=api,
                kubectl=programs.kubectl,
                tokens=plane.tokens,
                admin_kubeconfig=kubeconfig,
                audit=AuditLog(plane.audit_log, api),
                plane=plane,
                kubelet=kubelet,
            )


@contextmanager
def given_cluster(kubeconfig: Path, folder: Path) -> Iterator[Cluster]:
    """Use the cluster of a kubeconfig; what this run needs of its own goes into `folder`.

    A cluster that `python -m tests.cluster` runs is recognised by the files beside its kubeconfig,
    and has everything. Elsewhere a kubelet is started that plays only the pods that ask for it.
    """
    found = shutil.which("kubectl")
    audit_log, tokens = kubeconfig.with_name("audit.log"), kubeconfig.with_name("tokens.csv")
    with ExitStack() as stack:
        api = stack.enter_context(closing(from_kubeconfig(kubeconfig, folder, "tests/admin")))
        is_ours = audit_log.exists()
        kubelet = None
        if not is_ours:
            kubelet = stack.enter_context(_shared_kubelet(folder, kubeconfig))
            _wait_for_node(api, kubelet)
        yield Cluster(
            api=api,
            kubectl=Path(found) if found else binaries().kubectl,
            tokens=access.read_token_file(tokens) if is_ours else {},
            admin_kubeconfig=kubeconfig,
            audit=AuditLog(audit_log, api) if is_ours else None,
            kubelet=kubelet,
            scheduler_name="" if is_ours else SHARED_SCHEDULER,
        )


@contextmanager
def _shared_kubelet(folder: Path, kubeconfig: Path) -> Iterator[ServerProcess]:
    certificate = access.self_signed(folder)
    options = ("--scheduler-name", SHARED_SCHEDULER)
    with _kubelet(folder, kubeconfig.read_text(), certificate, *options) as kubelet:
        yield kubelet


@contextmanager
def _kubelet(
    folder: Path, kubeconfig: str, certificate: Certificate, *options: str
) -> Iterator[ServerProcess]:
    config = folder / "kubelet.kubeconfig"
    config.write_text(kubeconfig)
    command = [sys.executable, "-m", "tests.cluster.kubelet", "--node", NODE]
    command += ["--kubeconfig", str(config), "--certificate", str(certificate.certificate)]
    command += ["--key", str(certificate.key), *options]
    kubelet = ServerProcess("kubelet", command, folder, cwd=REPOSITORY)
    kubelet.start()
    try:
        yield kubelet
    finally:
        kubelet.stop()


def _wait_for_node(api: Api, kubelet: ServerProcess) -> None:
    def is_ready(node: JSON) -> bool:
        return condition(node, "Ready").get("status") == "True"

    try:
        Objects(api, "").wait_for("nodes", NODE, is_ready)
    except TimeoutError:
        kubelet.check()
        raise
