"""Writes the sandbox's protobuf data: which field of which message has which number and type.

`python -m tests.cluster.protobufs` reads the `generated.proto` files of the Go modules that
`go.mod` pins, and `openapi.json` of the sandbox for the fields that JSON has inline.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from sandbox.access.authorizer import REVIEWS
from sandbox.kinds import RESOURCES
from sandbox.schema import definitions
from sandbox.serving.protobuf.messages import DATA, message_name
from tests.cluster.programs import REPOSITORY

MODULES = ("k8s.io/api", "k8s.io/apimachinery")
PACKAGES = re.compile(r"k8s\.io\.(?:api|apimachinery\.pkg\.apis|apimachinery\.pkg)\.")
OTHERS = ("policy/v1.Eviction", "core/v1.Binding", "meta/v1.DeleteOptions", "autoscaling/v1.Scale")
READ_BY_HAND = (
    "api/resource.Quantity",
    "meta/v1.FieldsV1",
    "meta/v1.MicroTime",
    "meta/v1.Time",
    "authentication/v1.ExtraValue",
    "authorization/v1.ExtraValue",
    "runtime.RawExtension",
    "util/intstr.IntOrString",
)

Fields = dict[str, tuple[str, str]]

_MESSAGE = re.compile(r"^message (\w+) \{(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(
    r"^ +(?:(optional|repeated|required) )?(\S+(?:, \S+)?) (\w+) = (\d+);", re.MULTILINE
)
_COMMENT = re.compile(r"//.*$", re.MULTILINE)


def main() -> None:
    """Write the data file of what the served kinds reach."""
    known = dict(_messages())
    roots = [message_name(kind.api_version, kind.kind) for kind in (*RESOURCES, *REVIEWS)]
    reached = _reached(known, [*roots, *OTHERS])
    lines = [f"{json.dumps(name)}: {json.dumps(known[name])}" for name in sorted(reached)]
    path = REPOSITORY / "sandbox" / "serving" / "protobuf" / DATA
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _messages() -> Iterator[tuple[str, Fields]]:
    for module in MODULES:
        for path in sorted(_folder(module).rglob("generated.proto")):
            text = _COMMENT.sub("", path.read_text())
            package = re.search(r"^package (\S+);", text, re.MULTILINE)
            assert package, path
            for name, body in _MESSAGE.findall(text):
                full = f"{package[1]}.{name}"
                yield _short(full), _fields(full, package[1], body)


def _fields(full: str, package: str, body: str) -> Fields:
    properties = definitions().get(f"io.{full.replace('k8s.io', 'k8s', 1)}", {}).get("properties")
    found: Fields = {}
    for label, kind, name, number in _FIELD.findall(body):
        shown = name if properties is None or name in properties else ""
        found[number] = (shown, _type(label, kind, package))
    return found


def _type(label: str, kind: str, package: str) -> str:
    if kind.startswith("map<"):
        value = kind.removesuffix(">").partition(", ")[2]
        return "{}" + _type("", value, package)
    name = kind.removeprefix(".")
    if name[0].isupper():
        name = f"{package}.{name}"
    return ("[]" if label == "repeated" else "") + _short(name)


def _short(name: str) -> str:
    """Return `core/v1.Pod` for `k8s.io.api.core.v1.Pod`; scalars stay."""
    if not name.startswith("k8s.io."):
        return name
    *place, last = PACKAGES.sub("", name).split(".")
    return f"{'/'.join(place)}.{last}"


def _reached(known: dict[str, Fields], roots: list[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name in found or name in READ_BY_HAND:
            continue
        found.add(name)
        types = [kind.lstrip("[]{}") for _, kind in known[name].values()]
        waiting += [kind for kind in types if "." in kind]
    return found


def _folder(module: str) -> Path:
    command = ["go", "list", "-m", "-f", "{{.Dir}}", module]
    where = REPOSITORY / "tests" / "cluster"
    ran = subprocess.run(command, cwd=where, check=True, capture_output=True, text=True)
    return Path(ran.stdout.strip())


if __name__ == "__main__":
    main()
