"""Create: what the server adds, what it drops, and what it refuses."""

from __future__ import annotations

from sandbox.api.api import Api, Writer
from sandbox.json import JSON

ME = Writer("alice", "kubectl")


def config(name: str = "c", **metadata: object) -> JSON:
    """Return a ConfigMap."""
    return {"metadata": {"name": name, **metadata}, "data": {"a": "b"}}


def create(api: Api, body: JSON, namespace: str = "default", **options: object) -> JSON:
    """Create a ConfigMap."""
    return api.create("configmaps", namespace, body, ME, **options)  # type: ignore[arg-type]


def test_a_generated_name_that_is_taken_is_generated_anew(api: Api) -> None:
    """A clash of suffixes is not the client's concern."""
    suffixes = iter(["aaaaa", "aaaaa", "bbbbb"])
    api.registry.names.suffix = lambda: next(suffixes)  # type: ignore[method-assign]
    names = [
        create(api, {"metadata": {"generateName": "g-"}})["metadata"]["name"] for _ in range(2)
    ]
    assert names == ["g-aaaaa", "g-bbbbb"]
