"""Where an attempt came from, from text that others wrote: environment variables, annotations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gate.core.model.origin import COMMIT, MOST_ACTOR_CHARACTERS, Origin
from gate.wire.untrusted import clean_line


def origin(value: Origin) -> dict[str, str]:
    """Return an origin as it is written into a record or a history."""
    return {"run_url": value.run_url, "actor": value.actor, "commit": value.commit}


def origin_of(value: Mapping[str, Any]) -> Origin:
    """Read an origin from there; an older gate wrote only the page."""
    return clean_origin(*(str(value.get(name) or "") for name in ("run_url", "actor", "commit")))


def clean_origin(run_url: str, actor: str, commit: str) -> Origin:
    """Return an origin without a URL that is no web address or a commit that is no hash."""
    url, commit = clean_line(run_url), clean_line(commit).lower()
    return Origin(
        url if url.startswith(("https://", "http://")) else "",
        clean_line(actor, MOST_ACTOR_CHARACTERS),
        commit if COMMIT.fullmatch(commit) else "",
    )
