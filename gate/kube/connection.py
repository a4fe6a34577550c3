"""The connection: which server, as whom, and under which guards.

Fails closed. No request leaves without a credential, plain HTTP and unverified TLS need an
explicit flag, impersonation is sent or refused. The loaders of the `kubernetes` client are not
used: where a plugin fails they log and go on anonymously, they ignore impersonation, read a
token file once, and leave keys in the temporary folder.
"""

from __future__ import annotations

import atexit
import base64
import binascii
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import urllib3
from kubernetes.client import ApiClient, Configuration
from kubernetes.client.rest import RESTClientObject

from gate import __version__
from gate.clock import Clock, SystemClock
from gate.core.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.kube import kubeconfig
from gate.kube.credentials import Credential, Credentials, TokenFile
from gate.kube.failures import Unauthorized
from gate.kube.kubeconfig import Choice, Entry
from gate.kube.plugin import Plugin
from gate.kube.user import impersonation_of, source_of

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_ERROR_BYTES = 1 << 16
_CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller may say: flags, "" and None where nothing was said.

    `exec_plugins` are the only plugins that may run, None for any.
    """

    kubeconfig: str = ""
    context: str = ""
    allow_insecure: bool = False
    exec_plugins: tuple[str, ...] | None = None


class Api(ApiClient):
    """The official client, with bounded error bodies and headers that may repeat."""

    def __init__(self, configuration: Configuration, impersonation: list[tuple[str, str]]) -> None:
        """Name ourselves in every request."""
        super().__init__(configuration)
        self.user_agent = f"rollout-gate/{__version__}"
        self._impersonation = impersonation

    def call_api(
        self, method: str, url: str, header_params: Any = None, *args: Any, **options: Any
    ) -> Any:
        """Send one request; the body of an error is read up to 64 KiB, that of a success not."""
        headers = urllib3.HTTPHeaderDict(header_params)
        for name, value in self._impersonation:
            headers.add(name, value)
        answer = super().call_api(method, url, headers, *args, **options)
        if not 200 <= answer.status <= 299:  # noqa: PLR2004 - the class of HTTP statuses
            answer.data = answer.response.read(_ERROR_BYTES, decode_content=False)
            answer.response.close()
        return answer

    def reconnect(self) -> None:
        """Use the configuration's certificates from the next connection on."""
        self.rest_client = RESTClientObject(self.configuration)


@dataclass(frozen=True, slots=True)
class Connection:
    """A server and who we are there; `plugin` is the program that proves it, "" without one.

    `insecure` where the server was not verified, which has to be said loudly.
    """

    api: Api
    credentials: Credentials
    server: str
    context: str
    namespace: str
    user: str
    plugin: str = ""
    insecure: bool = False

    def renew(self, generation: int) -> bool:
        """Take fresh credentials after a 401; False where there are no others."""
        if not self.credentials.renew(generation):
            return False
        if self.credentials.current().certificate:
            _present(self.api.configuration, self.credentials.current())
            self.api.reconnect()
        return True

    def close(self) -> None:
        """Close the connections that wait for another request."""
        self.api.close()  # type: ignore[no-untyped-call]


def connect(
    options: Options,
    *,
    clock: Clock | None = None,
    environ: Mapping[str, str] = os.environ,
    service_account: str = SERVICE_ACCOUNT,
) -> Connection:
    """Connect as kubectl would: flag, `KUBECONFIG`, home, else the Pod's service account.

    Sends nothing yet. UsageError for what the caller can mend in flags and files, RefusedError
    (Unauthorized among them) where there is no safe way to ask.
    """
    clock = clock or SystemClock()
    files = kubeconfig.find(options.kubeconfig, environ)
    if files:
        choice = kubeconfig.choose(kubeconfig.load(files), options.context)
        return _from_choice(choice, options, clock)
    if options.context:
        raise UsageError(f"no kubeconfig to look for the context {options.context!r} in")
    return _in_cluster(environ, Path(service_account), clock)


def _in_cluster(environ: Mapping[str, str], account: Path, clock: Clock) -> Connection:
    """Connect as a Pod does, by its service account's token and certificate authority."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise UsageError(
            "no kubeconfig, and this is no Pod",
            hint="set KUBECONFIG, or use --kubeconfig",
        )
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    configuration = _configuration(server)
    configuration.ssl_ca_cert = _existing(str(account / "ca.crt"))
    namespace = account / "namespace"
    named = namespace.read_text("utf-8").strip() if namespace.is_file() else "default"
    credentials = Credentials(TokenFile(str(account / "token")), clock)
    return _connection(configuration, credentials, [], ("", named, "service account"))


def _from_choice(choice: Choice, options: Options, clock: Clock) -> Connection:
    cluster, user = choice.cluster, choice.user
    server = cluster.text("server").rstrip("/")
    insecure = _insecure(server, cluster, options)
    configuration = _configuration(server, proxy=cluster.text("proxy-url"))
    configuration.verify_ssl = not cluster.values.get("insecure-skip-tls-verify")
    configuration.ca_cert_data = _authority(cluster)
    if not configuration.ca_cert_data:
        configuration.ssl_ca_cert = _existing(cluster.path("certificate-authority")) or None
    configuration.tls_server_name = cluster.text("tls-server-name") or None
    if user is None:
        raise Unauthorized(
            f"the context {choice.context!r} names no user",
            hint="the gate never asks anonymously: name a user in the context",
        )
    source = source_of(user, cluster, options.exec_plugins)
    name = f"{user.name} (as {user.text('as')})" if user.values.get("as") else user.name
    return _connection(
        configuration,
        Credentials(source, clock),
        impersonation_of(user),
        (choice.context, choice.namespace or "default", name),
        plugin=source.command if isinstance(source, Plugin) else "",
        insecure=insecure,
    )


def _connection(
    configuration: Configuration,
    credentials: Credentials,
    impersonation: list[tuple[str, str]],
    names: tuple[str, str, str],
    *,
    plugin: str = "",
    insecure: bool = False,
) -> Connection:
    def present(target: Configuration) -> None:
        target.api_key["BearerToken"] = credentials.current().authorization

    _present(configuration, credentials.current())
    if credentials.current().authorization:
        present(configuration)
        configuration.refresh_api_key_hook = present  # type: ignore[assignment]
    if insecure:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return Connection(
        Api(configuration, impersonation),
        credentials,
        configuration.host,
        *names,
        plugin=plugin,
        insecure=insecure,
    )


def _configuration(server: str, proxy: str = "") -> Configuration:
    """Build the client's configuration: one attempt a request, TCP keepalive.

    A `proxy-url` of the kubeconfig holds whatever NO_PROXY says, as in client-go.
    """
    configuration = Configuration(
        host=server,
        retries=False,
        connection_pool_maxsize=_CONNECTIONS,
        proxy=proxy or None,
        no_proxy="" if proxy else None,
    )
    configuration.keep_alive = True
    return configuration


def _insecure(server: str, cluster: Entry, options: Options) -> bool:
    """Tell whether the server goes unverified; refused unless it was asked for."""
    parts = urlsplit(server)
    if parts.scheme not in ("https", "http") or not parts.hostname:
        raise UsageError(f"{cluster.file}: the cluster {cluster.name!r} has no usable server")
    plain = parts.scheme == "http"
    insecure = plain or bool(cluster.values.get("insecure-skip-tls-verify"))
    if insecure and not options.allow_insecure:
        what = "is plain HTTP" if plain else "is not to be verified (insecure-skip-tls-verify)"
        raise RefusedError(
            f"the server {server} {what}", reason=Reason.PROTECTED, hint="--allow-insecure"
        )
    return insecure


def _authority(cluster: Entry) -> str | None:
    data = cluster.text("certificate-authority-data")
    try:
        return base64.b64decode(data, validate=True).decode() if data else None
    except (binascii.Error, UnicodeDecodeError) as error:
        raise UsageError(
            f"{cluster.file}: certificate-authority-data of {cluster.name!r} is not base64"
        ) from error


def _existing(path: str) -> str:
    if path and not Path(path).is_file():
        raise UsageError(f"{path}: no such certificate authority")
    return path


def _present(configuration: Configuration, credential: Credential) -> None:
    """Hand the client certificate to TLS, which reads it from files alone."""
    if credential.certificate:
        configuration.cert_file = _private_file(credential.certificate)
        configuration.key_file = _private_file(credential.key)


def _private_file(content: bytes) -> str:
    """Return the path of a file that nobody else can read, in memory where the system can."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rollout-gate")
        path = f"/proc/self/fd/{descriptor}"
    else:
        descriptor, path = tempfile.mkstemp(prefix="rollout-gate-")
        atexit.register(os.unlink, path)
    os.write(descriptor, content)
    return path
