"""Admission policies of a sandbox: hooks, with the words of a real server's policies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sandbox.face import Admission, Admit, Api, ApiError, Operation
from tests.bed.policies import ANY, SIDECAR, When


class PlayedPolicies:
    """Hooks into the writes of one namespace, within a block alone."""

    def __init__(self, api: Api, namespace: str) -> None:
        """Add no hook yet."""
        self._api = api
        self._namespace = namespace

    @contextmanager
    def denying(self, resource: str, message: str, when: When = ANY) -> Iterator[None]:
        """Within the block, core objects of `resource` for which `when` holds are denied."""

        def deny(write: Admission) -> None:
            if self._concerns(write, resource) and when.holds(write.body or {}, write.dry_run):
                raise self._denied(write, message)

        with _hooked(self._api.admissions, deny):
            yield

    @contextmanager
    def injecting_a_sidecar(self) -> Iterator[None]:
        """Within the block, every pod that is made gets `SIDECAR` beside its own containers."""

        def inject(write: Admission) -> None:
            if self._concerns(write, "pods") and write.operation is Operation.CREATE and write.body:
                write.body["spec"]["containers"].append(dict(SIDECAR))

        with _hooked(self._api.mutations, inject):
            yield

    @contextmanager
    def pinning(self, key: str, value: str) -> Iterator[None]:
        """Within the block, every ConfigMap with that key is stored with that value of it."""

        def pin(write: Admission) -> None:
            data = (write.body or {}).get("data") or {}
            if self._concerns(write, "configmaps") and key in data:
                data[key] = value

        with _hooked(self._api.mutations, pin):
            yield

    @contextmanager
    def rewriting(self, resource: str, image: str, kept: str, when: When = ANY) -> Iterator[None]:
        """Within the block, workloads of `resource` of one image are stored with another."""

        def rewrite(write: Admission) -> None:
            is_meant = self._concerns(write, f"{resource}.apps")
            if is_meant and write.body and when.holds(write.body, write.dry_run):
                first = write.body["spec"]["template"]["spec"]["containers"][0]
                first["image"] = kept if first["image"] == image else first["image"]

        with _hooked(self._api.mutations, rewrite):
            yield

    def _concerns(self, write: Admission, resource: str) -> bool:
        """Whether a write makes or changes an object of the namespace."""
        is_meant = (write.resource.key, write.namespace) == (resource, self._namespace)
        return is_meant and not write.subresource and write.operation is not Operation.DELETE

    def _denied(self, write: Admission, message: str) -> ApiError:
        """Return the refusal of a ValidatingAdmissionPolicy, in a real server's words."""
        policy = f"ValidatingAdmissionPolicy '{self._namespace}' with binding '{self._namespace}'"
        name = write.name or ((write.body or {}).get("metadata") or {}).get("name", "")
        what = f'{write.resource.plural} "{name}" is forbidden'
        return ApiError(422, "Invalid", f"{what}: {policy} denied request: {message}")


@contextmanager
def _hooked(hooks: list[Admit], hook: Admit) -> Iterator[None]:
    hooks.append(hook)
    try:
        yield
    finally:
        hooks.remove(hook)
