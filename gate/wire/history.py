"""What a lock remembers of its workload, as text for an annotation, bounded.

No body of a Secret and no environment value is in it: whoever may read Leases may read it. With
`--keep-verified-secrets` those are kept in a Secret, of which the history has the digests.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

from gate.core.model.body import Body, FrozenMap
from gate.core.model.objects import Ref
from gate.core.model.origin import Origin
from gate.core.versions.history import History
from gate.core.versions.judged_version import JudgedVersion, LeftVersion
from gate.core.versions.known_replicas import KnownReplicas
from gate.wire.kept import ref, ref_of
from gate.wire.origin import origin, origin_of
from gate.wire.packed import pack, unpack
from gate.wire.record import cause, cause_of
from gate.wire.untrusted import clean_line

MOST_CHARACTERS: Final = 64 * 1024
"""With a record of 160 KiB, all annotations of a Lease together stay below the API's 256 KiB."""
MOST_BODY_BYTES: Final = 256 * 1024
"""The largest body, as JSON: a larger one is not even packed to see whether it fits."""
_MOST_SHARED: Final = 1024
MOST_BODIES_BYTES: Final = 1024 * 1024
"""The limit for all bodies, as JSON: packing them at an attempt's end takes a tenth of a second."""


def history_text(history: History) -> str:
    """Return a history's text; what does not fit is left out, bodies of old versions first.

    Each further try has at least one part less; with none left the text is short.
    """
    history = _packable(history)
    text = pack(_history(history))
    sizes = _Sizes(history)
    most_characters = MOST_CHARACTERS
    while len(text) > MOST_CHARACTERS:
        fitting = sizes.within(most_characters)
        text = pack(_history(fitting))
        characters = sizes.characters_of(fitting)
        if not characters:
            break
        most_characters = characters - max(1, len(text) - MOST_CHARACTERS)
    return text


def read_history(text: str) -> History:
    """Read a history, an empty one from an empty text; DecodeError for anything else."""
    return unpack(text, _history_of) if text else History()


def _packable(history: History) -> History:
    """Leave out the bodies that are too large to be packed, one by one and together."""
    bodies: dict[str, Body] = {}
    left_bytes = MOST_BODIES_BYTES
    for digest in _by_worth(history):
        body = history.bodies[digest]
        if len(body.canonical) > MOST_BODY_BYTES:
            continue
        left_bytes -= len(body.canonical)
        if left_bytes < 0:
            break
        bodies[digest] = body
    return replace(history, bodies=FrozenMap(bodies))


def _by_worth(history: History) -> list[str]:
    """Return the digests of the bodies: the newest version first, in each the smallest first."""
    digests: dict[str, None] = {}
    for version in history.once_verified:
        held = [digest for digest in version.members.values() if digest in history.bodies]
        digests |= dict.fromkeys(sorted(held, key=lambda one: len(history.bodies[one].canonical)))
    return list(digests)


_Part = JudgedVersion | LeftVersion | str
"""What a history can do without: a version, or the digest of a body."""


class _Sizes:
    """The size of each part of a history, packed once and only as long as parts may fit."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._characters: dict[_Part, int] = {}

    def within(self, most_characters: int) -> History:
        """Return the history with the parts that fit, by their single sizes.

        Versions come first, then those that an `undo` left, those written without a verdict, and
        bodies; of each the newest first.
        """
        history = self._history
        versions: list[JudgedVersion] = []
        bodies: dict[str, Body] = {}
        left = most_characters
        for version in reversed(history.versions):
            left -= self._of(version, _version(version))
            if left < 0:
                break
            versions.insert(0, version)
        gone_back_from: list[LeftVersion] = []
        for one in reversed(history.left):
            left -= self._of(one, _encode_left(one))
            if left < 0:
                break
            gone_back_from.insert(0, one)
        unjudged: list[JudgedVersion] = []
        for version in reversed(history.unjudged):
            left -= self._of(version, _version(version))
            if left < 0:
                break
            unjudged.insert(0, version)
        for digest in _by_worth(replace(history, versions=tuple(versions))):
            body = history.bodies[digest]
            characters = self._of(digest, {digest: body.thaw()})
            if characters > MOST_CHARACTERS:
                continue
            left -= characters
            if left < 0:
                break
            bodies[digest] = body
        needed = {digest for one in versions if one.verified for digest in one.members.values()}
        kept = FrozenMap((key, size) for key, size in history.kept.items() if key in needed)
        return replace(
            history,
            versions=tuple(versions),
            bodies=FrozenMap(bodies),
            kept=kept,
            unjudged=tuple(unjudged),
            left=tuple(gone_back_from),
        )

    def characters_of(self, fitting: History) -> int:
        """Return the sum of the sizes of a history's parts."""
        parts: tuple[_Part, ...] = (
            *fitting.versions,
            *fitting.left,
            *fitting.unjudged,
            *fitting.bodies,
        )
        return sum(self._characters[part] for part in parts)

    def _of(self, part: _Part, value: dict[str, Any]) -> int:
        if part not in self._characters:
            self._characters[part] = len(pack(value))
        return self._characters[part]


def _history(history: History) -> dict[str, Any]:
    return {
        "versions": [_version(one) for one in history.versions],
        "bodies": {digest: body.thaw() for digest, body in history.bodies.items()},
        "paused": history.paused,
        "replicas": history.replicas.applied,
        "uid": history.uid,
        "kept": dict(history.kept),
        "scaled_down": history.replicas.scaled_down,
        "returned_replicas": history.replicas.others,
        "unjudged": [_version(one) for one in history.unjudged],
        "left": [_encode_left(one) for one in history.left],
        "others": [[ref(one), digest] for one, digest in sorted(history.others)],
    }


def _history_of(value: Mapping[str, Any]) -> History:
    """Read a history; one without versions has only the pause."""
    bodies = value.get("bodies") or {}
    return History(
        versions=tuple(map(_version_of, value.get("versions") or ())),
        bodies=FrozenMap(_bodies_of(bodies)),
        paused=value["paused"] is True,
        replicas=_replicas_of(value),
        uid=clean_line(str(value.get("uid") or "")),
        kept=FrozenMap((str(key), int(size)) for key, size in (value.get("kept") or {}).items()),
        unjudged=tuple(map(_version_of, value.get("unjudged") or ())),
        left=tuple(map(_left_of, value.get("left") or ())),
        others=frozenset(_pairs_of(value.get("others") or ())),
    )


def _bodies_of(value: Mapping[str, Any]) -> Iterator[tuple[str, Body]]:
    return ((sys.intern(digest), _intern(Body.of(body))) for digest, body in value.items())


@lru_cache(maxsize=_MOST_SHARED)
def _intern(body: Body) -> Body:
    """Return one object for equal bodies: each workload's history has those of the whole set."""
    return body


def _replicas_of(value: Mapping[str, Any]) -> KnownReplicas:
    """Read what is known of replicas; an older gate recorded none of somebody else."""
    applied, others = (_count_of(value.get(key)) for key in ("replicas", "returned_replicas"))
    return KnownReplicas(applied, value.get("scaled_down") is True, others)


def _count_of(value: object) -> int | None:
    """Read a number of replicas; an older gate recorded none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _version(version: JudgedVersion) -> dict[str, Any]:
    return {
        "template": version.template,
        "images": list(version.images),
        "members": _members(version.members),
        "replica_set": version.revision_name,
        "revision": version.revision,
        "why": cause(version.why) if version.why is not None else None,
        "attempt": version.attempt_id,
        "run_url": version.run_url,
        "at": version.judged_at,
        "origin": origin(version.origin) if version.origin is not None else None,
    }


def _version_of(value: Mapping[str, Any]) -> JudgedVersion:
    return JudgedVersion(
        template=clean_line(value["template"]),
        images=tuple(map(clean_line, value["images"])),
        members=_members_of(value),
        revision_name=clean_line(value["replica_set"]),
        revision=None if value["revision"] is None else int(value["revision"]),
        why=cause_of(value["why"]) if value["why"] is not None else None,
        attempt_id=clean_line(value["attempt"]),
        run_url=clean_line(value["run_url"]),
        judged_at=_moment(value["at"]),
        origin=_origin_of(value.get("origin")),
    )


def _encode_left(left: LeftVersion) -> dict[str, Any]:
    return {
        "template": left.template,
        "members": _members(left.members),
        "at": left.left_at,
        "replica_set": left.revision_name,
    }


def _left_of(value: Mapping[str, Any]) -> LeftVersion:
    """Read a version that was left; an older gate did not name its revision."""
    name = clean_line(value.get("replica_set") or "")
    at = _moment(value["at"])
    return LeftVersion(clean_line(value["template"]), _members_of(value), at, name)


def _moment(value: Any) -> str:
    """Return a UTC time in the one form in which times are shown and compared."""
    return clean_line(value).replace("+00:00", "Z")


def _members(members: Mapping[Ref, str]) -> list[list[Any]]:
    return [[ref(one), digest] for one, digest in members.items()]


def _members_of(value: Mapping[str, Any]) -> FrozenMap[Ref, str]:
    return FrozenMap(_pairs_of(value["members"]))


def _pairs_of(value: Iterable[Any]) -> Iterator[tuple[Ref, str]]:
    return ((ref_of(one), sys.intern(str(clean_line(digest)))) for one, digest in value)


def _origin_of(value: Mapping[str, Any] | None) -> Origin | None:
    """Read where a version came from; an older gate did not record it."""
    return origin_of(value) if value else None
