"""An object on the real server, and the sandbox's account of every write to it.

Each write goes to the server; what the sandbox's pure functions make of the same object and the
same write has to be what came back: every entry of managedFields, and the object itself (its
defaults by the server, from a dry run of an update with what the sandbox made).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import pytest

from sandbox import fields, patching
from sandbox.kinds import Resource
from sandbox.schema import Schema, schema_of
from tests.cluster.cluster import Cluster
from tests.cluster.kubelet.api import JSON, ApiError

NOW = "9999-01-01T00:00:00Z"
"""The time of a write as the sandbox is told it: later than any that the server writes."""

JSON_PATCH = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
RACED = "the object has been modified"
OF_THE_SERVER = ("managedFields", "resourceVersion", "generation", "uid", "creationTimestamp")
ALLOCATED = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
"""What a Service is given after its ownership is settled."""


class Raced(Exception):
    """A controller wrote between our read and our write."""


@dataclass
class Twin:
    """One object on the real server, and the sandbox's account of each write to it."""

    cluster: Cluster
    resource: Resource
    path: str
    name: str

    @property
    def schema(self) -> Schema:
        """The schema of the object's kind."""
        return schema_of(self.resource)

    def body(self, spec: JSON | None = None, **metadata: Any) -> JSON:
        """Return a configuration of the object."""
        found: JSON = {
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            "metadata": {"name": self.name, **metadata},
        }
        return {**found, "spec": spec} if spec is not None else found

    def live(self) -> JSON:
        """Return the object as the server has it."""
        return self.cluster.api.json("GET", f"{self.path}/{self.name}")

    def create(self, manager: str, body: JSON) -> None:
        """Create it on the server, and compare."""
        real = self._send("POST", f"?fieldManager={manager}", body)
        made = bare(real)
        for name in ALLOCATED:
            (made.get("spec") or {}).pop(name, None)
        mine = fields.update_owners(None, made, manager, now=NOW, schema=self.schema)
        self._compare(mine, real)

    def apply(self, manager: str, body: JSON, *, force: bool = True) -> None:
        """Apply by the server's side, and compare; a conflict is compared by its message."""
        live = self._find()
        if live:
            version = live["metadata"]["resourceVersion"]
            body = {**body, "metadata": {**body["metadata"], "resourceVersion": version}}
        query = f"/{self.name}?fieldManager={manager}&force={str(force).lower()}"
        mine, refused = self._applied(live, body, manager, force=force)
        if refused:
            self._expect(refused, query, body, APPLY, live)
            return
        real = self._send("PATCH", query, body, APPLY)
        if live:
            mine = owned_as(mine, fields.keep_times_if_unchanged(live, owned_as(real, mine)))
            self._compare_bodies(mine, real)
        self._compare(mine, real)

    def patch(self, manager: str, patch: Any, kind: str, subresource: str = "") -> None:
        """Patch on the server, and compare; a refusal is compared by its message."""
        live = self.live()
        path = f"/{self.name}" + (f"/{subresource}" if subresource else "")
        query = f"{path}?fieldManager={manager}"
        patch = pinned(patch, live)
        mine, refused = self._patched(live, patch, kind)
        if refused:
            self._expect(refused, query, patch, kind, live)
            return
        real = self._send("PATCH", query, patch, kind, live)
        if not subresource:
            self._compare_bodies(mine, real)
        made = owned_as(real, mine)
        if subresource == "status":
            made = {**made, "spec": mine["spec"]}
        mine = fields.update_owners(
            live, made, manager, now=NOW, schema=self.schema, subresource=subresource
        )
        self._compare(mine, real)

    def scale(self, manager: str, replicas: int) -> None:
        """Write the subresource `scale`, and compare."""
        live = self.live()
        patch = pinned({"spec": {"replicas": replicas}}, live)
        scale = self._send("PATCH", f"/{self.name}/scale?fieldManager={manager}", patch, MERGE)
        real = self.live()
        if real["metadata"]["resourceVersion"] != scale["metadata"]["resourceVersion"]:
            raise Raced
        made = {**live, "spec": {**live["spec"], "replicas": replicas}}
        mine = fields.update_owners(
            live, made, manager, now=NOW, schema=self.schema, subresource="scale"
        )
        self._compare(mine, real)

    def _applied(
        self, live: JSON | None, body: JSON, manager: str, *, force: bool
    ) -> tuple[JSON, str]:
        """Return what the sandbox makes of an apply, or the message with which it refuses."""
        try:
            found = fields.apply(live, body, manager, force=force, now=NOW, schema=self.schema)
        except (fields.Conflict, fields.NotTyped) as error:
            return {}, str(error)
        return found, ""

    def _patched(self, live: JSON, patch: Any, kind: str) -> tuple[JSON, str]:
        """Return what the sandbox makes of a patch, or the message with which it refuses."""
        try:
            match kind:
                case "application/strategic-merge-patch+json":
                    found = patching.strategic_merge(live, patch, self.schema)
                case "application/merge-patch+json":
                    found = patching.merge_patch(live, patch)
                case _:
                    found = patching.json_patch(live, patch)
        except patching.PatchError as error:
            return {}, error.refusal().message
        return found, ""

    def _expect(self, message: str, query: str, body: Any, kind: str, live: JSON | None) -> None:
        """Let the server refuse it with the same words."""
        with pytest.raises(ApiError) as error:
            self._send("PATCH", query, body, kind)
        same = lines(error.value.message) == lines(message)
        if not same and self._has_moved(live):
            raise Raced
        assert same, (error.value.message, message)

    def _send(
        self,
        method: str,
        query: str,
        body: Any,
        kind: str = "application/json",
        live: JSON | None = None,
    ) -> JSON:
        """Send a write; `live` is what it was made for, where it says so by a JSON patch's test."""
        try:
            return self.cluster.api.json(method, self.path + query, body, kind)
        except ApiError as error:
            if RACED in error.message or self._has_moved(live):
                raise Raced from error
            raise

    def _has_moved(self, live: JSON | None) -> bool:
        """Tell whether somebody has written since; a write that was refused was not ours."""
        found = self._find() if live else None
        return found is not None and versioned(found) != versioned(live or {})

    def _find(self) -> JSON | None:
        try:
            return self.live()
        except ApiError as error:
            if error.status != 404:
                raise
            return None

    def _compare_bodies(self, mine: JSON, real: JSON) -> None:
        """Hold what the sandbox made, defaulted by a dry run on the server, against the real."""
        assert bare(self._dry_run(without_nulls(bare(mine)))) == bare(real)

    def _dry_run(self, body: JSON) -> JSON:
        """Return what an update to this body would leave, whatever controllers write meanwhile."""
        for _ in range(50):
            try:
                return self._send("PUT", f"/{self.name}?dryRun=All", pinned(body, self.live()))
            except Raced:
                continue
        raise Raced

    def _compare(self, mine: JSON, real: JSON) -> None:
        """Hold managedFields against the server's: fields, entries, order, times that stay."""
        ours, theirs = entries(mine), entries(real)
        assert Counter(map(identity, ours)) == Counter(map(identity, theirs))
        by_identity = {identity(entry): entry for entry in theirs}
        if len(by_identity) < len(theirs):
            return
        for entry in ours:
            other = by_identity[identity(entry)]
            assert entry["fieldsV1"] == other["fieldsV1"]
            moved = entry.get("time") == NOW and "time" in other
            assert moved or entry.get("time") == other.get("time")


def entries(body: JSON) -> list[JSON]:
    """Return an object's managedFields."""
    found: list[JSON] = body["metadata"].get("managedFields", [])
    return found


def identity(entry: JSON) -> tuple[str, ...]:
    """Return what tells entries apart."""
    return tuple(
        entry.get(name, "") for name in ("manager", "operation", "apiVersion", "subresource")
    )


def owned_as(body: JSON, owner: JSON) -> JSON:
    """Return an object with the managedFields of another."""
    rest = {name: part for name, part in body["metadata"].items() if name != "managedFields"}
    if "managedFields" in owner["metadata"]:
        rest["managedFields"] = owner["metadata"]["managedFields"]
    return {**body, "metadata": rest}


def bare(body: JSON) -> JSON:
    """Return an object without what the server and the controllers say of it."""
    metadata = {name: it for name, it in body["metadata"].items() if name not in OF_THE_SERVER}
    notes = dict(metadata.pop("annotations", None) or {})
    notes.pop("deployment.kubernetes.io/revision", None)
    if notes:
        metadata["annotations"] = notes
    return {**{name: it for name, it in body.items() if name != "status"}, "metadata": metadata}


def without_nulls(value: Any) -> Any:
    """Return a value without members that are null."""
    if isinstance(value, dict):
        return {name: without_nulls(part) for name, part in value.items() if part is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def pinned(patch: Any, live: JSON) -> Any:
    """Return a patch that fits this version of the object alone."""
    version = live["metadata"]["resourceVersion"]
    if isinstance(patch, list):
        return [{"op": "test", "path": "/metadata/resourceVersion", "value": version}, *patch]
    return {**patch, "metadata": {**(patch.get("metadata") or {}), "resourceVersion": version}}


def versioned(item: JSON) -> str:
    """Return an object's resourceVersion."""
    return str(item["metadata"]["resourceVersion"])


def lines(message: str) -> list[str]:
    """Return a message's lines in order: the server tells conflicts, and their managers, in any.

    The first manager stands behind the count, on its line.
    """
    return sorted(message.replace(" conflicts: ", " conflicts:\n", 1).splitlines())
