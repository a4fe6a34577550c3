"""Parsers for values of a check that become another type: each takes what YAML gave.

Wrong values are UsageErrors without a place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from gate.config.option import closest
from gate.config.parsing import parse_duration, parse_text
from gate.core.checks import json_path
from gate.core.checks.json_path import JsonPath
from gate.core.checks.spec import SHORTEST_INTERVAL_SECONDS
from gate.core.model.objects import SUBDOMAIN
from gate.errors import UsageError
from gate.manifests.source import escape_line
from gate.sources.address import SERVICE, Address

STATUS: Final = re.compile(r"([1-5][0-9]{2})(?:-([1-5][0-9]{2}))?", re.ASCII)

WORKLOAD_NAME: Final = re.compile(rf"(?:[a-z]+/)?{SUBDOMAIN.pattern}", re.ASCII)
"""A workload as `web`, or with its kind as `statefulset/web`."""


def quote_value(value: object) -> str:
    """Return a value as a message shows it: one short line, without the contents of a mapping."""
    if isinstance(value, Mapping | list | tuple):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    spelt = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{escape_line(spelt, 60)!a}"


def one_of(words: Iterable[str]) -> Callable[[object], str]:
    """Return a parser that takes one of these words."""
    known = [str(word) for word in words]

    def parse(value: object) -> str:
        if isinstance(value, str) and value in known:
            return value
        raise UsageError(not_one_of(known, value))

    return parse


def not_one_of(words: Sequence[str], value: object) -> str:
    """Return the complaint about a value that is none of these words, with the one likely meant."""
    guess = closest(value, words) if isinstance(value, str) else ""
    suggestion = f" (did you mean {guess}?)" if guess else ""
    return f"not one of {', '.join(words)}: {quote_value(value)}{suggestion}"


def interval(value: object) -> float:
    """Take a duration of at least a second."""
    seconds = parse_duration(value)
    if seconds < SHORTEST_INTERVAL_SECONDS:
        raise UsageError(f"must be {SHORTEST_INTERVAL_SECONDS:g}s or more: {quote_value(value)}")
    return seconds


def deployment(value: object) -> str:
    """Take the name of a workload, with its kind where two have that name."""
    word = parse_text(value)
    if WORKLOAD_NAME.fullmatch(word) is None:
        hint = "as in web, or statefulset/web"
        raise UsageError(f"not the name of a workload: {quote_value(word)}", hint=hint)
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
