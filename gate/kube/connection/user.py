"""What the user entry of a kubeconfig says: how to prove who we are, and whom to impersonate."""

from __future__ import annotations

import base64
import binascii
from pathlib import Path
from urllib.parse import quote

from gate.errors import UsageError
from gate.kube.answers.failures import Unauthorized
from gate.kube.connection.credentials import Credential, Fixed, Source, TokenFile, bearer
from gate.kube.connection.kubeconfig import Entry
from gate.kube.connection.plugin import plugin_of


def impersonation_of(user: Entry) -> list[tuple[str, str]]:
    """Build the headers of `as`, `as-uid`, `as-groups` and `as-user-extra`."""
    named = user.text("as")
    groups, extra = user.values.get("as-groups") or [], user.values.get("as-user-extra") or {}
    if not isinstance(groups, list) or not isinstance(extra, dict):
        raise UsageError(f"as-groups or as-user-extra of the user {user.name!r} is malformed")
    if not named:
        if groups or extra or user.values.get("as-uid"):
            raise UsageError(f"the user {user.name!r} impersonates groups without a user")
        return []
    headers = [("Impersonate-User", named)]
    if user.text("as-uid"):
        headers.append(("Impersonate-Uid", user.text("as-uid")))
    headers += [("Impersonate-Group", str(group)) for group in groups]
    for key, values in extra.items():
        headers += [(f"Impersonate-Extra-{quote(str(key), safe='')}", str(v)) for v in values]
    if not all(value.isascii() and value.isprintable() for _, value in headers):
        raise UsageError(f"the user {user.name!r} impersonates a name that no header can hold")
    return headers


def source_of(user: Entry, cluster: Entry, allowed: tuple[str, ...] | None) -> Source:
    """Choose as client-go does: a plugin, else a token file, a token, a password, a certificate.

    UsageError or RefusedError if there is nothing that can be used, or no single one.
    """
    if user.values.get("auth-provider"):
        raise UsageError(
            f"the user {user.name!r} has an auth-provider, which is not supported",
            hint="use an exec plugin, such as kubelogin for OIDC",
        )
    certificate, key, header = (
        _pem(user, "client-certificate"),
        _pem(user, "client-key"),
        _header(user),
    )
    if bool(certificate) != bool(key):
        raise UsageError(
            f"the user {user.name!r} has a certificate without its key, or a key alone"
        )
    if user.values.get("exec"):
        if header:
            raise UsageError(f"the user {user.name!r} has both a token and an exec plugin")
        return plugin_of(user, cluster, allowed)
    if user.values.get("tokenFile"):
        return TokenFile(user.path("tokenFile"))
    if not header and not certificate:
        raise Unauthorized(
            f"the user {user.name!r} has no credentials",
            hint="the gate never asks anonymously: is a token empty, or a login missing?",
        )
    return Fixed(Credential(header, certificate, key))


def _header(user: Entry) -> str:
    if user.text("token"):
        return bearer(user.text("token"), f"user {user.name!r}")
    if user.text("username") and user.text("password"):
        pair = f"{user.text('username')}:{user.text('password')}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    return ""


def _pem(user: Entry, key: str) -> bytes:
    data, path = user.text(f"{key}-data"), user.path(key)
    try:
        if data:
            return base64.b64decode(data, validate=True)
        return Path(path).read_bytes() if path else b""
    except (OSError, binascii.Error) as error:
        raise UsageError(f"{key} of the user {user.name!r} cannot be read") from error
