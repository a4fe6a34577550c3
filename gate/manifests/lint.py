"""Warn of what is legal in a workload but makes its rollouts unsafe or hard to judge."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from gate.core.frozen import dataclass
from gate.core.model.naming import Naming
from gate.errors import UsageError
from gate.manifests.body import value_at
from gate.manifests.kinds.registry import SCALED_BY_DEFAULT
from gate.manifests.kinds.rules import LintCode, Subject
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.source import escape_line

_MOST_NAMED: Final = 5
_SCALERS: Final = (("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject"))


@dataclass(frozen=True, slots=True)
class Lint:
    """One warning about one workload; `message` is a line for people, without the object."""

    code: LintCode
    object: ManifestObject
    message: str


def lint_lines(found: Iterable[Lint], name: Naming) -> Iterator[str]:
    """Yield one whole line for each code, with places and the code that silences it."""
    by_code: dict[LintCode, list[Lint]] = {}
    for one in found:
        by_code.setdefault(one.code, []).append(one)
    for code, alike in by_code.items():
        first, *others = alike
        if not others:
            yield f"{first.object.source}: {name(first.object.ref)}: {first.message} [{code}]"
            continue
        places = [f"{name(one.object.ref)} ({one.object.source})" for one in alike]
        more = f" and {len(places) - _MOST_NAMED} more" if len(places) > _MOST_NAMED else ""
        is_equal = all(one.message == first.message for one in others)
        message = first.message if is_equal else code.of_several
        yield f"{', '.join(places[:_MOST_NAMED])}{more}: {message} [{code}]"


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
    """Return the warnings about what makes pods, in its order; `timeout_seconds` None is auto."""
    scaled = _find_scaled(manifest)
    is_alone = all(one.known_kind and one.known_kind.runs_once for one in manifest.objects)
    return tuple(
        found
        for item in manifest.objects
        for found in _findings(
            item,
            timeout_seconds,
            is_scaled=(item.kind, item.namespace, item.name) in scaled,
            is_alone=is_alone,
        )
        if found.code not in silent
    )


def _findings(
    item: ManifestObject, timeout_seconds: float | None, *, is_scaled: bool, is_alone: bool
) -> Iterator[Lint]:
    kind = item.known_kind
    if kind is None or kind.workload is None:
        return
    subject = Subject(item.body, kind.pod_spec, timeout_seconds, is_scaled, is_alone)
    for rule in kind.workload.rules:
        message = rule.find(subject)
        if message:
            yield Lint(rule.code, item, message)


def _find_scaled(manifest: Manifest) -> frozenset[tuple[str, Any, str]]:
    """Return kind, namespace and name of what an autoscaler of the manifest targets."""
    targets = (
        (item.namespace, value_at(item.body, "spec", "scaleTargetRef"))
        for item in manifest.objects
        if (item.group, item.kind) in _SCALERS
    )
    return frozenset(
        (
            str(value_at(target, "kind") or SCALED_BY_DEFAULT.name),
            namespace,
            str(value_at(target, "name")),
        )
        for namespace, target in targets
    )
