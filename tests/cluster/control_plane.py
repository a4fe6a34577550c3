"""etcd, kube-apiserver and kube-controller-manager on loopback, ready for tests.

A control plane of its own folder and ports: two of them never meet. Its data is not worth keeping,
so etcd does not sync it to disk.
"""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from tests.cluster import access
from tests.cluster.audit import write_policy
from tests.cluster.build import Binaries
from tests.cluster.configuration import CONTROLLERS, PLAIN, Configuration
from tests.cluster.kubelet.api import Api, ApiError, Identity
from tests.cluster.server_process import ServerError, ServerProcess

START_SECONDS = 60.0
PORT_ATTEMPTS = 3


class ControlPlane:
    """A running control plane, as a context manager.

    `etcd`, `api_server` and `controller_manager` are its processes: stop, start or suspend one to
    play its outage. `audit_log` is the file in which the API server writes every request.
    """

    def __init__(
        self, binaries: Binaries, folder: Path, configuration: Configuration = PLAIN
    ) -> None:
        self.folder = folder
        self.audit_log = folder / "audit.log"
        self.tokens = access.mint_tokens()
        self.certificate = access.self_signed(folder)
        self._binaries = binaries
        self._configuration = configuration
        self._stack = ExitStack()
        self._use_free_ports()

    def __enter__(self) -> Self:
        """Start everything, and wait until the API serves; what fails leaves no process behind."""
        access.write_token_file(self.tokens, self.folder / "tokens.csv")
        write_policy(self.folder / "audit-policy.yaml")
        with ExitStack() as stack:
            stack.callback(self.stop)
            self._start()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop every process, whatever happened in the block."""
        self._stack.close()

    def kubeconfig(
        self, user: str = access.ADMIN, namespace: str = "default", server: str | None = None
    ) -> str:
        """Return the text of a kubeconfig; `server` names a proxy in front of the API server."""
        authority = self.certificate.certificate
        return access.kubeconfig(server or self.server, authority, self.tokens[user], namespace)

    def api(self, user: str = access.ADMIN) -> Api:
        """Return a client of the API server; close it after use."""
        authority = self.certificate.certificate
        return Api(self.server, authority, Identity(self.tokens[user]), f"tests/{user}")

    def check(self) -> None:
        """Raise `ServerError` unless all three processes run."""
        for process in (self.etcd, self.api_server, self.controller_manager):
            process.check()

    def stop(self) -> None:
        """Stop the processes, the ones that depend on others first."""
        self.controller_manager.stop()
        # The data dies with the run: nobody waits for an orderly end of open watches.
        self.api_server.kill()
        self.etcd.kill()

    def wait_until_serving(self) -> None:
        """Return when the API server is ready and has made the namespace `default`."""
        deadline = time.monotonic() + START_SECONDS
        with self.api() as api:
            while not _answers(api, "/readyz") or not _answers(api, "/api/v1/namespaces/default"):
                self.etcd.check()
                self.api_server.check()
                if time.monotonic() > deadline:
                    tail = self.api_server.log_tail()
                    raise ServerError(f"kube-apiserver is not ready; its log ends:\n{tail}")
                # The server offers nothing to wait on before it serves.
                time.sleep(0.05)

    def _start(self) -> None:
        for attempt in range(1, PORT_ATTEMPTS + 1):
            try:
                self.etcd.start()
                self.api_server.start()
                self.wait_until_serving()
            except ServerError as error:
                # Between our look and the server's bind somebody else may have taken the port.
                if "address already in use" not in str(error) or attempt == PORT_ATTEMPTS:
                    raise
                self.stop()
                self._use_free_ports()
            else:
                break
        kubeconfig = self.kubeconfig(access.CONTROLLER_MANAGER)
        (self.folder / "controller-manager.kubeconfig").write_text(kubeconfig)
        self.controller_manager.start()

    def _use_free_ports(self) -> None:
        self._etcd_port, self._peer_port, self._api_port = free_ports(3)
        self.server = f"https://127.0.0.1:{self._api_port}"
        self.etcd = ServerProcess("etcd", self._etcd_command(), self.folder)
        self.api_server = ServerProcess("kube-apiserver", self._api_command(), self.folder)
        self.controller_manager = ServerProcess(
            "kube-controller-manager", self._controller_command(), self.folder
        )

    def _etcd_command(self) -> list[str]:
        client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd_port, self._peer_port))
        return [
            str(self._binaries.etcd),
            f"--data-dir={self.folder / 'etcd'}",
            "--unsafe-no-fsync",
            f"--listen-client-urls={client}",
            f"--advertise-client-urls={client}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            "--log-level=warn",
        ]

    def _api_command(self) -> list[str]:
        certificate, key = self.certificate.certificate, self.certificate.key
        return [
            str(self._binaries.kube_apiserver),
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._api_port}",
            f"--cert-dir={self.folder}",
            f"--tls-cert-file={certificate}",
            f"--tls-private-key-file={key}",
            f"--token-auth-file={self.folder / 'tokens.csv'}",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={certificate}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--endpoint-reconciler-type=none",
            f"--audit-policy-file={self.folder / 'audit-policy.yaml'}",
            f"--audit-log-path={self.audit_log}",
            "--audit-log-maxsize=0",
            *self._gates(),
        ]

    def _controller_command(self) -> list[str]:
        return [
            str(self._binaries.kube_controller_manager),
            f"--kubeconfig={self.folder / 'controller-manager.kubeconfig'}",
            f"--controllers={','.join((*CONTROLLERS, *self._configuration.controllers))}",
            "--leader-elect=false",
            "--kube-api-qps=2000",
            "--kube-api-burst=4000",
            "--secure-port=0",
            *self._configuration.controller_flags,
            *self._gates(),
        ]

    def _gates(self) -> list[str]:
        gates = self._configuration.feature_gates
        return [f"--feature-gates={','.join(gates)}"] if gates else []


def _answers(api: Api, path: str) -> bool:
    try:
        api.text("GET", path)
    except (ApiError, OSError):
        return False
    return True


def free_ports(count: int) -> list[int]:
    """Return ports of loopback that were free a moment ago, all different."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]
