"""Does a server keep what was sent to it? It may write the same in another form, and fill in more.

An admission webhook may set other values, which nobody is told of otherwise. Which forms a value
has is known from the names of the fields that lead to it. What decodes a custom resource into types
of Go, as its webhook does, writes its quantities, durations and times in the same forms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

from gate.core.model.body import Body
from gate.core.model.live_object import LiveObject
from gate.core.model.moments import parse_moment
from gate.core.ssa import field_set, managed_fields

_WRITE_ONLY: Final = ("stringData",)
"""Fields that no read returns (v1 Secret)."""
_TEXTS: Final = frozenset(
    {
        "data",
        "binaryData",
        "annotations",
        "labels",
        "matchLabels",
        "nodeSelector",
        "selector",
        "parameters",
        "args",
        "command",
    }
)
"""Maps and lists of texts that mean something to others alone: no server changes their form."""
_BYTES: Final = (("Secret", "data"), ("ConfigMap", "binaryData"))
_QUANTITIES: Final = frozenset(
    {
        "limits",
        "requests",
        "overhead",
        "capacity",
        "hard",
        "sizeLimit",
        "divisor",
        "averageValue",
        "tolerance",
        "maximumVolumeSize",
        "cpu",
        "memory",
        "storage",
    }
)
"""Fields of the type `resource.Quantity`, or maps of them (Kubernetes' OpenAPI), and what custom
resources call so; `value` of a metric's `target` is one besides."""
_UNSET_AT_ZERO: Final = frozenset(
    {
        "nodePort",
        "healthCheckNodePort",
        "hostPort",
        "targetPort",
        "timeoutSeconds",
        "periodSeconds",
        "successThreshold",
        "failureThreshold",
    }
)
"""Numbers that a server chooses where they are 0 (core/v1, `SetDefaults_Service`, `..._Probe`)."""
_MEANT_EMPTY: Final = "storageClassName"
"""Here "" is a value: no class."""
_QUANTITY: Final = re.compile(
    r"([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:([eE][+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i)?)"
)
_SUFFIXES: Final[Mapping[str, Fraction]] = {
    **{name: Fraction(1000) ** (power - 3) for power, name in enumerate(("n", "u", "m"))},
    **{name: Fraction(1000) ** (power + 1) for power, name in enumerate("kMGTPE")},
    **{f"{name}i": Fraction(1024) ** (power + 1) for power, name in enumerate("KMGTPE")},
}
_DURATION: Final = re.compile(r"([+-]?)(0|(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h))+)")
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
    owned = managed_fields.owned_fields(kept.thaw_managed_fields(), manager)
    ours = {key: value for key, value in sent.thaw().items() if key not in _WRITE_ONLY}
    kind = str(ours.get("kind", ""))

    def is_same(mine: Any, theirs: Any, keys: tuple[str, ...]) -> bool:
        names = (key[2:] for key in keys if key.startswith("f:"))
        return means_same(mine, theirs, (kind, *names))

    return field_set.differing(ours, owned, kept.body.thaw(), is_same)


def means_same(sent: Any, kept: Any, names: tuple[str, ...] = ()) -> bool:
    """Tell whether a value that is kept means what was sent; None is one that is lacking.

    `names` are the kind of the object and the fields that lead to the value. Where a field is
    omitted if it is empty, an empty one may be dropped, and "" may be filled in. What a map has
    besides does not count.
    """
    if sent is None:
        return True
    if kept is None:
        return not sent and (sent != "" or _TEXTS.isdisjoint(names))
    if isinstance(sent, Mapping):
        return isinstance(kept, Mapping) and all(
            means_same(value, kept.get(key), (*names, key)) for key, value in sent.items()
        )
    if isinstance(sent, list):
        is_list = isinstance(kept, list) and (not sent or len(kept) == len(sent))
        return is_list and all(means_same(*pair, names) for pair in zip(sent, kept, strict=False))
    if isinstance(sent, bool):
        return sent is kept
    return sent == kept or _is_filled_in(sent, names) or _has_same_meaning(sent, kept, names)


def _is_filled_in(sent: Any, names: tuple[str, ...]) -> bool:
    """Tell whether an empty value is one that a server replaces by a default or by its choice."""
    field = names[-1] if names else ""
    if sent == "":
        return not _is_text(names) and field != _MEANT_EMPTY
    return bool(sent == 0) and field in _UNSET_AT_ZERO


def _is_text(names: tuple[str, ...]) -> bool:
    return not _TEXTS.isdisjoint(names) or names[-2:] == ("env", "value")


def _has_same_meaning(sent: Any, kept: Any, names: tuple[str, ...]) -> bool:
    """Tell whether two values are one in two forms, as far as the type of their field has some.

    A number that is kept as a text, or the other way round, is of no other type than a quantity.
    """
    one, other = str(sent), str(kept)
    if names[:2] in _BYTES or names[-1:] == ("caBundle",):
        return one.replace("\r", "").replace("\n", "") == other  # as encoding/base64 reads it
    if _is_text(names):
        return False
    is_quantity = not _QUANTITIES.isdisjoint(names) or names[-2:] == ("target", "value")
    if is_quantity or type(sent) is not type(kept):
        return _are_one(_read_quantity, one, other)
    return _are_one(_read_duration, one, other) or _is_same_moment(one, other)


def _are_one(read: Callable[[str], Fraction | None], sent: str, kept: str) -> bool:
    return (found := read(sent)) is not None and found == read(kept)


def _is_same_moment(sent: str, kept: str) -> bool:
    """Compare times; a server may store whole seconds alone (meta/v1, `Time`)."""
    one, other = parse_moment(sent), parse_moment(kept)
    return one is not None and other in (one, one.replace(microsecond=0))


def _read_quantity(text: str) -> Fraction | None:
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    number, exponent, suffix = match.groups(default="")
    return Fraction(f"{number.rstrip('.')}{exponent}") * _SUFFIXES.get(suffix, Fraction(1))


def _read_duration(text: str) -> Fraction | None:
    """Read a duration as Go's `time.ParseDuration` does."""
    match = _DURATION.fullmatch(text)
    if match is None:
        return None
    parts = (Fraction(number) * _SECONDS[unit] for number, unit in _PART.findall(match[2]))
    return sum(parts, start=Fraction(0)) * (-1 if match[1] == "-" else 1)
