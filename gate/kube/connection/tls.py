"""What TLS reads: authorities, client certificates and keys, tried out before they are used.

By itself TLS does not say which file is broken or where it is, and asks for pass phrases.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from pathlib import Path

from gate.errors import UsageError
from gate.kube.answers.failures import Unauthorized
from gate.kube.connection.credentials import Credential
from gate.kube.connection.kubeconfig import Entry
from gate.kube.connection.official import Configuration

_MEMORY = "/proc/self/fd/"


def authority(cluster: Entry) -> str | None:
    """Return the PEM of `certificate-authority-data`; UsageError if it is none."""
    data = cluster.text("certificate-authority-data")
    try:
        authority = base64.b64decode(data, validate=True).decode() if data else None
    except (binascii.Error, UnicodeDecodeError) as error:
        raise UsageError(
            f"{cluster.file}: certificate-authority-data of {cluster.name!r} is not base64"
        ) from error
    if authority is not None:
        _try_out(f"{cluster.file}: certificate-authority-data of {cluster.name!r}", data=authority)
    return authority


def existing(path: str) -> str:
    """Return the path of an authority, "" for none; UsageError if it holds no certificate."""
    if path and not Path(path).is_file():
        raise UsageError(f"{path}: no such certificate authority")
    if path:
        _try_out(path, file=path)
    return path


def _try_out(what: str, *, file: str | None = None, data: str | None = None) -> None:
    """Make sure that TLS can read an authority: its own error would not name the file."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file, cadata=data)
    except (OSError, ValueError) as error:
        raise UsageError(f"{what} holds no certificate") from error


def present(configuration: Configuration, credential: Credential) -> None:
    """Hand the client certificate to TLS, which reads it from files alone.

    Unauthorized if it is none, or does not fit its key.
    """
    if credential.certificate:
        forget(configuration)
        configuration.cert_file = _private_file(credential.certificate)
        configuration.key_file = _private_file(credential.key)
        _try_out_key(configuration.cert_file, configuration.key_file)


def _try_out_key(certificate: str, key: str) -> None:
    """Make sure that TLS can use them, and that it never asks for a pass phrase."""
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_cert_chain(certificate, key, lambda: "-")
    except OSError as error:
        raise Unauthorized(
            "the client certificate and its key cannot be used",
            hint="both have to be PEM, belong together, and the key has to be without pass phrase",
        ) from error


def _private_file(content: bytes) -> str:
    """Return the path of a file that nobody else can read, in memory if the system can."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rollout-gate")
        path = f"{_MEMORY}{descriptor}"
        os.write(descriptor, content)
        return path  # which is open for as long as the descriptor
    descriptor, path = tempfile.mkstemp(prefix="rollout-gate-")
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    return path


def forget(configuration: Configuration) -> None:
    """Remove the certificate and the key from memory, or from the disk."""
    for path in (configuration.cert_file, configuration.key_file):
        if path and path.startswith(_MEMORY):
            os.close(int(path.removeprefix(_MEMORY)))
        elif path:
            Path(path).unlink(missing_ok=True)
    configuration.cert_file = configuration.key_file = None
