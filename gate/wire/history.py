"""What a lock remembers of its Deployment, as text for an annotation, bounded.

No body of a Secret and no environment value is in it: whoever may read Leases may read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from gate.core.body import Body, FrozenMap
from gate.core.version_history import History, JudgedVersion
from gate.wire.kept import ref, ref_of
from gate.wire.packed import packed, unpacked
from gate.wire.record import cause, cause_of
from gate.wire.untrusted import clean_line

MOST_CHARACTERS: Final = 64 * 1024
"""Beside a record of 160 KiB all annotations of a Lease stay below the API's 256 KiB."""


def history_text(history: History) -> str:
    """Return a history's text; what does not fit is left out, bodies of old versions first."""
    text = packed(_history(history))
    for smaller in _smaller(history):
        if len(text) <= MOST_CHARACTERS:
            break
        text = packed(_history(smaller))
    return text


def read_history(text: str) -> History:
    """Read a history, an empty one from an empty text; DecodeError for what is none."""
    return unpacked(text, _history_of) if text else History()


def _smaller(history: History) -> Iterator[History]:
    """Yield histories with less and less in them."""
    for one in reversed(history.verified):
        for digest in _largest_first(history, one):
            history = replace(history, bodies=history.bodies.drop(digest))
            yield history
    for count in range(1, len(history.versions) + 1):
        yield replace(history, versions=history.versions[count:])


def _largest_first(history: History, version: JudgedVersion) -> list[str]:
    bodies = [digest for digest in version.members.values() if digest in history.bodies]
    return sorted(bodies, key=lambda digest: -len(history.bodies[digest].canonical))


def _history(history: History) -> dict[str, Any]:
    return {
        "versions": [_version(one) for one in history.versions],
        "bodies": {digest: body.thaw() for digest, body in history.bodies.items()},
        "paused": history.paused,
        "replicas": history.replicas,
    }


def _history_of(value: Mapping[str, Any]) -> History:
    """Read a history; of one that knew no versions the pause alone is taken."""
    bodies = value.get("bodies") or {}
    return History(
        versions=tuple(map(_version_of, value.get("versions") or ())),
        bodies=FrozenMap((str(digest), Body.of(body)) for digest, body in bodies.items()),
        paused=value["paused"] is True,
        replicas=_count_of(value.get("replicas")),
    )


def _count_of(value: object) -> int | None:
    """Read a number of replicas; an older version remembered none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _version(version: JudgedVersion) -> dict[str, Any]:
    return {
        "template": version.template,
        "images": list(version.images),
        "members": [[ref(one), digest] for one, digest in version.members.items()],
        "replica_set": version.replica_set,
        "revision": version.revision,
        "why": cause(version.why) if version.why is not None else None,
        "attempt": version.attempt_id,
        "run_url": version.run_url,
        "at": version.judged_at,
    }


def _version_of(value: Mapping[str, Any]) -> JudgedVersion:
    members = ((ref_of(one), clean_line(digest)) for one, digest in value["members"])
    return JudgedVersion(
        template=clean_line(value["template"]),
        images=tuple(map(clean_line, value["images"])),
        members=FrozenMap(members),
        replica_set=clean_line(value["replica_set"]),
        revision=None if value["revision"] is None else int(value["revision"]),
        why=cause_of(value["why"]) if value["why"] is not None else None,
        attempt_id=clean_line(value["attempt"]),
        run_url=clean_line(value["run_url"]),
        judged_at=clean_line(value["at"]),
    )
