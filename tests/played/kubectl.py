"""A stand-in for kubectl: for the verbs of the scenarios, the requests that the real one sends.

Patch types, field managers and the last-applied annotation are those of kubectl 1.36.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path

import yaml

from tests.bed.expectations import REVISION
from tests.bed.invariants import key_of
from tests.cluster.command import END_SECONDS, Result
from tests.cluster.kubelet.api import JSON, ApiError
from tests.cluster.objects import Client, Objects
from tests.played.merging import three_way, two_way

USER_AGENT = "kubectl/v1.36.3"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_STRATEGIC = "application/strategic-merge-patch+json"
_MERGE = "application/merge-patch+json"
_JSON = "application/json-patch+json"
_APPLY = "application/apply-patch+yaml"


class PlayedKubectl:
    """kubectl as the administrator of a sandbox, in a namespace and a folder."""

    def __init__(self, client: Client, namespace: str, cwd: Path) -> None:
        """Ask by `client`, whose user agent is kubectl's."""
        self._client = client
        self._objects = Objects(client, namespace)
        self.cwd = cwd

    def __call__(
        self,
        *arguments: str | Path,
        stdin: str = "",
        env: Mapping[str, str] | None = None,
        check: bool = False,
        timeout_seconds: float = END_SECONDS,
    ) -> Result:
        """Run a command; with `check`, an exit code other than 0 raises `AssertionError`."""
        del env, timeout_seconds
        words = [str(argument) for argument in arguments]
        code, complaint = 0, ""
        try:
            self._run(words, stdin)
        except ApiError as error:
            code, complaint = 1, f"Error from server: {error.message}\n"
        result = Result(("kubectl", *words), code, "", complaint, 0.0)
        assert not check or code == 0, str(result)
        return result

    def _run(self, words: list[str], stdin: str) -> None:
        match words:
            case ["set", "image", target, assignment]:
                self._set(target, lambda container: _with_image(container, assignment))
            case ["set", "env", target, assignment]:
                self._set(target, lambda container: _with_variable(container, assignment))
            case ["scale", target, replicas]:
                number = int(replicas.removeprefix("--replicas="))
                path = self._objects.path("deployments", _name(target)) + "/scale"
                self._client.json("PATCH", path, {"spec": {"replicas": number}}, _MERGE)
            case ["rollout", ("pause" | "resume") as verb, target]:
                paused = {"paused": True if verb == "pause" else None}
                self._patch(_name(target), {"spec": paused}, "kubectl-rollout")
            case ["rollout", "undo", target, revision]:
                self._undo(_name(target), revision.removeprefix("--to-revision="))
            case ["delete", target]:
                self._objects.delete("deployments", _name(target))
            case ["apply", "--server-side", *options, "-f", path]:
                manager = "".join(options).removeprefix("--field-manager=") or "kubectl"
                self._apply_server_side(self._read(path, stdin), manager)
            case ["apply", "-f", path]:
                self._apply(self._read(path, stdin))
            case _:
                raise ValueError(f"no scenario has asked for this yet: kubectl {' '.join(words)}")

    def _set(self, target: str, change: Callable[[JSON], None]) -> None:
        """Change the containers of a Deployment's template."""
        before = self._objects.get("deployments", _name(target))
        after = deepcopy(before)
        for container in after["spec"]["template"]["spec"]["containers"]:
            change(container)
        self._patch(_name(target), two_way(before, after), "kubectl-set")

    def _undo(self, name: str, revision: str) -> None:
        """Replace a Deployment's template by that of its ReplicaSet of a revision."""
        sets = self._objects.list_all("replicasets", f"app={name}")
        made = next(one for one in sets if one["metadata"]["annotations"][REVISION] == revision)
        template = deepcopy(made["spec"]["template"])
        del template["metadata"]["labels"]["pod-template-hash"]
        patch: list[JSON] = [{"op": "replace", "path": "/spec/template", "value": template}]
        self._client.json("PATCH", self._objects.path("deployments", name), patch, _JSON)

    def _patch(self, name: str, patch: JSON, manager: str) -> None:
        path = f"{self._objects.path('deployments', name)}?fieldManager={manager}"
        self._client.json("PATCH", path, patch, _STRATEGIC)

    def _read(self, path: str, stdin: str) -> Iterator[JSON]:
        text = stdin if path == "-" else (self.cwd / path).read_text()
        return (each for each in yaml.safe_load_all(text) if each)

    def _apply_server_side(self, bodies: Iterator[JSON], manager: str) -> None:
        for body in bodies:
            key = key_of(body, self._objects.namespace)
            query = f"fieldManager={manager}&fieldValidation=Strict&force=false"
            path = f"{self._objects.path(key.resource, key.name)}?{query}"
            metadata = {"namespace": self._objects.namespace, **body["metadata"]}
            live = self._client.json("PATCH", path, {**body, "metadata": metadata}, _APPLY)
            annotations = live.get("metadata", {}).get("annotations", {})
            if manager == "kubectl" and LAST_APPLIED in annotations:
                self._note_last_applied(body)

    def _note_last_applied(self, body: JSON) -> None:
        """Keep the annotation of what `kubectl apply` began, under a manager for it alone."""
        key = key_of(body, self._objects.namespace)
        note = _annotated(body, self._objects.namespace)["metadata"]["annotations"][LAST_APPLIED]
        of = {"name": key.name, "annotations": {LAST_APPLIED: note}}
        noted = {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": of}
        query = "fieldManager=kubectl-last-applied&force=true"
        self._client.json(
            "PATCH", f"{self._objects.path(key.resource, key.name)}?{query}", noted, _APPLY
        )

    def _apply(self, bodies: Iterator[JSON]) -> None:
        """Apply as kubectl does without --server-side: by what it had applied before."""
        query = "fieldManager=kubectl-client-side-apply&fieldValidation=Strict"
        for body in bodies:
            key = key_of(body, self._objects.namespace)
            modified = _annotated(body, self._objects.namespace)
            live = self._objects.find(key.resource, key.name)
            if live is None:
                self._client.json("POST", f"{self._objects.path(key.resource)}?{query}", modified)
                continue
            annotations = live["metadata"].get("annotations", {})
            original = json.loads(annotations.get(LAST_APPLIED, "{}"))
            patch = three_way(original, modified, live)
            if patch:
                path = f"{self._objects.path(key.resource, key.name)}?{query}"
                self._client.json("PATCH", path, patch, _STRATEGIC)


def _annotated(body: JSON, namespace: str) -> JSON:
    """Return an object with itself in its last-applied annotation."""
    modified = deepcopy(body)
    metadata = modified["metadata"]
    metadata.setdefault("namespace", namespace)
    metadata.setdefault("annotations", {})
    text = json.dumps(modified, sort_keys=True, separators=(",", ":")) + "\n"
    metadata["annotations"][LAST_APPLIED] = text
    return modified


def _with_image(container: JSON, assignment: str) -> None:
    name, _, image = assignment.partition("=")
    if container["name"] == name:
        container["image"] = image


def _with_variable(container: JSON, assignment: str) -> None:
    """Set `NAME=VALUE`, or remove `NAME-`."""
    name, sets, value = assignment.partition("=")
    others = [each for each in container.get("env", []) if each["name"] != name.rstrip("-")]
    wanted = [*others, {"name": name, "value": value}] if sets else others
    container.pop("env", None)
    if wanted:
        container["env"] = wanted


def _name(target: str) -> str:
    return target.rpartition("/")[2]
