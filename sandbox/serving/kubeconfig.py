"""The kubeconfig file of a sandbox: written whole, never over somebody else's, gone at the end.

A kubeconfig holds the keys to other clusters, so the file is the sandbox's alone: it is written
where there is none, where there is an empty one (as `mktemp` makes it) and over one that an
ended sandbox left. Anything else is refused, and nothing is merged. A file is the sandbox's as
long as it names no other cluster: kubectl may rewrite it (`kubectl config set-context`).
"""

from __future__ import annotations

import base64
import ipaddress
import json
import os
import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import yaml

from sandbox.failure import SandboxError

VALID_DAYS = 30
ADDRESSES = ("127.0.0.1", "::1")
NAMES = ("localhost",)


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate, its own authority, with its key; both PEM."""

    certificate: bytes
    key: bytes

    def context(self) -> ssl.SSLContext:
        """Return the server's side of TLS; `ssl` reads files alone, so they exist for a moment."""
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        with tempfile.TemporaryDirectory(prefix="rollout-gate-") as folder:
            path = Path(folder) / "pair.pem"
            path.touch(mode=0o600)
            path.write_bytes(self.key + self.certificate)
            context.load_cert_chain(path)
        return context


def self_signed() -> Certificate:
    """Return a fresh pair, valid from an hour ago for machines whose clocks differ."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    reached = [x509.IPAddress(ipaddress.ip_address(address)) for address in ADDRESSES]
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "rollout-gate sandbox")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=VALID_DAYS))
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(
            x509.SubjectAlternativeName([*reached, *map(x509.DNSName, NAMES)]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    encoding = serialization.Encoding.PEM
    return Certificate(
        certificate=made.public_bytes(encoding),
        key=key.private_bytes(
            encoding, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        ),
    )


CONTEXT = "rollout-gate-sandbox"

_HINT = "name a file that does not exist; it is removed when the sandbox ends"


def kubeconfig_text(server: str, certificate: bytes, token: str, namespace: str = "default") -> str:
    """Return a kubeconfig with one context; JSON is YAML, and needs no library."""
    authority = base64.b64encode(certificate).decode()
    extension = {"name": CONTEXT, "extension": {"process": os.getpid()}}
    cluster = {"server": server, "certificate-authority-data": authority, "extensions": [extension]}
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
