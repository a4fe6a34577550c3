"""Label selectors, as the API server parses them (apimachinery, `labels.Parse`)."""

from __future__ import annotations

import re
from typing import Final

from gate.core.model.objects import SUBDOMAIN

_OUTER_COMMA: Final = re.compile(r",(?![^(]*\))")
_WORD: Final = r"[^\s!=<>(),]+"
_TERM: Final = re.compile(
    rf"""!\s*(?P<absent>{_WORD})
    |(?P<key>{_WORD})
        (?:\s*(?:==?|!=)\s*(?P<value>{_WORD})?
        |\s+(?:in|notin)\s*\((?P<values>[^()]*)\)
        |\s*[<>]\s*[-+]?[0-9]+)?""",
    re.VERBOSE | re.ASCII,
)
_NAME: Final = re.compile(r"[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", re.ASCII)
"""The name of a label, and a value that is not empty."""


def find_wrong_term(selector: str) -> str | None:
    """Return the first term of a selector that the server cannot parse, None if there is none."""
    terms = (term.strip() for term in _OUTER_COMMA.split(selector))
    return next((term for term in terms if not _is_term(term)), None)


def _is_term(term: str) -> bool:
    match = _TERM.fullmatch(term)
    if match is None:
        return False
    values = [match["value"] or "", *(match["values"] or "").split(",")]
    return _is_key(match["absent"] or match["key"]) and all(map(_is_value, values))


def _is_key(text: str) -> bool:
    prefix, slash, name = text.rpartition("/")
    return _NAME.fullmatch(name) is not None and (
        not slash or SUBDOMAIN.fullmatch(prefix) is not None
    )


def _is_value(text: str) -> bool:
    """Tell whether it can be a label's value, which may be empty."""
    return not text.strip() or _NAME.fullmatch(text.strip()) is not None
