"""Does a server keep what was sent to it? It may write the same in another form, and fill in more.

An admission webhook may set other values, which nobody is told of otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.model.moments import parse_moment
from gate.core.ssa import field_set, managed_fields

_WRITE_ONLY: Final = ("stringData",)
"""Fields that no read returns (v1 Secret)."""
_QUANTITY: Final = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)"
)
_SUFFIXES: Final[Mapping[str, Fraction]] = {
    **{name: Fraction(1000) ** (power - 3) for power, name in enumerate(("n", "u", "m"))},
    **{name: Fraction(1000) ** (power + 1) for power, name in enumerate("kMGTPE")},
    **{f"{name}i": Fraction(1024) ** (power + 1) for power, name in enumerate("KMGTPE")},
}
_DURATION: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+")
_PART: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h)")
_SECONDS: Final[Mapping[str, Fraction]] = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}


def find_altered(sent: Body, kept: LiveObject, manager: str) -> tuple[str, ...]:
    """Name the fields that `manager` applied and that an object has with another value.

    Only fields that are still its own count: one that others own was left to them.
    """
    owned = managed_fields.owned_fields(kept.managed.thaw().get("managedFields") or [], manager)
    ours = {key: value for key, value in sent.thaw().items() if key not in _WRITE_ONLY}
    return field_set.differing(ours, owned, kept.body.thaw(), means_same)


def means_same(sent: Any, kept: Any) -> bool:
    """Tell whether a value that is kept means what was sent; None is one that is lacking.

    An empty value may be dropped, and "" and 0 are filled in by defaults. What a map has besides
    does not count.
    """
    if sent is None or (kept is None and not sent):
        return True
    if isinstance(sent, Mapping):
        is_map = isinstance(kept, Mapping)
        return is_map and all(means_same(value, kept.get(key)) for key, value in sent.items())
    if isinstance(sent, list):
        is_list = isinstance(kept, list) and (not sent or len(kept) == len(sent))
        return is_list and all(map(means_same, sent, kept))
    if isinstance(sent, bool):
        return sent is kept
    return sent in ("", 0) or sent == kept or _has_same_text(str(sent), str(kept))


def _has_same_text(sent: str, kept: str) -> bool:
    """Tell whether two texts are one value: white space as in base64 does not count."""
    if "".join(sent.split()) == kept:
        return True
    read = (_read_quantity, _read_duration, parse_moment)
    return any((found := how(sent)) is not None and found == how(kept) for how in read)


def _read_quantity(text: str) -> Fraction | None:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    number, exponent, suffix = match.groups(default="")
    return Fraction(f"{number.rstrip('.')}{exponent}") * _SUFFIXES.get(suffix, Fraction(1))


def _read_duration(text: str) -> Fraction | None:
    if not _DURATION.fullmatch(text):
        return None
    parts = (Fraction(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    return sum(parts, start=Fraction(0))
