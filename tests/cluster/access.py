"""Who may talk to the control plane: users, their tokens, the certificate, kubeconfig files.

One key and one certificate serve the API server, the kubelet's log server and the service account
tokens: nothing here leaves loopback or outlives the run.
"""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import yaml

ADMIN = "admin"
GATE = "gate"
CONTROLLER_MANAGER = "controller-manager"
KUBELET = "kubelet"
ROLES = tuple(f"role-{number}" for number in range(20))
"""Users without any right, for tests that bind a Role of their own to one of them."""

_POWERFUL = (ADMIN, GATE, CONTROLLER_MANAGER, KUBELET)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate for 127.0.0.1 and localhost, with its key, as PEM files."""

    certificate: Path
    key: Path


def self_signed(folder: Path) -> Certificate:
    """Make a key and a certificate in `folder` with openssl; valid for 30 days."""
    made = Certificate(folder / "server.crt", folder / "server.key")
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    command += ["-nodes", "-days", "30", "-subj", "/CN=rollout-gate.test"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    command += ["-keyout", str(made.key), "-out", str(made.certificate)]
    subprocess.run(command, check=True, capture_output=True)
    return made


def mint_tokens() -> dict[str, str]:
    """Return a fresh secret token for each user of the control plane."""
    return {user: secrets.token_urlsafe(24) for user in (*_POWERFUL, *ROLES)}


def write_token_file(tokens: dict[str, str], path: Path) -> None:
    """Write the API server's `--token-auth-file`: token, user, uid, groups."""
    path.touch(mode=0o600)
    path.write_text("".join(_token_lines(tokens)))


def _token_lines(tokens: dict[str, str]) -> Iterable[str]:
    for user, token in tokens.items():
        group = ',"system:masters"' if user in _POWERFUL else ""
        yield f"{token},{user},{user}{group}\n"


def read_token_file(path: Path) -> dict[str, str]:
    """Return the token of each user of a token file."""
    lines = (line.split(",") for line in path.read_text().splitlines())
    return {user: token for token, user, *_ in lines}


def kubeconfig(server: str, authority: Path, token: str, namespace: str = "default") -> str:
    """Return a kubeconfig with one context, called `test`, as YAML text."""
    cluster = {"server": server, "certificate-authority": str(authority)}
    context = {"cluster": "test", "user": "test", "namespace": namespace}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": {"token": token}}],
        "contexts": [{"name": "test", "context": context}],
        "current-context": "test",
    }
    return yaml.safe_dump(document, sort_keys=False)
