"""The sandbox's schemas, from a server's own OpenAPI: `python -m tests.cluster.schemas`.

It reads the OpenAPI v3 documents of a running control plane and writes
`sandbox/schema/openapi.json`: definitions of the served kinds and all that they refer to,
without descriptions. The same server gives the same bytes.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import sandbox.schema
from sandbox.kinds import RESOURCES
from tests.cluster.kubelet.api import JSON, Api, from_kubeconfig

TARGET = Path(sandbox.schema.__file__).with_name("openapi.json")
REFERENCE = "#/components/schemas/"
KINDS = "x-kubernetes-group-version-kind"

REVIEWS = ("authentication.k8s.io/v1", "authorization.k8s.io/v1")
"""Groups that are answered and not kept: all of their kinds are taken."""

EXTRA = (
    ("autoscaling/v1", "Scale"),
    ("policy/v1", "Eviction"),
    ("v1", "APIGroup"),
    ("v1", "APIGroupList"),
    ("v1", "APIResourceList"),
    ("v1", "Binding"),
    ("v1", "DeleteOptions"),
    ("v1", "Status"),
    ("v1", "WatchEvent"),
)
"""What requests and answers hold beside the objects of the served kinds."""


def main() -> None:
    """Write the data file from the control plane that a kubeconfig names."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster.schemas", description=__doc__)
    default = os.environ.get("KUBECONFIG")
    parser.add_argument("--kubeconfig", type=Path, default=default, required=default is None)
    parser.add_argument("--output", type=Path, default=TARGET)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        api = from_kubeconfig(arguments.kubeconfig, Path(folder), "rollout-gate-tests/schemas")
        with api:
            document = facts(api)
    arguments.output.write_text(text(document), encoding="utf-8")
    print(f"{arguments.output}: {len(document['schemas'])} definitions")


def facts(api: Api) -> JSON:
    """Return what the data file holds: the server's version and the definitions by their name."""
    groups = sorted(api.json("GET", "/openapi/v3")["paths"])
    served = {name: api.json("GET", f"/openapi/v3/{name}") for name in groups if _is_served(name)}
    found: JSON = {}
    for document in served.values():
        found |= document["components"]["schemas"]
    roots = [name for name, schema in found.items() if _is_wanted(schema)]
    names = sorted(_reachable(roots, found))
    return {
        "server": api.json("GET", "/version")["gitVersion"],
        "schemas": {name: _without_prose(found[name]) for name in names},
    }


def text(document: JSON) -> str:
    """Return the data file's text: one definition a line, so that a diff shows what changed."""
    lines = [f"{_json(name)}:{_json(schema)}" for name, schema in document["schemas"].items()]
    body = ",\n".join(lines)
    return f'{{"server":{_json(document["server"])},"schemas":{{\n{body}\n}}}}\n'


def _json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), sort_keys=True)


def _is_served(path: str) -> bool:
    groups = {resource.api_version for resource in RESOURCES} | set(REVIEWS)
    groups |= {api_version for api_version, _ in EXTRA}
    return path.removeprefix("apis/").removeprefix("api/") in groups and path != "api"


def _is_wanted(schema: JSON) -> bool:
    return any(_is_wanted_kind(kind) for kind in schema.get(KINDS, ()))


def _is_wanted_kind(kind: JSON) -> bool:
    group, name = kind["group"], kind["kind"]
    api_version = f"{group}/{kind['version']}" if group else kind["version"]
    if api_version in REVIEWS or (api_version, name) in EXTRA:
        return True
    kinds = {(resource.api_version, resource.kind) for resource in RESOURCES}
    return (api_version, name.removesuffix("List")) in kinds


def _reachable(roots: list[str], found: JSON) -> set[str]:
    names: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in names:
            names.add(name)
            waiting += _references(found[name])
    return names


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, dict):
        if isinstance(reference := schema.get("$ref"), str):
            yield reference.removeprefix(REFERENCE)
        for part in schema.values():
            yield from _references(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _references(part)


def _without_prose(schema: JSON) -> JSON:
    """Drop descriptions; a kind that stands for every group (DeleteOptions) keeps none of them."""
    kept = {key: value for key, value in schema.items() if key != "description"}
    if len(kept.get(KINDS, ())) > 1:
        del kept[KINDS]
    for key in ("items", "additionalProperties"):
        if key in kept:
            kept[key] = _without_prose(kept[key])
    if "properties" in kept:
        members = kept["properties"].items()
        kept["properties"] = {name: _without_prose(member) for name, member in members}
    return kept


if __name__ == "__main__":
    main()
