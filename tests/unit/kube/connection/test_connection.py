"""Connecting fails closed: contract of the installed client for headers, TLS and proxies too."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gate import __version__
from gate.clock import SystemClock
from gate.core.model.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.kube.answers.failures import TlsFailure, Unauthorized
from gate.kube.client.client import Client
from gate.kube.connection import tls
from gate.kube.connection.connection import Connection, Options, connect
from gate.kube.connection.credentials import Credential
from gate.virtual_time import VirtualClock
from tests.unit.kube.conftest import V1, Script, printing
from tests.unit.kube.scripted import ScriptedServer, as_json, as_status

Kubeconfig = Callable[..., Path]


def _get(connection: Connection, path: str = "/version") -> bytes:
    try:
        return Client(connection, SystemClock()).get(path)
    finally:
        connection.close()


@pytest.fixture(autouse=True)
def _answers(server: ScriptedServer) -> None:
    server.on("GET", "/version", as_json({}))


def running(plugin: str) -> dict[str, Any]:
    """Return the user of a kubeconfig who runs a plugin."""
    return {"exec": {"command": plugin, "apiVersion": V1}}


@pytest.mark.contract("B16")
def test_a_token_of_the_kubeconfig_is_sent(server: ScriptedServer, kubeconfig: Kubeconfig) -> None:
    """Every request carries the token and the gate's name and version."""
    connection = connect(Options(str(kubeconfig(server.url)), allow_insecure=True))
    _get(connection)
    [seen] = server.seen
    assert seen.header("Authorization") == "Bearer t0ken"
    assert seen.header("User-Agent") == f"rollout-gate/{__version__}"
    assert seen.header("Accept-Encoding") == "identity"
    assert (connection.server, connection.context) == (server.url, "here")
    assert (connection.namespace, connection.user) == ("shop", "ci")
    assert connection.insecure


@pytest.mark.contract("B250")
def test_a_token_of_a_plugin_is_sent(
    server: ScriptedServer, kubeconfig: Kubeconfig, script: Script, tmp_path: Path
) -> None:
    """A plugin's token is sent, and the plugin is named before it runs."""
    ran = tmp_path / "ran"
    text = f"open({str(ran)!r}, 'w').close()\n{printing(token='from-plugin')}"
    named: list[tuple[str, bool]] = []
    options = Options(
        str(kubeconfig(server.url, running(script(text)))),
        allow_insecure=True,
        plugin_named=lambda plugin: named.append((plugin, ran.exists())),
    )
    _get(connect(options))
    assert server.seen[0].header("Authorization") == "Bearer from-plugin"
    assert named == [(str(tmp_path / "plugin"), False)]
    assert ran.exists()


@pytest.mark.contract("B242")
def test_a_failing_plugin_sends_nothing(
    server: ScriptedServer, kubeconfig: Kubeconfig, script: Script
) -> None:
    """Where the client would go on anonymously, the gate refuses before the first request."""
    user = running(script("raise SystemExit(1)"))
    with pytest.raises(Unauthorized, match="ended with 1"):
        connect(Options(str(kubeconfig(server.url, user)), allow_insecure=True))
    assert server.connections == 0


@pytest.mark.contract("B240")
def test_in_cluster(tls_server: ScriptedServer, certificate: Path, tmp_path: Path) -> None:
    """A Pod's token, authority and namespace are used where nothing was configured."""
    tls_server.on("GET", "/version", as_json({}))
    (tmp_path / "token").write_text("pod-token")
    (tmp_path / "namespace").write_text("shop\n")
    (tmp_path / "ca.crt").write_bytes(certificate.read_bytes())
    host, port = tls_server.url.removeprefix("https://").split(":")
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    connection = connect(Options(), environ=environ, service_account=str(tmp_path))
    _get(connection)
    assert tls_server.seen[0].header("Authorization") == "Bearer pod-token"
    assert (connection.namespace, connection.context) == ("shop", "")
    assert not connection.insecure


@pytest.mark.contract("B240")
def test_nothing_configured_is_said() -> None:
    """Neither kubeconfig nor Pod is a usage error, as is a context without a kubeconfig."""
    with pytest.raises(UsageError, match="no kubeconfig, and not running in a Pod"):
        connect(Options(), environ={})
    with pytest.raises(UsageError, match="no kubeconfig to look for the context 'prod' in"):
        connect(Options(context="prod"), environ={})


NO_PAIR = {"client-certificate-data": "aGVsbG8=", "client-key-data": "aGVsbG8="}


@pytest.mark.contract("B242", "B249")
@pytest.mark.parametrize(
    ("user", "leaf", "said"),
    [
        ({}, Unauthorized, "the user 'ci' has no credentials"),
        ({"token": ""}, Unauthorized, "the user 'ci' has no credentials"),
        ({"token": "a b"}, Unauthorized, "empty or not printable"),
        ({"username": "u"}, Unauthorized, "the user 'ci' has no credentials"),
        ({"tokenFile": "missing"}, Unauthorized, "cannot be read"),
        (NO_PAIR, Unauthorized, "certificate and its key cannot be used"),
        ({"client-certificate-data": "eA=="}, UsageError, "without its key"),
        ({"client-certificate-data": "?"}, UsageError, "client-certificate of the user 'ci'"),
        ({"client-key": "missing"}, UsageError, "client-key of the user 'ci' cannot be read"),
        ({"auth-provider": {"name": "oidc"}}, UsageError, "auth-provider"),
        ({"token": 3}, UsageError, "token of 'ci' is not a string"),
        ({"token": "a", "exec": {"command": "x"}}, UsageError, "both a token and an exec plugin"),
        ({"token": "a", "as-groups": ["g"]}, UsageError, "impersonates groups without a user"),
        ({"token": "t", "as": "a\r\nX: 1"}, UsageError, "of the user|impersonates"),
        ({"token": "t", "as": "ж"}, UsageError, "of the user|impersonates"),
        ({"token": "t", "as": "a", "as-user-extra": ["x"]}, UsageError, "of the user|impersonates"),
    ],
)
def test_users_without_a_usable_credential(
    kubeconfig: Kubeconfig, user: Any, leaf: type[Exception], said: str
) -> None:
    """Whatever would end in an anonymous or half-authenticated request refuses."""
    with pytest.raises(leaf, match=said):
        connect(Options(str(kubeconfig("https://127.0.0.1:1", user))))


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.DependencyWarning")
@pytest.mark.parametrize(
    ("cluster", "said"),
    [
        *(({"server": url}, "has no usable server") for url in ("", "ftp://x", "https://", "s")),
        *(({"server": f"https://{url}"}, "has no usable server") for url in ("[::1", "a:b@x")),
        *(({"server": f"https://x:{port}"}, "has no usable server") for port in (99999, "y")),
        *(({"proxy-url": url}, "proxy") for url in ("::::", "socks5://127.0.0.1:1")),
        ({"proxy-url": "ftp://me:s3cret@x"}, "proxy"),
        ({"certificate-authority": "missing.crt"}, "missing.crt: no such certificate authority"),
        ({"certificate-authority-data": "?"}, "certificate-authority-data of 'c' is not base64"),
        ({"certificate-authority-data": "aGVsbG8="}, "of 'c' holds no certificate"),
        ({"certificate-authority": "config"}, "config holds no certificate"),
    ],
)
def test_clusters_that_cannot_be_reached(
    kubeconfig: Kubeconfig, cluster: dict[str, str], said: str
) -> None:
    """A server, proxy or authority that is none is a usage error, and shows no password."""
    given = {"server": "https://127.0.0.1:1"} | cluster
    with pytest.raises(UsageError, match=said) as caught:
        connect(Options(str(kubeconfig(given.pop("server"), **given))))
    assert "s3cret" not in caught.value.message


@pytest.mark.contract("B242")
def test_a_context_without_a_user(kubeconfig: Kubeconfig) -> None:
    """Nobody named means anonymous, and that is refused with a hint."""
    file = kubeconfig("https://127.0.0.1:1")
    file.write_text(file.read_text().replace('"user": "ci", ', ""))
    with pytest.raises(Unauthorized, match="names no user") as caught:
        connect(Options(str(file)))
    assert caught.value.reason is Reason.UNAUTHORIZED
    assert "never asks anonymously" in caught.value.hint


@pytest.mark.contract("B2024")
@pytest.mark.parametrize(
    ("server_url", "cluster", "said", "mend"),
    [
        ("http://127.0.0.1:1", {}, "is plain HTTP", "should begin with https://"),
        (
            "https://127.0.0.1:1",
            {"insecure-skip-tls-verify": True},
            "is not to be verified",
            "take that key out of ",
        ),
    ],
)
def test_unverified_servers_need_a_flag(
    kubeconfig: Kubeconfig, server_url: str, cluster: dict[str, Any], said: str, mend: str
) -> None:
    """A token goes to a verified server alone, unless the caller says otherwise."""
    file = str(kubeconfig(server_url, **cluster))
    with pytest.raises(RefusedError, match=said) as caught:
        connect(Options(file))
    assert mend in caught.value.hint
    assert "--allow-insecure " in caught.value.hint
    assert connect(Options(file, allow_insecure=True)).insecure


IMPERSONATION = {
    "token": "t",
    "as": "deployer",
    "as-uid": "7",
    "as-groups": ["a", "b"],
    "as-user-extra": {"acme.com/scope": ["x"]},
}


@pytest.mark.parametrize(
    ("user", "name", "sent"),
    [
        ({"username": "u", "password": "p"}, "ci", [("authorization", "Basic dTpw")]),
        (
            IMPERSONATION,
            "ci (as deployer)",
            [
                ("Impersonate-Extra-acme.com%2Fscope", "x"),
                ("Impersonate-Group", "a"),
                ("Impersonate-Group", "b"),
                ("Impersonate-Uid", "7"),
                ("Impersonate-User", "deployer"),
                ("authorization", "Bearer t"),
            ],
        ),
    ],
    ids=["basic", "impersonation"],
)
def test_who_asks_is_in_the_headers(
    server: ScriptedServer,
    kubeconfig: Kubeconfig,
    user: dict[str, Any],
    name: str,
    sent: list[tuple[str, str]],
) -> None:
    """A password as RFC 7617 says; `as` and its sisters, one for each group."""
    connection = connect(Options(str(kubeconfig(server.url, user)), allow_insecure=True))
    _get(connection)
    headers = sorted(map(tuple, server.seen[0].headers))
    assert [one for one in headers if one[0].startswith(("auth", "Impersonate"))] == sent
    assert connection.user == name


def test_an_authority_is_trusted(
    tls_server: ScriptedServer, kubeconfig: Kubeconfig, certificate: Path
) -> None:
    """A server is verified by the kubeconfig's authority, from a file or, first, from data."""
    tls_server.on("GET", "/version", as_json({}))
    by_file = kubeconfig(tls_server.url, **{"certificate-authority": str(certificate)})
    _get(connect(Options(str(by_file))))
    pem = certificate.read_text()
    public = pem[pem.index("-----BEGIN CERTIFICATE") :].encode()
    data = base64.b64encode(public).decode()
    both = {"certificate-authority-data": data, "certificate-authority": "missing, but unneeded"}
    _get(connect(Options(str(kubeconfig(tls_server.url, **both)))))
    assert len(tls_server.seen) == 2


def test_a_server_that_is_not_trusted(
    server: ScriptedServer, tls_server: ScriptedServer, kubeconfig: Kubeconfig
) -> None:
    """Without its authority, or without TLS, it is refused in clear words and gets no token."""
    with pytest.raises(TlsFailure, match="is not trusted: self-signed certificate"):
        _get(connect(Options(str(kubeconfig(tls_server.url)))))
    assert tls_server.seen == []
    with pytest.raises(TlsFailure, match="does not speak TLS"):
        _get(connect(Options(str(kubeconfig(server.url.replace("http:", "https:"))))))


@pytest.mark.contract("B253")
def test_a_client_certificate_is_presented(
    tls_server: ScriptedServer, kubeconfig: Kubeconfig, certificate: Path
) -> None:
    """A certificate alone is a credential; nothing of it is on the disk, nor left in memory."""
    tls_server.on("GET", "/version", as_json({}))
    pem = base64.b64encode(certificate.read_bytes()).decode()
    user = {"client-certificate-data": pem, "client-key-data": pem}
    file = kubeconfig(tls_server.url, user, **{"certificate-authority": str(certificate)})
    connection = connect(Options(str(file)))
    key_file = str(connection.api.configuration.key_file)
    assert key_file.startswith("/proc/self/fd/")
    _get(connection)
    assert tls_server.seen[0].header("Authorization") is None
    connection.close()
    assert not _is_in_memory(key_file)


@pytest.mark.contract("B253")
def test_a_renewed_key_takes_the_place_of_the_last(
    kubeconfig: Kubeconfig, certificate: Path
) -> None:
    """However often a plugin gives a fresh one, there are two files in memory at most."""
    pem = certificate.read_bytes()
    connection = connect(Options(str(kubeconfig("https://127.0.0.1:1"))))
    configuration = connection.api.configuration
    files = []
    for _ in range(3):
        tls.present(configuration, Credential(certificate=pem, key=pem))
        files.append(str(configuration.key_file))
    assert _is_in_memory(files[-1])
    connection.close()
    assert not any(map(_is_in_memory, files))


def _is_in_memory(file: str) -> bool:
    """Tell whether a file in memory is open; its number may have gone to another file."""
    try:
        return "memfd:rollout-gate" in str(Path(file).readlink())
    except FileNotFoundError:
        return False


def test_a_key_on_a_disk_does_not_stay_there(
    kubeconfig: Kubeconfig, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the system has no files in memory, the key is removed with the connection."""
    monkeypatch.delattr("os.memfd_create")
    pem = base64.b64encode(certificate.read_bytes()).decode()
    user = {"client-certificate-data": pem, "client-key-data": pem}
    connection = connect(Options(str(kubeconfig("https://127.0.0.1:1", user))))
    key = Path(str(connection.api.configuration.key_file))
    assert key.stat().st_mode & 0o077 == 0
    connection.close()
    assert not key.exists()


def test_a_proxy_of_the_kubeconfig_holds(
    server: ScriptedServer, kubeconfig: Kubeconfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`proxy-url` is used whatever NO_PROXY says, as kubectl does."""
    monkeypatch.setenv("NO_PROXY", "*")
    file = kubeconfig("http://api.invalid", **{"proxy-url": server.url})
    _get(connect(Options(str(file), allow_insecure=True)))
    assert server.seen[0].header("Host") == "api.invalid"


@pytest.mark.contract("B160")
def test_an_expired_token_is_replaced_once(
    server: ScriptedServer, kubeconfig: Kubeconfig, script: Script, tmp_path: Path
) -> None:
    """A 401 is tried again with what the plugin gives now; a second 401 is the end."""
    count = tmp_path / "count"
    say = "n = c.stat().st_size if c.exists() else 0; c.write_text('x' * (n + 1))"
    text = f"import pathlib; c = pathlib.Path({str(count)!r}); {say}\n"
    text += printing(token="token-N").replace("print(", "print((", 1) + ".replace('N', str(n)))"
    connection = connect(
        Options(str(kubeconfig(server.url, running(script(text)))), allow_insecure=True)
    )
    server.on("GET", "/version", as_status(401), as_json({}))
    client = Client(connection, VirtualClock())
    client.get("/version")
    assert [seen.header("Authorization") for seen in server.seen] == [
        "Bearer token-0",
        "Bearer token-1",
    ]
    server.on("GET", "/version", as_status(401))
    with pytest.raises(Unauthorized):
        client.get("/version")
    assert len(server.seen) == 4
    connection.close()


def test_a_refused_certificate_is_replaced(
    tls_server: ScriptedServer, kubeconfig: Kubeconfig, certificate: Path, script: Script
) -> None:
    """A plugin is asked for another certificate after a 401, used on a connection of its own."""
    tls_server.on("GET", "/version", as_status(401), as_json({}))
    pem = certificate.read_text()
    user = running(script(printing(clientCertificateData=pem, clientKeyData=pem)))
    file = kubeconfig(tls_server.url, user, **{"certificate-authority": str(certificate)})
    connection = connect(Options(str(file)))
    first = connection.api.configuration.key_file
    assert _get(connection) == b"{}"
    assert connection.api.configuration.key_file != first
    assert tls_server.connections == 2
