"""`--fail-fast KIND=VALUE`: a grace period for all classes of a kind, a count, or `off`."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from typing import Any, Final

from gate.core.rollout.policy import FailFast
from gate.duration import format_seconds, parse_seconds
from gate.errors import UsageError

OFF: Final = "off"

GRACES: Final = {
    "image-pull": ("image_invalid_seconds", "image_refused_seconds", "image_unclear_seconds"),
    "container-config": ("container_config_seconds",),
    "pod-create": (
        "denied_by_policy_seconds",
        "denied_by_webhook_seconds",
        "denied_by_quota_seconds",
    ),
    "replicaset-create": ("replica_set_create_seconds",),
}
COUNTS: Final = {"crash": "crash_restarts", "readiness-lost": "readiness_losses"}


def _default(fields: Iterable[str]) -> str:
    values = sorted(getattr(FailFast(), field) for field in fields)
    shown = [format_seconds(value) for value in dict.fromkeys(values)]
    return shown[0] if len(shown) == 1 else f"{shown[0]} to {shown[-1]} by cause"


DEFAULTS: Final = ", ".join(
    [f"{kind}={getattr(FailFast(), field)}" for kind, field in COUNTS.items()]
    + [f"{kind}={_default(fields)}" for kind, fields in GRACES.items()]
)
"""The defaults of all kinds, in words; `FailFast` sets them."""
_COUNT: Final = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)
"""Kubernetes counts restarts in an int32."""


def fail_fast(texts: Iterable[str]) -> FailFast:
    """Read `KIND=VALUE` texts, at most one for each kind; kinds not named keep their defaults."""
    changes: dict[str, Any] = {}
    for text in texts:
        fields, value = _change(text)
        if changes.keys() & set(fields):
            raise UsageError(f"given twice: {text.partition('=')[0]}")
        changes |= dict.fromkeys(fields, value)
    return dataclasses.replace(FailFast(), **changes)


def _change(text: str) -> tuple[tuple[str, ...], float | int | None]:
    kind, _, value = text.partition("=")
    if kind in GRACES:
        return GRACES[kind], _grace(kind, value)
    if kind in COUNTS:
        return (COUNTS[kind],), _count(kind, value)
    hint = f"KIND=VALUE, KIND one of {', '.join((*GRACES, *COUNTS))}"
    raise UsageError(f"no such kind of failure: {text[:60]!a}", hint=hint)


def _grace(kind: str, value: str) -> float | None:
    if value == OFF:
        return None
    try:
        return parse_seconds(value)
    except UsageError as error:
        hint = f"{kind} takes a duration (90s, 10m) or {OFF}"
        raise UsageError(f"{kind}: {error.message}", hint=hint) from error


def _count(kind: str, value: str) -> int | None:
    if value == OFF:
        return None
    if not _COUNT.fullmatch(value):
        hint = f"{kind} takes a count of at least 1 or {OFF}"
        raise UsageError(f"{kind}: not a count: {value[:60]!a}", hint=hint)
    return int(value)
