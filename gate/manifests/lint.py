"""Warn of what is legal in a Deployment but makes its rollouts unsafe or hard to judge."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from gate.errors import UsageError
from gate.manifests.containers import containers
from gate.manifests.image_reference import is_pinned
from gate.manifests.manifest import Manifest, ManifestObject, value_at
from gate.manifests.source import escape_line

DEFAULT_DEADLINE_SECONDS: Final = 600
"""The default of `progressDeadlineSeconds` in apps/v1."""

NO_DEADLINE_SECONDS: Final = 2147483647
MARGIN_SECONDS: Final = 5
"""How long after the deadline the controller may write the condition, with some to spare."""

_SCALERS: Final = (("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject"))


class LintCode(enum.StrEnum):
    """The warnings, by the name that silences them."""

    MUTABLE_TAG = "mutable-tag"
    NO_READINESS_PROBE = "no-readiness-probe"
    NO_MIN_READY_SECONDS = "no-min-ready-seconds"
    ONE_REPLICA = "one-replica"
    TIMEOUT_BEFORE_DEADLINE = "timeout-before-deadline"


@dataclass(frozen=True, slots=True)
class Lint:
    """One warning about one Deployment; `message` is a line for people, without the object."""

    code: LintCode
    object: ManifestObject
    message: str

    def line(self, name: str) -> str:
        """Return the whole line, with its place and the code that silences it.

        `name` is what the line calls the object.
        """
        return f"{self.object.source}: {name}: {self.message} [{self.code}]"


def read_silenced(names: Iterable[str]) -> frozenset[LintCode]:
    """Read the codes to silence, where `all` means every one; UsageError for unknown ones."""
    wanted = set(names)
    unknown = sorted(wanted - {"all", *LintCode})
    if unknown:
        hint = f"one of {', '.join(LintCode)}, all"
        raise UsageError(f"no such warning: {escape_line(', '.join(unknown))}", hint=hint)
    return frozenset(LintCode) if "all" in wanted else frozenset(LintCode(name) for name in wanted)


def lint(
    manifest: Manifest,
    *,
    timeout_seconds: float | None = None,
    silent: frozenset[LintCode] = frozenset(),
) -> tuple[Lint, ...]:
    """Return the warnings about the Deployments, in their order; `timeout_seconds` None is auto."""
    scaled = _find_scaled(manifest)
    return tuple(
        found
        for item in manifest.deployments
        for found in _findings(item, timeout_seconds, scaled=(item.namespace, item.name) in scaled)
        if found.code not in silent
    )


def _findings(
    item: ManifestObject, timeout_seconds: float | None, *, scaled: bool
) -> Iterator[Lint]:
    rules = (
        (LintCode.MUTABLE_TAG, _mutable_tags(item)),
        (LintCode.NO_READINESS_PROBE, _describe_unprobed(item)),
        (LintCode.NO_MIN_READY_SECONDS, _hasty(item)),
        (LintCode.ONE_REPLICA, "" if scaled else _lonely(item)),
        (LintCode.TIMEOUT_BEFORE_DEADLINE, _impatient(item, timeout_seconds)),
    )
    yield from (Lint(code, item, message) for code, message in rules if message)


def _mutable_tags(item: ManifestObject) -> str:
    images = [str(container.get("image") or "") for container in containers(item)]
    mutable = sorted({escape_line(image) for image in images if image and not is_pinned(image)})
    if not mutable:
        return ""
    return f"{', '.join(mutable)} can become another image: name a version or a digest"


def _describe_unprobed(item: ManifestObject) -> str:
    names = [
        escape_line(container["name"], 80)
        for container in containers(item, init=False)
        if not container.get("readinessProbe")
    ]
    if not names:
        return ""
    return f"no readiness probe on {', '.join(names)}: a pod counts as ready once it runs"


def _hasty(item: ManifestObject) -> str:
    if value_at(item.body, "spec", "minReadySeconds"):
        return ""
    return "minReadySeconds is 0: a pod that crashes a moment later counts as available"


def _lonely(item: ManifestObject) -> str:
    replicas = value_at(item.body, "spec", "replicas")
    if replicas is None:
        return "replicas is not set: one pod, unless something scales it"
    return "one replica: its node takes the service down" if replicas == 1 else ""


def _impatient(item: ManifestObject, timeout_seconds: float | None) -> str:
    deadline = value_at(item.body, "spec", "progressDeadlineSeconds")
    if not isinstance(deadline, int):
        deadline = DEFAULT_DEADLINE_SECONDS
    patient = timeout_seconds is None or timeout_seconds > deadline + MARGIN_SECONDS
    if patient or deadline == NO_DEADLINE_SECONDS:
        return ""
    ends = f"a timeout of {timeout_seconds:g} s ends the rollout, however well it goes,"
    return f"{ends} before progressDeadlineSeconds ({deadline} s) can find it stuck"


def _find_scaled(manifest: Manifest) -> frozenset[tuple[Any, Any]]:
    """Return namespace and name of the Deployments that an autoscaler of the manifest targets."""
    targets = (
        (item.namespace, value_at(item.body, "spec", "scaleTargetRef"))
        for item in manifest.objects
        if (item.group, item.kind) in _SCALERS
    )
    return frozenset(
        (namespace, str(value_at(target, "name")))
        for namespace, target in targets
        # A ScaledObject may leave the kind out: Deployment is its default.
        if (value_at(target, "kind") or "Deployment") == "Deployment"
    )
