"""Label selectors as a query carries them: `app=web,tier in (a,b),!canary` (`labels.Parse`)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sandbox.failure import ApiError, bad_request

_NAME = r"(?:[a-z0-9][-a-z0-9.]*/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_VALUE = r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
_LIST = rf"\(\s*{_VALUE}\s*(?:,\s*{_VALUE}\s*)*\)"
_TERM = re.compile(
    rf"""\s*(?:
        (?P<absent>!)\s*(?P<missing>{_NAME})
      | (?P<of>{_NAME})\s+(?P<set>in|notin)\s*(?P<list>{_LIST})
      | (?P<name>{_NAME})\s*(?:(?P<sign>==|!=|=|<|>)\s*(?P<value>{_VALUE}))?
    )\s*(?:,(?=\s*\S)|$)""",
    re.VERBOSE,
)
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")


class Operator(StrEnum):
    """How a requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "!"
    ABOVE = ">"
    BELOW = "<"


_BY_SIGN = {
    "=": Operator.IN,
    "==": Operator.IN,
    "!=": Operator.NOT_IN,
    ">": Operator.ABOVE,
    "<": Operator.BELOW,
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a selector."""

    name: str
    operator: Operator
    values: frozenset[str] = frozenset()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Tell whether labels fulfil the term; a missing label is not among any values."""
        found = labels.get(self.name)
        match self.operator:
            case Operator.IN:
                return found in self.values
            case Operator.NOT_IN:
                return found not in self.values
            case Operator.EXISTS:
                return found is not None
            case Operator.ABSENT:
                return found is None
            case _:
                return self._compares(found)

    def _compares(self, found: str | None) -> bool:
        (bound,) = self.values
        if found is None or not _INTEGER.fullmatch(found):
            return False
        above = self.operator is Operator.ABOVE
        return int(found) > int(bound) if above else int(found) < int(bound)


LabelSelector = tuple[Requirement, ...]


def parse_labels(text: str) -> LabelSelector:
    """Return the terms of a selector, none for an empty one; 400 where it cannot be read."""
    found: list[Requirement] = []
    position, end = 0, len(text.rstrip())
    while position < end:
        term = _TERM.match(text, position)
        if term is None:
            raise _unreadable(text, position)
        found.append(_requirement(term, text))
        position = term.end()
    return tuple(found)


def _requirement(term: re.Match[str], text: str) -> Requirement:
    if term["absent"]:
        return Requirement(term["missing"], Operator.ABSENT)
    if term["set"]:
        values = (value.strip() for value in term["list"].strip("()").split(","))
        return Requirement(term["of"], Operator(term["set"]), frozenset(values))
    if not term["sign"]:
        return Requirement(term["name"], Operator.EXISTS)
    operator, value = _BY_SIGN[term["sign"]], term["value"]
    if operator in (Operator.ABOVE, Operator.BELOW) and not _INTEGER.fullmatch(value):
        raise _unreadable(text, term.start())
    return Requirement(term["name"], operator, frozenset({value}))


def _unreadable(text: str, position: int) -> ApiError:
    return bad_request(f'unable to parse requirement: "{text}" is no label selector at {position}')
