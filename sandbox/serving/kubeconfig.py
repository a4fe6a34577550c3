"""The kubeconfig file of a sandbox: written whole, never over somebody else's, gone at the end.

A kubeconfig holds the keys to other clusters, so the file is the sandbox's alone: it is written
where there is none, where there is an empty one (as `mktemp` makes it) and over one that an
ended sandbox left. Anything else is refused, and nothing is merged. A file is the sandbox's as
long as it names no other cluster: kubectl may rewrite it (`kubectl config set-context`).
"""

from __future__ import annotations

import base64
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import yaml

from sandbox.failure import SandboxError

CONTEXT = "rollout-gate-sandbox"

_HINT = "name a file that does not exist; it is removed when the sandbox ends"


def kubeconfig_text(server: str, certificate: bytes, token: str, namespace: str = "default") -> str:
    """Return a kubeconfig with one context; JSON is YAML, and needs no library."""
    authority = base64.b64encode(certificate).decode()
    extension = {"name": CONTEXT, "extension": {"process": os.getpid()}}
    cluster = {
        "server": server,
        "certificate-authority-data": authority,
        "extensions": [extension],
    }
    context = {"cluster": CONTEXT, "user": CONTEXT, "namespace": namespace}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": CONTEXT, "cluster": cluster}],
        "users": [{"name": CONTEXT, "user": {"token": token}}],
        "contexts": [{"name": CONTEXT, "context": context}],
        "current-context": CONTEXT,
    }
    return json.dumps(document, indent=2) + "\n"


@dataclass(frozen=True, slots=True)
class WrittenKubeconfig:
    """A file that the sandbox has written; `was_there` where it was an empty one before."""

    path: Path
    was_there: bool

    def remove(self) -> None:
        """Leave what was before, unless the file is not the sandbox's any more."""
        try:
            if _process(self.path.read_bytes()) != os.getpid():
                return
            if self.was_there:
                self.path.write_bytes(b"")
            else:
                self.path.unlink()
        except FileNotFoundError:
            return


def check_kubeconfig(path: Path) -> bool:
    """Return whether an empty file is there; raises SandboxError where it must not be written."""
    if not path.parent.is_dir():
        raise SandboxError(f"no such folder: {path.parent}", hint="make it first")
    if path.is_dir():
        raise SandboxError(f"{path} is a folder", hint=_HINT)
    found = path.read_bytes() if path.exists() else None
    if not found:
        return found is not None
    process = _process(found)
    if process is None:
        raise SandboxError(f"{path} is not the sandbox's own: it is not overwritten", hint=_HINT)
    if _runs(process):
        raise SandboxError(f"{path} belongs to a sandbox that runs, process {process}", hint=_HINT)
    return False


def write_kubeconfig(path: Path, text: str) -> WrittenKubeconfig:
    """Write the file at once and for the user alone (mode 0600); raises SandboxError."""
    path = path.expanduser().resolve()
    was_there = check_kubeconfig(path)
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        with os.fdopen(handle, "w") as file:
            file.write(text)
        Path(temporary).replace(path)
    except OSError as error:
        raise SandboxError(f"cannot write {path}: {error.strerror}") from error
    return WrittenKubeconfig(path, was_there)


def _process(raw: bytes) -> int | None:
    """Return the process of the sandbox that a kubeconfig is about, None for any other file."""
    try:
        [cluster] = yaml.safe_load(raw)["clusters"]
        [extension] = cluster["cluster"]["extensions"]
        process = extension["extension"]["process"]
    except (yaml.YAMLError, ValueError, KeyError, TypeError):
        return None
    return process if cluster["name"] == CONTEXT and type(process) is int else None


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return pid != os.getpid()
