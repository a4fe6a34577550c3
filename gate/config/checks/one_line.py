"""Checks as flags: `name: QUERY <= 0.5`, a URL, a command line."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import urlsplit

from gate.config.checks import scalars
from gate.config.checks.reading import read_check
from gate.config.checks.values import NAME
from gate.config.parsing import parse_text, parse_texts
from gate.config.taking import BadValueError, Fault
from gate.core.checks.spec import Check, During
from gate.errors import UsageError

_FORM: Final = "'name: QUERY <= 0.5' or 'name: QUERY >= 2'"
_CHECK: Final = re.compile(r"(?P<name>[^:]*):\s(?P<rest>.*)", re.DOTALL)
_UNNAMED: Final = "check"
_LONGEST_NAME: Final = 57
"""Leaves room for a number after it."""
_PIECE: Final = re.compile(
    r"""(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|`[^`]*`)"""
    r"""|(?P<comment>\#[^\n]*)|(?P<variable>\$\$?\{[^{}]*\})"""
    r"""|(?P<open>[(\[{])|(?P<close>[)\]}])"""
    r"""|(?P<comparison><=|>=|==|!=|<|>)|(?P<other>=~|!~|.)""",
    re.DOTALL,
)
_NUMBER: Final = re.compile(
    r"""[+-]?(?:0[xX][0-9a-fA-F]+
    |(?:[0-9]+(?:_[0-9]+)*(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)""",
    re.VERBOSE | re.ASCII,
)
"""PromQL's floats; infinities and NaN cannot be bounds."""


def by_query(text: str, interval_seconds: float) -> Check:
    """Read `name: QUERY <= 0.5`: the last comparison outside of brackets is the bound."""
    match = _CHECK.fullmatch(text.strip())
    if match is None:
        shown = scalars.quote_value(text)
        raise UsageError(f"not of the form NAME: QUERY <= BOUND: {shown}", hint=_FORM)
    name = match["name"].strip()
    query, sign, figure = _split(match["rest"])
    if not query:
        raise UsageError(f"{name}: the query is empty", hint=_FORM)
    bound = {"min" if sign == ">=" else "max": _parse_bound(name, sign, figure)}
    return _read({"name": name, "query": query, **bound}, interval_seconds, about=f"{name}: ")


def by_url(text: str, interval_seconds: float) -> Check:
    """Read a URL whose reply has to be 2xx; the check is named after host and path."""
    check = _read({"name": _UNNAMED, "http": {"url": text.strip()}}, interval_seconds)
    parts = urlsplit(text.strip())
    return replace(check, name=_make_name(f"{parts.netloc}{parts.path}"))


_QUOTED: Final = re.compile(r"\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
"""An escaped character counts as quoted; a quote escaped, or inside other quotes, opens nothing."""
_ESCAPED: Final = re.compile(r"\\.", re.DOTALL)
_EXPANDED: Final = re.compile(r"\$(?=[A-Za-z_{(0-9?@*#!$-])|`")
_SIGN: Final = re.compile(rf"\|\|?|&&?|;|>>?|<<?|{_EXPANDED.pattern}")


def by_command(text: str, interval_seconds: float) -> Check:
    """Read a command line, as a shell splits it; the check is named after the program.

    It runs once, when the new version is complete: earlier it would meet both versions, and each
    run may leave traces.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        hint = "quotes come in pairs, as in a shell"
        raise UsageError("not a command line", hint=hint) from error
    given = {"name": _UNNAMED, "command": words, "count": 1, "during": During.BAKE.value}
    check = _read(given, interval_seconds)
    if sign := _shell_sign(text):
        hint = f"sh -c {shlex.quote(text.strip())} runs it in one; in single quotes it is text"
        raise UsageError(f"{sign} is for a shell, and commands run without one", hint=hint)
    return replace(check, name=_make_name(PurePosixPath(words[0]).name))


def _shell_sign(text: str) -> str:
    """Return the first sign of a command line that a shell would act on, or ""."""
    double = "".join(part for part in _QUOTED.findall(text) if part.startswith('"'))
    found = _EXPANDED.search(_ESCAPED.sub("", double))
    found = found or _SIGN.search(_QUOTED.sub(" ", text))
    return found.group() if found else ""


def parse_checks(
    value: object, parse: Callable[[str, float], Check], interval_seconds: float
) -> tuple[Check, ...]:
    """Take a list of texts, or finished checks; equal names derived from texts get a number."""
    items = value if isinstance(value, list | tuple) else parse_texts(value)
    checks: list[Check] = []
    wrong: list[Fault] = []
    for index, item in enumerate(items):
        try:
            finished = isinstance(item, Check)
            checks.append(item if finished else parse(parse_text(item), interval_seconds))
        except UsageError as error:
            wrong.append(Fault((index,), error.message, error.hint, subject=""))
    if wrong:
        raise BadValueError(wrong)
    return tuple(checks if parse is by_query else _number_equal_names(checks))


def _number_equal_names(checks: list[Check]) -> Iterator[Check]:
    seen: dict[str, int] = {}
    for check in checks:
        seen[check.name] = seen.get(check.name, 0) + 1
        number = seen[check.name]
        yield check if number == 1 else replace(check, name=f"{check.name} {number}")


def _split(text: str) -> tuple[str, str, str]:
    """Return query, sign and what follows it, at the last comparison outside of brackets."""
    depth, found = 0, None
    for match in _PIECE.finditer(text):
        depth += {"open": 1, "close": -1}.get(match.lastgroup or "", 0)
        if match.lastgroup == "comparison" and depth == 0:
            found = match
    if found is None:
        wrong = "brackets that do not match" if depth else "has no bound"
        raise UsageError(f"{wrong}: {scalars.quote_value(text)}", hint=_FORM)
    return text[: found.start()].strip(), found[0], text[found.end() :].strip()


def _parse_bound(name: str, sign: str, figure: str) -> float:
    if sign not in ("<=", ">="):
        meant = {"<": "<=", ">": ">="}.get(sign)
        said = f"bounds are inclusive: {meant}" if meant else "a file can say min and max"
        raise UsageError(f"{name}: {sign} is no bound ({said})", hint=_FORM)
    if _NUMBER.fullmatch(figure) is None:
        hint = f"{_FORM}; a comparison of the query's own stands in brackets"
        raise UsageError(
            f"{name}: not a number behind {sign}: {scalars.quote_value(figure)}", hint=hint
        )
    digits = figure.replace("_", "")
    hexadecimal = "x" in digits.lower()
    bound = float(int(digits, 16)) if hexadecimal else float(digits)
    if not math.isfinite(bound):
        raise UsageError(f"{name}: too large a number: {scalars.quote_value(figure)}")
    return bound


def _make_name(text: str) -> str:
    """Return a check's name that reads like `text`."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:_LONGEST_NAME]
    name = re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9]+$", "", name)
    return name if NAME.fullmatch(name) else _UNNAMED


def _read(given: Mapping[str, Any], interval_seconds: float, about: str = "") -> Check:
    """Read a check as if it stood in a file; UsageError with the first thing that is wrong."""
    try:
        return read_check(given, interval_seconds)
    except BadValueError as error:
        fault = error.faults[0]
        subject = "" if fault.path == ("name",) else about
        raise UsageError(f"{subject}{fault.message}", hint=fault.hint) from error
