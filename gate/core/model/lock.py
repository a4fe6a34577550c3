"""The locks of an attempt: one for each workload, so that no two gates ever work on the same one.

A lock is a Lease (coordination.k8s.io/v1) beside what it locks.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Final

from gate.core.frozen import dataclass
from gate.core.model.objects import Ref

PREFIX: Final = "rollout-gate."
OF_OBJECTS: Final = f"{PREFIX}objects."
MOST_CHARACTERS: Final = 253
"""The longest name of a Lease: a DNS subdomain (RFC 1123)."""
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True, order=True)
class Lock:
    """Where a lock is kept; several are taken in their sort order."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """Return what people call it: what it locks."""
        if self.name.startswith(OF_OBJECTS) or not self.name.startswith(PREFIX):
            return self.name
        return self.name.removeprefix(PREFIX).replace(".", "/", 1)


def lock_of(ref: Ref) -> Lock:
    """Return the lock of a workload."""
    return Lock(ref.namespace, fit_name(prefix_of(ref.kind), ref.name))


def prefix_of(kind: str) -> str:
    """Return what the names of the locks of a kind of workload begin with."""
    return f"{PREFIX}{kind.lower()}."


def fit_name(prefix: str, name: str) -> str:
    """Return both as the name of an object; a long one is cut and made unique by its hash."""
    whole = f"{prefix}{name}"
    if len(whole) <= MOST_CHARACTERS:
        return whole
    digits = _hash(name)
    return f"{whole[: MOST_CHARACTERS - len(digits) - 1].rstrip('.-')}-{digits}"


def lock_of_objects(refs: Iterable[Ref], namespace: str) -> Lock:
    """Return the lock of objects none of which is a workload, named by a hash of them all.

    It is in the first of their namespaces by name, else in `namespace`.
    """
    objects = sorted(set(refs))
    named = "\n".join(f"{r.api_version}/{r.kind}/{r.namespace}/{r.name}" for r in objects)
    places = sorted({ref.namespace for ref in objects} - {""})
    return Lock(places[0] if places else namespace, OF_OBJECTS + _hash(named))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
