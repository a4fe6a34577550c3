"""Exec plugins give a credential or an Unauthorized that says why; never silence, never a shell."""

from __future__ import annotations

import dataclasses
import json
import os
import stat
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gate.clock import SystemClock
from gate.errors import GateError, RefusedError, UsageError
from gate.kube.answers.failures import Unauthorized
from gate.kube.connection.kubeconfig import Entry
from gate.kube.connection.plugin import Plugin, plugin_of
from gate.signals import Signalled, raise_at_signal
from tests.unit.kube.conftest import V1, Script, printing


def _plugin(command: str, *, seconds: float = 30.0) -> Plugin:
    return Plugin(command, (), {}, V1, "install it", seconds)


@pytest.mark.contract("B242", "B250")
@pytest.mark.parametrize(("life", "early"), [(3600.0, 60.0), (40.0, 20.0)])
def test_an_expiry_is_told_in_the_own_clock(script: Script, life: float, early: float) -> None:
    """A credential is renewed a minute before it expires, a short-lived one at half its life."""
    until = (datetime.now(UTC) + timedelta(seconds=life)).isoformat()
    text = printing(token="abc", expirationTimestamp=until)
    credential = _plugin(script(text)).load(1000.0)
    assert "abc" not in repr(credential)
    assert credential.expires_at == pytest.approx(1000.0 + life, abs=5)
    assert credential.expires_at - credential.renew_at == pytest.approx(early, abs=5)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "sys.stderr.write('warn\\nno \\x1b[31msession\\n'); sys.exit(3)",
            "ended with 3: no session",
        ),
        ("print('{')", "printed no JSON"),
        ("print('[]')", "printed no ExecCredential"),
        ("print(json.dumps({'kind': 'ExecCredential', 'apiVersion': 'v0'}))", "did not answer in"),
        (f"print(json.dumps({{'kind': 'ExecCredential', 'apiVersion': '{V1}'}}))", "no status"),
        (printing(), "printed neither a token nor a certificate"),
        (printing(token=""), "printed neither a token nor a certificate"),
        (printing(token="a\r\nX-Evil: 1"), "empty or not printable"),
        (printing(clientCertificateData="x"), "without its key"),
        ("print('x' * (2 << 20)); sys.stdout.flush(); sys.stdin.read()", "more than 1 MiB"),
        ("sys.stderr.write('y' * (1 << 20)); sys.exit(1)", "ended with 1"),
    ],
)
def test_a_failing_plugin_is_unauthorized(script: Script, text: str, said: str) -> None:
    """Whatever a plugin does wrong refuses the run, with its own words where it said any."""
    with pytest.raises(Unauthorized, match=said) as caught:
        _plugin(script(text)).load(0.0)
    assert caught.value.exit_code == 3


@pytest.mark.long
@pytest.mark.contract("B250")
def test_a_plugin_that_hangs_is_ended(script: Script) -> None:
    """The whole process group goes, so that a child which holds the pipe does not hold us."""
    text = (
        "import subprocess; subprocess.run([sys.executable, '-c', 'import time; time.sleep(60)'])"
    )
    with pytest.raises(Unauthorized, match=r"did not end within 0\.3 s"):
        _plugin(script(text), seconds=0.3).load(0.0)


@pytest.mark.contract("B250")
def test_a_plugin_that_hangs_holds_no_signal_up(script: Script, tmp_path: Path) -> None:
    """An exception of a signal's handler comes out at once, and takes the plugin along."""
    pid_file = tmp_path / "pid"
    command = script(
        f"open({str(pid_file)!r}, 'w').write(str(os.getpid()))\n"
        "import signal, time; os.kill(os.getppid(), signal.SIGTERM); time.sleep(60)"
    )
    with pytest.raises(Signalled), raise_at_signal():
        _plugin(command).load(0.0)
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid_file.read_text()), 0)


@pytest.mark.long
def test_a_child_that_keeps_standard_error_open_holds_nothing_up(script: Script) -> None:
    """What a plugin leaves running in the background, as an agent, is not waited for."""
    text = (
        "import subprocess; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(5)'],"
        " stdout=subprocess.DEVNULL, start_new_session=True)\n"
    )
    credential = _plugin(script(text + printing(token="abc")), seconds=4.0).load(0.0)
    assert credential.authorization == "Bearer abc"
    with pytest.raises(Unauthorized, match="ended with 3: no login"):
        _plugin(script(f"{text}sys.stderr.write('no login'); sys.exit(3)")).load(0.0)


@pytest.mark.contract("B251")
@pytest.mark.parametrize(("folder", "where"), [(True, ""), (False, " on the PATH")])
def test_a_plugin_that_is_not_there(tmp_path: Path, folder: bool, where: str) -> None:
    """A missing program is Unauthorized and hands on the kubeconfig's hint how to install it."""
    name = "no-such-plugin"
    with pytest.raises(Unauthorized, match=f"{name} is not there{where}$") as caught:
        _plugin(str(tmp_path / name) if folder else name).load(0.0)
    hint = f"the kubeconfig gets its credentials from it; install it{where}"
    assert caught.value.hint == f"{hint}: install it"
    with pytest.raises(Unauthorized) as caught:
        Plugin(name, (), {}, V1).load(0.0)
    assert caught.value.hint.endswith("install it on the PATH")


def _users(tmp_path: Path, **config: Any) -> tuple[Entry, Entry]:
    file = tmp_path / "config"
    file.touch(mode=0o600)
    (tmp_path / "ca.crt").write_text("CA")
    values = {"server": "https://s", "certificate-authority": "ca.crt", "extensions": []}
    return Entry("ci", {"exec": config}, file), Entry("c", values, file)


def test_the_environment_of_a_plugin(script: Script, tmp_path: Path) -> None:
    """A plugin finds its own variables and the cluster that it asked for, and no terminal."""
    say = "info = os.environ['KUBERNETES_EXEC_INFO'].replace(' ', '')\n"
    say += "status = {'token': str(len(sys.argv)) + info}\n"
    say += "answer = {'apiVersion': os.environ['V'], 'kind': 'ExecCredential', 'status': status}\n"
    say += "print(json.dumps(answer))"
    script(say)
    user, cluster = _users(
        tmp_path,
        command="./plugin",
        apiVersion=V1,
        args=["a", "b"],
        env=[{"name": "V", "value": V1}],
        provideClusterInfo=True,
    )
    header = plugin_of(user, cluster, None).load(0.0).authorization
    assert header.startswith("Bearer 3{")
    info = json.loads(header.removeprefix("Bearer 3"))
    assert info["spec"] == {
        "interactive": False,
        "cluster": {"server": "https://s", "certificate-authority-data": "Q0E="},
    }


PLUGIN = {"command": "x", "apiVersion": V1}


@pytest.mark.parametrize(
    ("config", "allowed", "said", "leaf"),
    [
        (PLUGIN, ("aws",), "not one of those allowed", RefusedError),
        (PLUGIN | {"command": "./aws"}, ("aws",), "not one of those allowed", RefusedError),
        (PLUGIN | {"interactiveMode": "Always"}, None, "needs a terminal", RefusedError),
        ({"command": "x"}, None, "no apiVersion", UsageError),
        ({"apiVersion": V1}, None, "no command", UsageError),
        (PLUGIN | {"args": "-v"}, None, "args .*not a list", UsageError),
        (PLUGIN | {"env": "V=1"}, None, "env .*not a list", UsageError),
        (PLUGIN | {"env": [{"name": "V"}]}, None, "env of", UsageError),
    ],
)
def test_plugins_that_must_not_run(
    tmp_path: Path,
    config: dict[str, Any],
    allowed: tuple[str, ...] | None,
    said: str,
    leaf: type[GateError],
) -> None:
    """A plugin outside of the list, an interactive one and a malformed one are refused."""
    with pytest.raises(leaf, match=said):
        plugin_of(*_users(tmp_path, **config), allowed)


@pytest.mark.contract("B250")
def test_a_kubeconfig_that_anybody_may_write_runs_nothing(tmp_path: Path) -> None:
    """A plugin of a world-writable kubeconfig is code of whoever wrote it last."""
    user, cluster = _users(tmp_path, command="aws", apiVersion=V1)
    assert plugin_of(user, cluster, ("aws",)).command == "aws"
    user.file.chmod(user.file.stat().st_mode | stat.S_IWOTH)
    with pytest.raises(RefusedError, match="anybody may write"):
        plugin_of(user, cluster, None)


def test_a_relative_plugin_of_a_relative_kubeconfig(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`./plugin` is the program beside the kubeconfig, never one of that name on the PATH."""
    script(printing(token="abc"))
    monkeypatch.chdir(tmp_path)
    user, cluster = _users(Path(), command="./plugin", apiVersion=V1)
    assert plugin_of(user, cluster, None).load(0.0).authorization == "Bearer abc"


class Impatient(SystemClock):
    """A clock on which every time is over, but for that in which a process is reaped."""

    def wait(self, seconds: float, until: threading.Event | None = None) -> bool:
        """Wait a second at most."""
        return super().wait(seconds if seconds <= 1.0 else 0.0, until)


@pytest.mark.contract("B286")
def test_a_plugins_time_is_the_clocks(script: Script) -> None:
    """One that would answer is late where the clock says so."""
    slow = script(f"import time; time.sleep(3); {printing(token='abc')}")
    plugin = dataclasses.replace(_plugin(slow), clock=Impatient())
    with pytest.raises(Unauthorized, match="did not end within 30 s"):
        plugin.load(0.0)
