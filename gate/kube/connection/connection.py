"""The connection: which server, as whom, and under which guards.

Fails closed. No request leaves without a credential, plain HTTP and unverified TLS need an explicit
flag, impersonation is sent or refused. The loaders of the `kubernetes` client are not used: if a
plugin fails they log and go on anonymously, they ignore impersonation, read a token file once, and
leave keys in the temporary folder.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import urllib3

from gate.clock import Clock, SystemClock
from gate.cluster_name import ClusterName
from gate.core.frozen import dataclass
from gate.core.model.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.kube.answers.failures import Unauthorized
from gate.kube.connection import kubeconfig, tls
from gate.kube.connection.api import Api
from gate.kube.connection.credentials import Credentials, TokenFile
from gate.kube.connection.kubeconfig import Choice, Entry
from gate.kube.connection.official import Configuration
from gate.kube.connection.plugin import Plugin
from gate.kube.connection.user import impersonation_of, source_of

SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
_CONNECTIONS = 32


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller may set: flags, "" and None if not given.

    `exec_plugins` are the only plugins that may run, None for any. `plugin_named` is called with
    the program that proves who we are, before it runs.
    """

    kubeconfig: str = ""
    context: str = ""
    allow_insecure: bool = False
    exec_plugins: tuple[str, ...] | None = None
    plugin_named: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Connection:
    """A server and who we are there.

    `insecure` is whether the server was not verified, which has to be said loudly. `kubeconfig` is
    the file that the caller named, "" for none. `jitter` returns 0 to 1, so that not all clients
    pause alike.
    """

    api: Api
    credentials: Credentials
    server: str
    context: str
    namespace: str
    user: str
    insecure: bool = False
    kubeconfig: str = ""
    jitter: Callable[[], float] = random.Random().random  # noqa: S311 - guards nothing

    @property
    def cluster(self) -> ClusterName:
        """How an advised command names the cluster."""
        return ClusterName(self.context, self.kubeconfig)

    def renew(self, generation: int) -> bool:
        """Take fresh credentials after a 401; False if there are no others."""
        if not self.credentials.renew(generation):
            return False
        if self.credentials.current().certificate:
            tls.present(self.api.configuration, self.credentials.current())
            self.api.reconnect()
        return True

    def close(self) -> None:
        """Close the connections that wait for another request, and forget the private key."""
        self.api.close()
        tls.forget(self.api.configuration)


def connect(
    options: Options,
    *,
    clock: Clock | None = None,
    environ: Mapping[str, str] = os.environ,
    service_account: str = SERVICE_ACCOUNT,
) -> Connection:
    """Connect as kubectl would: flag, `KUBECONFIG`, home, else the Pod's service account.

    Sends nothing yet. UsageError for what the caller can fix in flags and files, RefusedError
    (Unauthorized among them) if there is no safe way to ask.
    """
    clock = clock or SystemClock()
    files = kubeconfig.find(options.kubeconfig, environ)
    if files:
        choice = kubeconfig.choose(kubeconfig.load(files), options.context)
        return replace(_from_choice(choice, options, clock), kubeconfig=options.kubeconfig)
    if options.context:
        raise UsageError(f"no kubeconfig to look for the context {options.context!r} in")
    return _in_cluster(environ, Path(service_account), clock)


def _in_cluster(environ: Mapping[str, str], account: Path, clock: Clock) -> Connection:
    """Connect as a Pod does, by its service account's token and certificate authority."""
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port:
        raise UsageError(
            "no kubeconfig, and not running in a Pod",
            hint="set KUBECONFIG, or use --kubeconfig",
        )
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    configuration = configuration_of(server)
    configuration.ssl_ca_cert = tls.existing(str(account / "ca.crt"))
    namespace = account / "namespace"
    named = namespace.read_text("utf-8").strip() if namespace.is_file() else "default"
    credentials = Credentials(TokenFile(str(account / "token")), clock)
    return _connection(configuration, credentials, [], ("", named, "service account"))


def _from_choice(choice: Choice, options: Options, clock: Clock) -> Connection:
    cluster, user = choice.cluster, choice.user
    server = cluster.text("server").rstrip("/")
    insecure = _insecure(server, cluster, options)
    configuration = configuration_of(server, proxy=cluster.text("proxy-url"))
    configuration.verify_ssl = not cluster.values.get("insecure-skip-tls-verify")
    configuration.ca_cert_data = tls.authority(cluster)
    if not configuration.ca_cert_data:
        configuration.ssl_ca_cert = tls.existing(cluster.path("certificate-authority")) or None
    configuration.tls_server_name = cluster.text("tls-server-name") or None
    if user is None:
        raise Unauthorized(
            f"the context {choice.context!r} names no user",
            hint="the gate never asks anonymously: name a user in the context",
        )
    source = source_of(user, cluster, options.exec_plugins)
    if isinstance(source, Plugin):
        source = replace(source, clock=clock)
        if options.plugin_named is not None:
            options.plugin_named(source.command)
    name = f"{user.name} (as {user.text('as')})" if user.values.get("as") else user.name
    return _connection(
        configuration,
        Credentials(source, clock),
        impersonation_of(user),
        (choice.context, choice.namespace or "default", name),
        insecure=insecure,
    )


def _connection(
    configuration: Configuration,
    credentials: Credentials,
    impersonation: list[tuple[str, str]],
    names: tuple[str, str, str],
    *,
    insecure: bool = False,
) -> Connection:
    def present(target: Configuration) -> None:
        target.api_key["BearerToken"] = credentials.current().authorization

    tls.present(configuration, credentials.current())
    if credentials.current().authorization:
        present(configuration)
        configuration.refresh_api_key_hook = present  # type: ignore[assignment]
    if insecure:
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    return Connection(
        _client(configuration, impersonation),
        credentials,
        configuration.host,
        *names,
        insecure=insecure,
    )


def _client(configuration: Configuration, impersonation: list[tuple[str, str]]) -> Api:
    """Build the client; an unusable proxy is not quoted, since it may hold a password."""
    try:
        return Api(configuration, impersonation)
    except (urllib3.exceptions.LocationValueError, AssertionError, ImportError) as error:
        raise UsageError(
            "the proxy to the server cannot be used",
            hint="proxy-url of the cluster or HTTPS_PROXY: http://HOST:PORT or https://HOST:PORT",
        ) from error


def configuration_of(server: str, proxy: str = "") -> Configuration:
    """Build the client's configuration: one attempt a request, TCP keepalive.

    A `proxy-url` of the kubeconfig applies whatever NO_PROXY says, as in client-go.
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
    """Tell whether the server goes unverified; RefusedError unless that was asked for."""
    scheme = _scheme(server)
    if scheme not in ("https", "http"):
        raise UsageError(
            f"{cluster.file}: the cluster {cluster.name!r} has no usable server",
            hint="https://HOST or https://HOST:PORT, without a user",
        )
    plain = scheme == "http"
    insecure = plain or bool(cluster.values.get("insecure-skip-tls-verify"))
    if insecure and not options.allow_insecure:
        what = "is plain HTTP" if plain else "is not to be verified (insecure-skip-tls-verify)"
        mend = (
            f"its server in {cluster.file} should begin with https://; --allow-insecure sends"
            " credentials unencrypted"
            if plain
            else f"take that key out of {cluster.file}, with certificate-authority for a private"
            " CA; --allow-insecure may send credentials to an impostor"
        )
        raise RefusedError(f"the server {server} {what}", reason=Reason.PROTECTED, hint=mend)
    return insecure


def _scheme(server: str) -> str:
    """Return the URL's scheme; "" if it names no server, or has a user: URLs are printed."""
    try:
        parts = urlsplit(server)
        usable = parts.hostname and parts.port != 0 and parts.username is None
    except ValueError:
        return ""
    return parts.scheme if usable else ""
