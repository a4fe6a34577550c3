"""Label selectors as a query carries them: `app=web,tier in (a,b),!canary`.

The grammar and the words of its errors are those of apimachinery's `labels.Parse`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from sandbox.failure import ApiError, bad_request

BINARY = "in, notin, =, ==, !=, gt, lt"
_TOKENS = re.compile(r"\s*(==|!=|[=!(),<>]|[^=!(),<>\s]+)")
_OPERATORS = frozenset({"=", "==", "!=", "<", ">"})
_PUNCTUATION = _OPERATORS | {"!", "(", ")", ","}
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_DNS = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_INTEGER = re.compile(r"[-+]?[0-9]{1,18}")
_MAX_NAME = 63


class Operator(StrEnum):
    """How a requirement compares."""

    IN = "in"
    NOT_IN = "notin"
    EXISTS = "exists"
    ABSENT = "!"
    ABOVE = "gt"
    BELOW = "lt"


_BY_SIGN = {
    "=": Operator.IN,
    "==": Operator.IN,
    "in": Operator.IN,
    "!=": Operator.NOT_IN,
    "notin": Operator.NOT_IN,
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
        if found is None or not _is_integer(found):
            return False
        above = self.operator is Operator.ABOVE
        return int(found) > int(bound) if above else int(found) < int(bound)


LabelSelector = tuple[Requirement, ...]


def parse_labels(text: str) -> LabelSelector:
    """Return the terms of a selector, none for an empty one; 400 where it cannot be read."""
    return _Parser(text).selector()


class _Parser:
    """Reads one selector from left to right."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKENS.findall(text)
        self._next = 0

    def selector(self) -> LabelSelector:
        found: list[Requirement] = []
        while self._ahead():
            if self._ahead() in _PUNCTUATION - {"!"}:
                raise self._make_unexpected_error("!, identifier, or 'end of string'")
            found.append(self._requirement())
            self._separator()
        return tuple(found)

    def _separator(self) -> None:
        if not self._ahead():
            return
        if self._ahead() != ",":
            raise self._make_unexpected_error("',' or 'end of string'")
        self._take()
        if not self._ahead() or self._ahead() in _PUNCTUATION - {"!"}:
            raise self._make_unexpected_error("identifier after ','")

    def _requirement(self) -> Requirement:
        absent = self._ahead() == "!" and self._take() == "!"
        name = self._identifier()
        _check_name(name)
        if absent:
            return Requirement(name, Operator.ABSENT)
        if self._ahead() in ("", ","):
            return Requirement(name, Operator.EXISTS)
        return self._parse_comparison(name)

    def _parse_comparison(self, name: str) -> Requirement:
        sign = self._ahead()
        if sign not in _BY_SIGN:
            raise self._make_unexpected_error(BINARY, in_requirement=True)
        self._take()
        listed = sign in ("in", "notin")
        values = self._list() if listed else frozenset({self._value()})
        operator = _BY_SIGN[sign]
        _check_values(name, operator, values)
        return Requirement(name, operator, values)

    def _list(self) -> frozenset[str]:
        if self._ahead() != "(":
            raise bad_request(f"unable to parse requirement: found '{self._ahead()}' expected: '('")
        self._take()
        values: set[str] = set()
        expects_value = True
        while self._ahead() not in ("", ")"):
            found = self._ahead()
            if found == ",":
                values |= {""} if expects_value else set()
                expects_value = True
            elif found in _PUNCTUATION or not expects_value:
                break
            else:
                values.add(found)
                expects_value = False
            self._take()
        if self._ahead() != ")":
            raise self._make_unexpected_error("',' or ')'", in_requirement=True)
        self._take()
        return frozenset(values | ({""} if expects_value else set()))

    def _value(self) -> str:
        return "" if self._ahead() in ("", ",") else self._identifier()

    def _identifier(self) -> str:
        if not self._ahead() or self._ahead() in _PUNCTUATION:
            raise self._make_unexpected_error("identifier", in_requirement=True)
        return self._take()

    def _ahead(self) -> str:
        return self._tokens[self._next] if self._next < len(self._tokens) else ""

    def _take(self) -> str:
        self._next += 1
        return str(self._tokens[self._next - 1])

    def _make_unexpected_error(self, expected: str, *, in_requirement: bool = False) -> ApiError:
        prefix = "unable to parse requirement: " if in_requirement else ""
        return bad_request(f"{prefix}found '{self._ahead()}', expected: {expected}")


def _is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def _check_name(name: str) -> None:
    prefix, slash, last = name.rpartition("/")
    if slash and not _DNS.fullmatch(prefix):
        raise _invalid(
            "<nil>",
            name,
            "prefix part a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"
            " characters, '-' or '.', and must start and end with an alphanumeric character"
            f" (e.g. 'example.com', regex used for validation is '{_DNS.pattern}')",
        )
    if len(last) > _MAX_NAME:
        raise _invalid("<nil>", name, "name part must be no more than 63 bytes")
    if not _NAME.fullmatch(last):
        raise _invalid(
            "<nil>",
            name,
            "name part must consist of alphanumeric characters, '-', '_' or '.', and must start"
            " and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc',"
            f" regex used for validation is '{_NAME.pattern}')",
        )


def _check_values(name: str, operator: Operator, values: frozenset[str]) -> None:
    for index, value in enumerate(sorted(values)):
        if operator in (Operator.ABOVE, Operator.BELOW):
            if not _is_integer(value):
                why = "for 'Gt', 'Lt' operators, the value must be an integer"
                raise _invalid(f"values[{index}]", value, why)
        elif len(value) > _MAX_NAME:
            raise _invalid(f"values[{index}][{name}]", value, "must be no more than 63 bytes")
        elif value and not _NAME.fullmatch(value):
            raise _invalid(
                f"values[{index}][{name}]",
                value,
                "a valid label must be an empty string or consist of alphanumeric characters,"
                " '-', '_' or '.', and must start and end with an alphanumeric character"
                " (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is"
                f" '({_NAME.pattern})?')",
            )


def _invalid(field: str, value: str, why: str) -> ApiError:
    return bad_request(f'unable to parse requirement: {field}: Invalid value: "{value}": {why}')
