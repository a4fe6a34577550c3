"""ConfigMaps and Secrets: keys, sizes, what a type of Secret needs, immutability."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from sandbox.json import JSON
from sandbox.objects.validation.errors import (
    IMMUTABLE,
    Found,
    check_messages,
    forbidden,
    invalid,
    make_required_error,
    too_long,
)
from sandbox.objects.validation.metadata import check_metadata, check_metadata_update
from sandbox.objects.validation.names import config_key, dns_subdomain

LARGEST_BYTES = 1024 * 1024
ACCOUNT_NAME = "kubernetes.io/service-account.name"
DOCKER_KEYS = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}
_LOCKED = "field is immutable when `immutable` is set"


def check_config_map(found: Found, config_map: JSON) -> None:
    """A new ConfigMap."""
    check_metadata(found, config_map["metadata"], dns_subdomain)
    data, binary = config_map.get("data", {}), config_map.get("binaryData", {})
    for key in sorted(data):
        check_messages(found, f"data[{key}]", key, config_key(key))
        if key in binary:
            says = "duplicate of key present in binaryData"
            found.append(invalid(f"data[{key}]", key, says))
    for key in sorted(binary):
        check_messages(found, f"binaryData[{key}]", key, config_key(key))
    size = sum(len(text.encode()) for text in data.values()) + _decoded_size(binary)
    if size > LARGEST_BYTES:
        # The server blames the whole object, whose path it prints so.
        found.append(too_long("[]", LARGEST_BYTES))


def check_config_map_update(found: Found, old: JSON, new: JSON) -> None:
    """One that was marked immutable keeps its data."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    _check_lock(found, old, new, ("data", "binaryData"))
    check_config_map(found, new)


def _check_lock(found: Found, old: JSON, new: JSON, fields: tuple[str, ...]) -> None:
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        found.append(forbidden("immutable", _LOCKED))
    for field in fields:
        if old.get(field) != new.get(field):
            found.append(forbidden(field, _LOCKED))


def _decoded_size(data: Mapping[str, str]) -> int:
    return sum(len(text) * 3 // 4 - text[-2:].count("=") for text in data.values())


def check_secret(found: Found, secret: JSON) -> None:
    """A new Secret."""
    check_metadata(found, secret["metadata"], dns_subdomain)
    data = secret.get("data", {})
    for key in sorted(data):
        check_messages(found, f"data[{key}]", key, config_key(key))
    if _decoded_size(data) > LARGEST_BYTES:
        found.append(too_long("data", LARGEST_BYTES))
    _check_needs(found, secret, data)


def _check_needs(found: Found, secret: JSON, data: Mapping[str, str]) -> None:
    """Look for what a Secret of a well-known type has to hold."""
    kind = secret["type"]
    if kind == "kubernetes.io/service-account-token":
        if not secret["metadata"].get("annotations", {}).get(ACCOUNT_NAME):
            found.append(make_required_error(f"metadata.annotations[{ACCOUNT_NAME}]"))
    elif kind in DOCKER_KEYS:
        _check_docker(found, DOCKER_KEYS[kind], data)
    elif kind == "kubernetes.io/basic-auth":
        if not {"username", "password"} & set(data):
            found += [make_required_error("data[username]"), make_required_error("data[password]")]
    elif kind == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            found.append(make_required_error("data[ssh-privatekey]"))
    elif kind == "kubernetes.io/tls":
        found += [
            make_required_error(f"data[{key}]") for key in ("tls.crt", "tls.key") if key not in data
        ]


def _check_docker(found: Found, key: str, data: Mapping[str, str]) -> None:
    if key not in data:
        found.append(make_required_error(f"data[{key}]"))
        return
    content = base64.b64decode(data[key])
    try:
        wrong = not isinstance(json.loads(content), dict)
    except ValueError:
        wrong = True
    if wrong:
        first = content[:1].decode("latin-1")
        says = (
            f"invalid character '{first}' looking for beginning of value"
            if first
            else "unexpected end of JSON input"
        )
        found.append(invalid(f"data[{key}]", "<secret contents redacted>", says))


def check_secret_update(found: Found, old: JSON, new: JSON) -> None:
    """A Secret keeps its type; one that was marked immutable keeps its data."""
    check_metadata_update(found, old["metadata"], new["metadata"])
    if old["type"] != new["type"]:
        found.append(invalid("type", new["type"], IMMUTABLE))
    _check_lock(found, old, new, ("data",))
    check_secret(found, new)
