"""The text of a query and its variables: `${name}`, escaped for its place.

PromQL has three places: inside a string, inside a string that is a regular expression (after `=~`
or `!~`), and outside of strings, where a value has to be a single token. Comments are left alone.
`$${` stands for `${`; `${1}` is a group of `label_replace`, and left alone as well.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import Final

from gate.core.frozen import dataclass

MOST_CHARACTERS: Final = 8192
"""The longest query; proxies refuse longer ones, and nobody writes them."""

_TOKEN: Final = re.compile(
    r"[A-Za-z_:][A-Za-z0-9_:]*|[0-9]+(?:\.[0-9]+)?|(?:[0-9]+(?:ms|[smhdwy]))+", re.ASCII
)
"""What a value may be outside of a string: an identifier, a number or a duration, no more."""
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_RE2_META: Final = re.compile(r"[\\.+*?()|\[\]{}^$]")
"""What Go's `regexp.QuoteMeta` escapes."""
_VARIABLES: Final = (
    r"(?P<literal>\$\$\{)"
    r"|(?P<group>\$\{[0-9]+\})"
    r"|\$\{(?P<name>[^{}\"'`\s]*)\}"
    r"|(?P<broken>\$\{)"
)
_ENDS: Final = r"|(?P<quote>[\"'`])|(?P<other>.)"
_CODE: Final = re.compile(
    rf"{_VARIABLES}|(?P<space>#[^\n]*|\s+)|(?P<regex>[=!]~){_ENDS}", re.DOTALL
)
_QUOTED: Final = re.compile(rf"{_VARIABLES}|(?P<escaped>\\.){_ENDS}", re.DOTALL)
_RAW: Final = re.compile(rf"{_VARIABLES}{_ENDS}", re.DOTALL)
_NO_CODE: Final = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|`[^`]*`|#[^\n]*', re.DOTALL)
"""Strings and comments of PromQL."""
_HINT: Final = "variables are ${name}; write $${ where ${ is meant"


class QueryError(ValueError):
    """A query that cannot be used; `position` counts its characters from 1, `hint` may be empty."""

    def __init__(self, message: str, position: int, hint: str = "") -> None:
        super().__init__(f"{message} (at character {position})")
        self.position = position
        self.hint = hint


class Place(enum.StrEnum):
    """The place of a variable, named by what protects the query from its value."""

    BARE = "bare"
    DOUBLE_QUOTED = '"'
    SINGLE_QUOTED = "'"
    RAW = "`"


@dataclass(frozen=True, slots=True)
class Variable:
    """One `${name}` of a query; `regex` if the string around it is a regular expression."""

    name: str
    place: Place
    regex: bool
    position: int

    def escape(self, value: str) -> str:
        """Return `value` for this place; QueryError if no escape makes it safe."""
        if self.place is Place.BARE:
            return self._as_token(value)
        text = _RE2_META.sub(r"\\\g<0>", value) if self.regex else value
        if self.place is Place.RAW:
            return self._as_raw(text)
        text = text.replace("\\", "\\\\").replace(self.place, "\\" + self.place)
        return "".join(char if char.isprintable() else _code_point(char) for char in text)

    def _as_token(self, value: str) -> str:
        if _TOKEN.fullmatch(value) is None:
            raise _make_unquoted_error(self)
        return value

    def _as_raw(self, text: str) -> str:
        if "`" in text or not text.isprintable():
            hint = "use double quotes"
            raise QueryError(f"${{{self.name}}} cannot stand in backticks", self.position, hint)
        return text


def _code_point(char: str) -> str:
    return f"\\U{ord(char):08x}"


@dataclass(frozen=True, slots=True)
class Query:
    """A query, parsed once: text and variables in turn."""

    text: str
    parts: tuple[str | Variable, ...] = field(repr=False)

    @classmethod
    def parse(cls, text: str, known: Collection[str], quoted: Collection[str] = ()) -> Query:
        """Read a query that may name the variables in `known`; QueryError with its position.

        Those in `quoted` may stand in strings alone.
        """
        if not text.strip():
            raise QueryError("the query is empty", 1)
        if len(text) > MOST_CHARACTERS:
            raise QueryError(f"the query has over {MOST_CHARACTERS} characters", MOST_CHARACTERS)
        parts = tuple(_join_texts(_parts(text)))
        for part in parts:
            if isinstance(part, Variable):
                _check(part, known, quoted)
        return cls(text, parts)

    @property
    def names(self) -> frozenset[str]:
        """The variables that are named."""
        return frozenset(part.name for part in self.parts if isinstance(part, Variable))

    def missing(self, values: Mapping[str, str]) -> str | None:
        """Return the first variable that `values` lacks, None if all are there."""
        named = (part.name for part in self.parts if isinstance(part, Variable))
        return next((name for name in named if name not in values), None)

    def resolve(self, values: Mapping[str, str]) -> str:
        """Return the query with each variable replaced; KeyError for one that is missing."""
        return "".join(
            part if isinstance(part, str) else part.escape(values[part.name]) for part in self.parts
        )

    def within(self, before: str, after: str) -> Query:
        """Return a query with fixed text around this one."""
        parts = tuple(_join_texts([before, *self.parts, after]))
        return Query(f"{before}{self.text}{after}", parts)

    def combine(self, between: str, other: Query) -> Query:
        """Return a query with fixed text between this one and another."""
        parts = tuple(_join_texts([*self.parts, between, *other.parts]))
        return Query(f"{self.text}{between}{other.text}", parts)


def strip_text(query: str) -> str:
    """Return a query without its strings and comments."""
    return _NO_CODE.sub("", query)


def _parts(text: str) -> Iterator[str | Variable]:
    """Walk through a query as Prometheus' lexer does, as far as strings and comments go."""
    quote, regex, at = "", False, 0
    while at < len(text):
        match = _match_piece(text, at, quote)
        at, kind, piece = match.end(), match.lastgroup, match[0]
        if kind == "name":
            yield _variable(match, quote, regex=regex)
            continue
        yield "${" if kind == "literal" else piece
        if quote:
            quote, regex = ("", False) if piece == quote else (quote, regex)
        elif kind == "quote":
            quote = piece
        elif kind != "space":
            regex = kind == "regex"


def _match_piece(text: str, at: int, quote: str) -> re.Match[str]:
    """Return the next piece; it is at least one character."""
    pattern = _CODE if not quote else _RAW if quote == Place.RAW else _QUOTED
    match = pattern.match(text, at)
    if match is None or match.lastgroup == "broken":
        raise QueryError("a variable that does not end", at + 1, _HINT)
    return match


def _variable(match: re.Match[str], quote: str, *, regex: bool) -> Variable:
    name, position = match["name"], match.start() + 1
    if _NAME.fullmatch(name) is None:
        raise QueryError(f"not a variable: ${{{name[:60]}}}", position, _HINT)
    place = Place(quote) if quote else Place.BARE
    return Variable(name, place, regex and bool(quote), position)


def _join_texts(parts: Iterator[str | Variable] | list[str | Variable]) -> Iterator[str | Variable]:
    """Join neighbouring texts."""
    text: list[str] = []
    for part in parts:
        if isinstance(part, str):
            text.append(part)
            continue
        if text:
            yield "".join(text)
            text = []
        yield part
    if text:
        yield "".join(text)


def _check(variable: Variable, known: Collection[str], quoted: Collection[str]) -> None:
    """Refuse a variable without a value, and one whose value only a string can hold.

    The name of a revision is never a token, and it is chance whether a hash is one: a query that
    works for one version could break in the middle of a rollout to the next.
    """
    if variable.name not in known:
        hint = f"known are {', '.join(sorted(known)) or 'none'}"
        raise QueryError(f"unknown variable ${{{variable.name}}}", variable.position, hint)
    if variable.name in quoted and variable.place is Place.BARE:
        raise _make_unquoted_error(variable)


def _make_unquoted_error(variable: Variable) -> QueryError:
    message = f"${{{variable.name}}} cannot stand outside a string"
    return QueryError(message, variable.position, "put it in quotes, as a label's value")
