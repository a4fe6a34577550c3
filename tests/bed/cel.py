"""Admission policies of a real cluster, in CEL, for the objects of one namespace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.bed.policies import ANY, SIDECAR, When
from tests.cluster.kubelet.api import JSON, ApiError
from tests.cluster.objects import Client, Objects

EFFECT_SECONDS = 30.0

_PREFIX = "/apis/admissionregistration.k8s.io/v1"
_PROBE = "policy-probe"
# A policy is asked only about what is valid otherwise.
_VALID: dict[str, JSON] = {
    "pods": {"spec": {"containers": [{"name": "web", "image": "shop/web:1"}]}},
    "services": {"spec": {"ports": [{"port": 80}]}},
}
_SIDECAR = (
    "Object{spec: Object.spec{containers: [Object.spec.containers{"
    f'name: "{SIDECAR["name"]}", image: "{SIDECAR["image"]}"}}]}}}}'
)


class CelPolicies:
    """Policies of `admissionregistration.k8s.io`, in effect from a block's start to its end.

    The API server notices after a second or so that there is a policy, or that it is gone. Each
    block waits for both.
    """

    def __init__(self, client: Client, objects: Objects) -> None:
        self._api = client
        self._objects = objects

    @contextmanager
    def denying(self, resource: str, message: str, when: When = ANY) -> Iterator[None]:
        """Within the block, core objects of `resource` for which `when` holds are denied."""
        denied = f"object.metadata.name == '{_PROBE}' || ({when.cel})"
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": _matching(resource, "CREATE", "UPDATE"),
            "validations": [{"expression": f"!({denied})", "message": message}],
        }

        def is_denied() -> bool:
            try:
                self._probe(resource)
            except ApiError as error:
                return message in error.message
            return False

        with self._bound("validating", spec, {"validationActions": ["Deny"]}, is_denied):
            yield

    @contextmanager
    def injecting_a_sidecar(self) -> Iterator[None]:
        """Within the block, every pod that is made gets a container `sidecar` beside its own."""
        expression = {"expression": _SIDECAR}
        spec = {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": _matching("pods", "CREATE"),
            "mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": expression}],
        }

        def is_injected() -> bool:
            return len(self._probe("pods")["spec"]["containers"]) > 1

        with self._bound("mutating", spec, {}, is_injected):
            yield

    @contextmanager
    def pinning(self, key: str, value: str) -> Iterator[None]:
        """Within the block, every ConfigMap with that key is stored with that value of it."""
        patch = f'[JSONPatch{{op: "replace", path: "/data/{key}", value: "{value}"}}]'
        has_key = f"has(object.data) && '{key}' in object.data"
        spec = {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": _matching("configmaps", "CREATE", "UPDATE"),
            "matchConditions": [{"name": "has-key", "expression": has_key}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
        }

        def is_pinned() -> bool:
            probe = self._probe("configmaps", {"data": {key: ""}})
            return bool(probe["data"][key] == value)

        with self._bound("mutating", spec, {}, is_pinned):
            yield

    @contextmanager
    def rewriting(self, resource: str, image: str, kept: str, when: When = ANY) -> Iterator[None]:
        """Within the block, workloads of `resource` of one image are stored with another."""
        path = "/spec/template/spec/containers/0/image"
        patch = f'[JSONPatch{{op: "replace", path: "{path}", value: "{kept}"}}]'
        has_image = f"object.spec.template.spec.containers[0].image == '{image}'"
        is_meant = f"{has_image} && (object.metadata.name == '{_PROBE}' || ({when.cel}))"
        spec = {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": _matching(resource, "CREATE", "UPDATE", group="apps"),
            "matchConditions": [{"name": "has-image", "expression": is_meant}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": patch}}],
        }

        def is_rewritten() -> bool:
            probe = self._probe(resource, _workload_of(image))
            return bool(probe["spec"]["template"]["spec"]["containers"][0]["image"] == kept)

        with self._bound("mutating", spec, {}, is_rewritten):
            yield

    @contextmanager
    def _bound(
        self, kind: str, spec: JSON, binding: JSON, is_in_effect: Callable[[], bool]
    ) -> Iterator[None]:
        name = self._objects.namespace
        selector = {"matchLabels": {"kubernetes.io/metadata.name": name}}
        bound = {"policyName": name, "matchResources": {"namespaceSelector": selector}, **binding}
        policies, bindings = (f"{_PREFIX}/{kind}admission{part}" for part in _PARTS)
        metadata = {"name": name}
        self._api.json("POST", policies, {"metadata": metadata, "spec": spec})
        try:
            self._api.json("POST", bindings, {"metadata": metadata, "spec": bound})
            _wait_until(is_in_effect)
            yield
        finally:
            for collection in (bindings, policies):
                self._api.json("DELETE", f"{collection}/{name}")
        _wait_until(lambda: not is_in_effect())

    def _probe(self, resource: str, content: JSON | None = None) -> JSON:
        """Ask the server what it would make of an object of the namespace."""
        valid = _VALID.get(resource, {}) if content is None else content
        body = {"metadata": {"name": _PROBE}, **valid}
        return self._api.json("POST", f"{self._objects.path(resource)}?dryRun=All", body)


_PARTS = ("policies", "policybindings")


def _workload_of(image: str) -> JSON:
    """Return what makes a probe a workload of one image, whatever its kind."""
    labels = {"app": _PROBE}
    pods = {"containers": [{"name": "web", "image": image}]}
    template = {"metadata": {"labels": labels}, "spec": pods}
    return {"spec": {"selector": {"matchLabels": labels}, "template": template}}


def _matching(resource: str, *operations: str, group: str = "") -> JSON:
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "resources": [resource]}
    return {"resourceRules": [{**rule, "operations": [*operations]}]}


def _wait_until(is_so: Callable[[], bool]) -> None:
    """Wait for the API server to notice a policy, or its end: it is asked with a probe."""
    deadline = time.monotonic() + EFFECT_SECONDS
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError("the API server has not noticed the policy, or its end")
        time.sleep(0.05)
