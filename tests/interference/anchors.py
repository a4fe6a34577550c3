"""How the API server shows that the moment has come from which an action's delay is counted."""

from __future__ import annotations

from collections.abc import Callable

from tests.cluster.kubelet.api import JSON
from tests.interference import shop
from tests.interference.chronicle import Seen
from tests.interference.trial import Anchor

Holds = Callable[[Seen], bool]

_PULLING = frozenset({"ErrImagePull", "ImagePullBackOff"})


def has_come(anchor: Anchor, since: int) -> Holds | None:
    """Return what shows an anchor, in versions after a count of writes; None for the start."""
    if anchor is Anchor.START:
        return None
    holds = _Returning() if anchor is Anchor.RETURNED else _SHOWN[anchor]
    return lambda seen: seen.number > since and seen.body is not None and holds(seen)


def _is_locked(seen: Seen) -> bool:
    body = seen.body or {}
    return seen.key.resource == "leases" and bool(body["spec"].get("holderIdentity"))


def _is_configured(seen: Seen) -> bool:
    return (seen.key.resource, seen.key.name) == ("configmaps", shop.SETTINGS) and _is_new(seen)


def _is_applied(seen: Seen) -> bool:
    return (seen.key.resource, seen.key.name) == ("deployments", shop.WEB) and _is_new(seen)


def _is_evidence(seen: Seen) -> bool:
    body = seen.body or {}
    labels = body.get("metadata", {}).get("labels", {})
    if seen.key.resource != "pods" or labels.get(shop.VERSION) != str(shop.NEW):
        return False
    return any(map(_is_troubled, body.get("status", {}).get("containerStatuses", [])))


def _is_troubled(container: JSON) -> bool:
    waiting = container.get("state", {}).get("waiting", {}).get("reason")
    return bool(container.get("restartCount")) or waiting in _PULLING


class _Returning:
    """Whether a Deployment that was of the new version no longer is."""

    def __init__(self) -> None:
        self._was_new = False

    def __call__(self, seen: Seen) -> bool:
        if (seen.key.resource, seen.key.name) != ("deployments", shop.WEB):
            return False
        was_new, self._was_new = self._was_new, self._was_new or _is_new(seen)
        return was_new and not _is_new(seen)


def _is_new(seen: Seen) -> bool:
    value: object = seen.body
    for key in shop.MARKERS[seen.key.resource]:
        value = value.get(key) if isinstance(value, dict) else None
    return value == shop.marker(seen.key.resource, shop.NEW)


_SHOWN: dict[Anchor, Holds] = {
    Anchor.LOCKED: _is_locked,
    Anchor.CONFIGURED: _is_configured,
    Anchor.APPLIED: _is_applied,
    Anchor.EVIDENCE: _is_evidence,
}
