"""Exec plugins of a kubeconfig: programs that print a credential (client.authentication.k8s.io).

Run as client-go runs them, but never interactively, never through a shell, within a time limit,
with bounded output, and never from a kubeconfig that anybody may write.
"""

from __future__ import annotations

import base64
import json
import math
import os
import signal
import subprocess
import threading
from collections.abc import Mapping
from dataclasses import field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any, cast

from gate.clock import Clock, SystemClock
from gate.core.frozen import dataclass
from gate.core.model.outcome import Reason
from gate.errors import RefusedError, UsageError
from gate.kube.answers.failures import Unauthorized
from gate.kube.connection.credentials import Credential, bearer
from gate.kube.connection.kubeconfig import Entry, writable_by_others
from gate.process_group import await_exit, signal_group
from gate.wire.untrusted import clean_line

PLUGIN_SECONDS = 30.0
_OUTPUT_BYTES = 1 << 20
_COMPLAINT_BYTES = 1 << 16
_EARLY_SECONDS = 60.0
_REAPING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Plugin:
    """A program to run, as the kubeconfig's `exec` describes it."""

    command: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]
    api_version: str
    install_hint: str = ""
    seconds: float = PLUGIN_SECONDS
    renewable: bool = True
    clock: Clock = field(default_factory=SystemClock, repr=False, compare=False)

    def load(self, now: float) -> Credential:
        """Run the plugin and read what it printed; Unauthorized says what was wrong with it."""
        return self._credential(self._status(self._run()), now)

    def _failure(self, why: str) -> Unauthorized:
        return Unauthorized(f"the credential plugin {self.command} {why}", hint=self.install_hint)

    def _missing(self) -> Unauthorized:
        """Return the error for a missing program, with what the kubeconfig advises."""
        where = "" if os.sep in self.command else " on the PATH"
        advised = f": {self.install_hint}" if self.install_hint else ""
        hint = f"the kubeconfig gets its credentials from it; install it{where}{advised}"
        return Unauthorized(f"the credential plugin {self.command} is not there{where}", hint=hint)

    def _run(self) -> bytes:
        """Return standard output; the whole process group is ended when the time is over.

        It is also ended if an exception (from a signal) comes in between: its output is no longer
        needed, and waiting for it would delay that signal.
        """
        run = _Run(self)
        in_time = False
        ended: threading.Event | None = None
        try:
            ended = self.clock.start(run.work, "plugin")
            in_time = self.clock.wait(self.seconds, ended)
        finally:
            if not in_time:
                run.abandon()
            if ended is not None:
                self.clock.wait(_REAPING_SECONDS, ended)
        if isinstance(run.error, FileNotFoundError):
            raise self._missing() from run.error
        if run.error is not None:
            raise self._failure(f"cannot be run: {run.error.strerror}") from run.error
        # A child of the plugin may keep standard error open for ever.
        if run.complained is not None:
            self.clock.wait(_REAPING_SECONDS, run.complained)
        if not in_time:
            raise self._failure(f"did not end within {self.seconds:g} s")
        if len(run.output) > _OUTPUT_BYTES:
            raise self._failure(f"printed more than {_OUTPUT_BYTES >> 20} MiB")
        if run.code != 0:
            raise self._failure(f"ended with {run.code}{_last_line(run.complaint)}")
        return bytes(run.output)

    def _status(self, output: bytes) -> Mapping[str, Any]:
        try:
            document = json.loads(output)
        except (ValueError, RecursionError) as error:
            raise self._failure("printed no JSON") from error
        if not isinstance(document, dict) or document.get("kind") != "ExecCredential":
            raise self._failure("printed no ExecCredential")
        if document.get("apiVersion") != self.api_version:
            raise self._failure(f"did not answer in {self.api_version}")
        status = document.get("status")
        if not isinstance(status, dict):
            raise self._failure("printed no status")
        return status

    def _credential(self, status: Mapping[str, Any], now: float) -> Credential:
        certificate = str(status.get("clientCertificateData") or "").encode()
        key = str(status.get("clientKeyData") or "").encode()
        token = str(status.get("token") or "")
        if bool(certificate) != bool(key):
            raise self._failure("printed a certificate without its key, or a key alone")
        if not token and not certificate:
            raise self._failure("printed neither a token nor a certificate")
        header = bearer(token, f"plugin {self.command}") if token else ""
        life = _seconds_left(status.get("expirationTimestamp"))
        renew_at = now + life - min(_EARLY_SECONDS, life / 2)
        return Credential(header, certificate, key, renew_at, now + life)


class _Run:
    """One run of a plugin, in a thread of its own: no signal comes between its start and its end.

    `error` is what kept it from being started, `code` how it ended, None before that.
    """

    def __init__(self, plugin: Plugin) -> None:
        """Start nothing yet."""
        self._plugin = plugin
        self._abandoned = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self.output = bytearray()
        self.complaint = bytearray()
        self.complained: threading.Event | None = None
        self.error: OSError | None = None
        self.code: int | None = None

    def work(self) -> None:
        """Start it, take what it prints, and wait for its end."""
        plugin = self._plugin
        try:
            process = subprocess.Popen(
                [plugin.command, *plugin.arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **plugin.environment},
                start_new_session=True,
            )
        except OSError as error:
            self.error = error
            return
        self._process = process
        if self._abandoned.is_set():
            signal_group(process, signal.SIGKILL)
        stdout, stderr = cast("IO[bytes]", process.stdout), cast("IO[bytes]", process.stderr)
        drain = partial(_drain, stderr, self.complaint)
        self.complained = plugin.clock.start(drain, "plugin-complaint")
        self._hear(process, stdout)
        self.code = process.poll()

    def abandon(self) -> None:
        """End the whole group, now or as soon as it is started."""
        self._abandoned.set()
        if self._process is not None:
            signal_group(self._process, signal.SIGKILL)

    def _hear(self, process: subprocess.Popen[bytes], stdout: IO[bytes]) -> None:
        """Take what it prints, and wait for its end; one that prints too much is ended."""
        with stdout:
            while some := os.read(stdout.fileno(), _COMPLAINT_BYTES):
                self.output += some
                if len(self.output) > _OUTPUT_BYTES:
                    signal_group(process, signal.SIGKILL)
                    break
        await_exit(process)


def _drain(stream: IO[bytes], kept: bytearray) -> None:
    """Keep the first 64 KiB and read on, so that the writer never blocks."""
    with stream:
        while some := os.read(stream.fileno(), _COMPLAINT_BYTES):
            kept += some[: _COMPLAINT_BYTES - len(kept)]


def _last_line(complaint: bytearray) -> str:
    lines = complaint.decode("utf-8", "replace").strip().splitlines()
    return f": {clean_line(lines[-1], 200)}" if lines else ""


def _seconds_left(expiration: Any) -> float:
    """Return the life of a credential; for ever without an `expirationTimestamp` (RFC 3339)."""
    try:
        until = datetime.fromisoformat(str(expiration))
    except ValueError:
        return math.inf
    return (until - datetime.now(UTC)).total_seconds() if until.tzinfo else math.inf


def plugin_of(user: Entry, cluster: Entry, allowed: tuple[str, ...] | None) -> Plugin:
    """Read `exec` of a user; `allowed` are the only commands that may run, None for any.

    UsageError if it is malformed, RefusedError if it must not run.
    """
    config = user.values["exec"]
    if not isinstance(config, dict) or not config.get("command") or not config.get("apiVersion"):
        raise UsageError(f"{user.file}: exec of {user.name!r} has no command or no apiVersion")
    command = str(config["command"])
    _guard(command, user, config, allowed)
    return Plugin(
        command if os.sep not in command else str(user.file.absolute().parent / command),
        tuple(str(argument) for argument in _read_list(user, config, "args")),
        _environment(user, config) | {"KUBERNETES_EXEC_INFO": _exec_info(config, cluster)},
        str(config["apiVersion"]),
        clean_line(str(config.get("installHint") or "")),
    )


def _environment(user: Entry, config: Mapping[str, Any]) -> dict[str, str]:
    try:
        return {str(item["name"]): str(item["value"]) for item in _read_list(user, config, "env")}
    except (KeyError, TypeError) as error:
        raise UsageError(
            f"{user.file}: exec.env of {user.name!r} is not a list of names and values"
        ) from error


def _read_list(user: Entry, config: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list, an empty one if there is none."""
    value = config.get(key) or []
    if not isinstance(value, list):
        raise UsageError(f"{user.file}: exec.{key} of {user.name!r} is not a list")
    return value


def _guard(
    command: str, user: Entry, config: Mapping[str, Any], allowed: tuple[str, ...] | None
) -> None:
    if allowed is not None and command not in allowed:
        raise RefusedError(
            f"the credential plugin {command!r} is not one of those allowed",
            reason=Reason.PROTECTED,
            hint=f"--allow-exec-plugin {command}",
        )
    if writable_by_others(user.file):
        raise RefusedError(
            f"{user.file} names the plugin {command!r}, and anybody may write that file",
            reason=Reason.PROTECTED,
            hint=f"chmod o-w {user.file}",
        )
    if config.get("interactiveMode") == "Always":
        raise RefusedError(
            f"the credential plugin {command!r} needs a terminal", reason=Reason.UNAUTHORIZED
        )


def _exec_info(config: Mapping[str, Any], cluster: Entry) -> str:
    """Build what the plugin finds in KUBERNETES_EXEC_INFO; with the cluster if it asks for it."""
    spec: dict[str, Any] = {"interactive": False}
    if config.get("provideClusterInfo"):
        known = ("server", "tls-server-name", "insecure-skip-tls-verify", "proxy-url")
        spec["cluster"] = {key: cluster.values[key] for key in known if key in cluster.values}
        spec["cluster"]["certificate-authority-data"] = _authority(cluster)
        for extension in cluster.values.get("extensions") or []:
            if (
                isinstance(extension, dict)
                and extension.get("name") == "client.authentication.k8s.io/exec"
            ):
                spec["cluster"]["config"] = extension.get("extension")
    return json.dumps({"apiVersion": config["apiVersion"], "kind": "ExecCredential", "spec": spec})


def _authority(cluster: Entry) -> str:
    """Return the authority's certificate as base64, as client-go hands it on."""
    path = cluster.path("certificate-authority")
    data = cluster.text("certificate-authority-data")
    if data or not path:
        return data
    try:
        return base64.b64encode(Path(path).read_bytes()).decode()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
