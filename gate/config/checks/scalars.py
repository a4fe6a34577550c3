"""Parsers for the leaf values of a check in a file: each takes what YAML gave, without guessing.

A boolean is not a number and a number is not text: wrong values are UsageErrors without a place.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, TypeVar

from gate.config.option import closest
from gate.config.parsing import parse_duration, parse_limit, parse_text
from gate.core.checks import json_path
from gate.core.checks.json_path import JsonPath
from gate.core.checks.spec import SHORTEST_INTERVAL_SECONDS
from gate.core.model.objects import SUBDOMAIN
from gate.errors import UsageError
from gate.manifests.source import escape_line
from gate.sources.address import SERVICE, Address

MOST_COUNT: Final = 1_000_000
MOST_REDIRECTS: Final = 10
NAME: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._ -]{0,61}[A-Za-z0-9])?", re.ASCII)
NAME_HINT: Final = "up to 63 letters, digits, spaces and . _ -, a letter or digit at both ends"
STATUS: Final = re.compile(r"([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?", re.ASCII)

Member = TypeVar("Member", bound=enum.StrEnum)


def quote_value(value: object) -> str:
    """Return a value as a message shows it: one short line, without the contents of a mapping."""
    if isinstance(value, Mapping | list | tuple):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    spelt = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{escape_line(spelt, 60)!a}"


def number(value: object) -> float:
    """Take a finite number."""
    try:
        figure = _float(value)
    except OverflowError:
        figure = math.inf
    if not math.isfinite(figure):
        raise UsageError(
            f"not a number: {quote_value(value)}", hint="as in 0.5 or 1e3, without quotes"
        )
    return figure


def _float(value: Any) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else math.nan


def positive(value: object) -> float:
    """Take a number above 0."""
    figure = number(value)
    if figure <= 0:
        raise UsageError(f"must be above 0: {quote_value(value)}")
    return figure


def not_negative(value: object) -> float:
    """Take a number of at least 0."""
    figure = number(value)
    if figure < 0:
        raise UsageError(f"must be 0 or more: {quote_value(value)}")
    return figure


def ratio(value: object) -> float:
    """Take a factor of at least 1."""
    figure = number(value)
    if figure < 1:
        raise UsageError(
            f"must be 1 or more: {quote_value(value)}", hint="1.5 is half as much again"
        )
    return figure


def alpha(value: object) -> float:
    """Take a probability at which a test rejects: above 0, at most 0.5."""
    figure = number(value)
    if not 0 < figure <= 0.5:  # noqa: PLR2004 - core's bound
        raise UsageError(f"must be above 0 and at most 0.5: {quote_value(value)}")
    return figure


def count(least: int, most: int = MOST_COUNT) -> Callable[[object], int]:
    """Return a parser of whole numbers from `least` to `most`."""

    def parse(value: object) -> int:
        figure = number(value)
        if not figure.is_integer() or not least <= figure <= most:
            raise UsageError(f"not a whole number from {least} to {most}: {quote_value(value)}")
        return int(figure)

    return parse


def switch(value: object) -> bool:
    """Take true or false."""
    if not isinstance(value, bool):
        raise UsageError(f"neither true nor false: {quote_value(value)}")
    return value


def member(kind: type[Member]) -> Callable[[object], Member]:
    """Return a parser of the members of a closed set."""

    def parse(value: object) -> Member:
        try:
            return kind(one_of(kind)(value))
        except ValueError as error:
            raise UsageError(str(error)) from error

    return parse


def one_of(words: Iterable[str]) -> Callable[[object], str]:
    """Return a parser that takes one of these words."""
    known = [str(word) for word in words]

    def parse(value: object) -> str:
        if isinstance(value, str) and value in known:
            return value
        guess = closest(value, known) if isinstance(value, str) else ""
        suggestion = f" (did you mean {guess}?)" if guess else ""
        raise UsageError(f"not one of {', '.join(known)}: {quote_value(value)}{suggestion}")

    return parse


def interval(value: object) -> float:
    """Take a duration of at least a second."""
    seconds = parse_duration(value)
    if seconds < SHORTEST_INTERVAL_SECONDS:
        raise UsageError(f"must be {SHORTEST_INTERVAL_SECONDS:g}s or more: {quote_value(value)}")
    return seconds


delay = parse_duration
limit = parse_limit
text = parse_text


def name(value: object) -> str:
    """Take the name of a check."""
    word = parse_text(value)
    if NAME.fullmatch(word) is None:
        raise UsageError(f"not a check's name: {quote_value(word)}", hint=NAME_HINT)
    return word


def deployment(value: object) -> str:
    """Take the bare name of a Deployment."""
    word = parse_text(value)
    if SUBDOMAIN.fullmatch(word) is None:
        raise UsageError(f"not the name of a Deployment: {quote_value(word)}", hint="as in web")
    return word


def url(value: object) -> str:
    """Take an address; whether it may be link-local is checked once all options are known."""
    return Address.parse(parse_text(value), allow_link_local=True).url


def service_url(value: object) -> str:
    """Take the address of a service under test, as `url` does."""
    return Address.parse(parse_text(value), allow_link_local=True, example=SERVICE).url


def status(value: object) -> tuple[int, int]:
    """Take a status or a range of them."""
    spelt = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    match = STATUS.fullmatch(spelt)
    if match is None:
        raise UsageError(f"not a status: {quote_value(value)}", hint="as in 200 or 200-299")
    low, high = int(match[1]), int(match[2] or match[1])
    if low > high:
        raise UsageError(f"a range of no status: {quote_value(value)}", hint=f"as in {high}-{low}")
    return low, high


def method(value: object) -> Literal["GET", "HEAD"]:
    """Take a method that changes nothing."""
    return "HEAD" if one_of(("GET", "HEAD"))(value) == "HEAD" else "GET"


def path_in_json(value: object) -> JsonPath:
    """Take the path of a number in a document."""
    try:
        return json_path.parse(parse_text(value))
    except ValueError as error:
        raise UsageError(str(error)) from error


def words(value: object) -> tuple[str, ...]:
    """Take an argument vector."""
    if not isinstance(value, list | tuple) or not value:
        hint = "no shell reads it, as in [curl, --fail, https://web.example/healthz]"
        raise UsageError("not a list of words", hint=hint)
    for word in value:
        if not isinstance(word, str) or "\0" in word:
            raise UsageError(f"not a word: {quote_value(word)}", hint="put it in quotes")
    if not value[0].strip():
        raise UsageError("has no command")
    return tuple(value)
