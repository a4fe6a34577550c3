"""Create: what the server adds, what it drops, and what it refuses."""

from __future__ import annotations

import pytest

from sandbox.api.api import Api, ApiError, FieldValidation, Key, Strictness, Writer
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


def test_what_the_server_sets_cannot_be_sent(api: Api) -> None:
    """Uid, times and deletion marks of the client are dropped, and owned by nobody."""
    sent = config(
        uid="x", creationTimestamp="2020-01-01T00:00:00Z", deletionTimestamp="2020-01-01T00:00:00Z"
    )
    metadata = create(api, sent)["metadata"]
    assert metadata["uid"] != "x"
    assert metadata["creationTimestamp"].startswith("2026")
    assert "deletionTimestamp" not in metadata
    assert metadata["managedFields"][0]["fieldsV1"] == {"f:data": {".": {}, "f:a": {}}}


def test_a_dry_run_stores_nothing(api: Api) -> None:
    """The answer is complete but for the version, and nothing has happened."""
    before = api.store.version
    made = create(api, config(), dry_run=True)
    assert made["metadata"]["uid"]
    assert "resourceVersion" not in made["metadata"]
    assert api.store.version == before
    assert api.store.get(Key("configmaps", "default", "c")) is None


def test_unknown_fields_are_treated_as_asked(api: Api) -> None:
    """Refused when strict, told when warned about, silent when ignored."""
    sent, told = {**config(), "foo": 1}, list[str]()
    create(api, sent, dry_run=True)
    create(api, sent, dry_run=True, validation=FieldValidation(Strictness.WARN, warn=told.append))
    assert told == ['unknown field "foo"']
    with pytest.raises(ApiError, match='strict decoding error: unknown field "foo"') as caught:
        create(api, sent, validation=FieldValidation(Strictness.STRICT))
    assert caught.value.status == 400
