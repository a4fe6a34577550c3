"""What documents of earlier versions say in sentences alone, as the values that came later.

The sentences are those that such a version wrote. They stand here as they were: a document that
was written does not change, whatever a sentence reads today.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from gate.wire.earlier_causes import find_crash, find_need

_TAKEN_BACK: Final = "an undo takes back what the gate had left"
_RECOVERED: Final = "recovered"
_REJECTED: Final = "ApplyRejected"
_NOT_READY: Final = "ObjectNotReady"
_NOT_RESTORED: Final = re.compile(r"(\S+/\S+) could not be restored: (.*)", re.DOTALL)
_NO_RIGHT: Final = " cannot patch resource "
"""How the API server's authorizer words a refusal (apiserver, `NewForbidden`)."""


def add_values_of_sentences(document: Any) -> None:
    """Give a document of an earlier version the values that it has in sentences alone."""
    if not isinstance(document, dict):
        return
    message = document.get("message")
    if not isinstance(message, str):
        return
    document.setdefault("takes_back", message == _TAKEN_BACK)
    events = [entry.get("event") for entry in _dicts(document.get("timeline"))]
    document.setdefault("has_recovered", _RECOVERED in events)
    is_observed = document.get("outcome") == "observed"
    document.setdefault("would_have", message.partition(" because ")[0] if is_observed else "")
    document.setdefault("unready_need", _find_unready_need(document, message))
    for workload in _dicts(document.get("workloads")):
        name = f"deployment/{workload.get('name')}: "
        own = message.removeprefix(name) if message.startswith(name) else ""
        workload.setdefault("message", own)
        for cause in _dicts(workload.get("causes")):
            cause.setdefault("crash", _find_crash(cause.get("message")))
    _add_why_not_restored(document)


def _find_crash(message: object) -> dict[str, Any] | None:
    found = find_crash(message) if isinstance(message, str) else None
    if found is None:
        return None
    of = {"container": found.container, "init": found.is_init}
    return {**of, "has_last_words": found.has_last_words}


def _add_why_not_restored(document: dict[str, Any]) -> None:
    warnings = document.get("warnings")
    texts = (
        [text for text in warnings if isinstance(text, str)] if isinstance(warnings, list) else []
    )
    why = {found[1]: found[2] for found in map(_NOT_RESTORED.match, texts) if found}
    for item in _dicts(document.get("objects")):
        name = f"{str(item.get('kind')).lower()}/{item.get('name')}"
        reason = "Forbidden" if _NO_RIGHT in why.get(name, "") else "Rejected"
        item.setdefault("not_restored", reason if name in why else "")


def _find_unready_need(document: dict[str, Any], message: str) -> str:
    """Return the object that the next write needed: its name stood first, or behind the reason."""
    reason, workloads = document.get("reason"), [*_dicts(document.get("workloads"))]
    causes = [cause.get("reason") for one in workloads for cause in _dicts(one.get("causes"))]
    is_need = reason == _REJECTED and _NOT_READY in causes
    if not workloads and reason == _NOT_READY:
        items = _dicts(document.get("objects"))
        is_need = any(
            one.get("action") == "unchanged" and one.get("at_end") is None for one in items
        )
    if document.get("outcome") == "observed":
        message = message.partition(f" because {reason}: ")[2]
    return find_need(message) if is_need else ""


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    """Iterate the objects of a list in a document of which nothing is known yet."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, dict):
            yield item
