"""Read the list `checks` of a file: its checks, or everything wrong with it, each at its place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from gate.config.checks import making
from gate.config.checks.keys import (
    FORMS,
    CheckKeys,
    CommandKeys,
    HttpKeys,
    HttpQuestionKeys,
    QueryKeys,
    ReadyMadeKeys,
    keys_of,
    spelt,
)
from gate.config.checks.mapping import read_mapping, unknown_key
from gate.config.checks.scalars import quote_value
from gate.config.checks.variables import parse_query
from gate.config.taking import BadValueError, Fault, Path, inside
from gate.core.checks.query_variables import BUILT_IN
from gate.core.checks.spec import Check
from gate.core.checks.validation import faults
from gate.errors import UsageError
from gate.manifests.source import escape_line
from gate.sources.ready_made import ReadyMade, find

SOURCES: Final = tuple(FORMS)
_LIST_HINT: Final = "as in checks: [{name: errors, query: ..., max: 0.01}]"
_SOURCES_HINT: Final = f"a check has one of {', '.join(SOURCES)}"
_QUERIES: Final[tuple[Path, ...]] = (("query",), ("min-samples", "query"), ("freshness",))
_KEYS_IN_TEXT: Final = re.compile(r"[a-z]+(?:_[a-z]+)+")


def read_checks(value: object, interval_seconds: float) -> tuple[Check, ...]:
    """Take a list of mappings; BadValueError if any is wrong. Finished checks are taken as is."""
    if not isinstance(value, list | tuple):
        raise UsageError(f"not a list of checks: {quote_value(value)}", hint=_LIST_HINT)
    wrong: list[Fault] = []
    found: list[Check] = []
    for index, given in enumerate(value):
        try:
            check = given if isinstance(given, Check) else read_check(given, interval_seconds)
            found.append(check)
        except BadValueError as error:
            wrong += _name_faults(error.faults, index, given)
    wrong += _twice(value)
    if wrong:
        raise BadValueError(wrong)
    return tuple(found)


def read_check(given: object, interval_seconds: float) -> Check:
    """Take one mapping; BadValueError has all that is wrong, with paths inside it."""
    if not isinstance(given, Mapping):
        raise BadValueError(
            [Fault((), f"not a mapping of a check: {quote_value(given)}", _LIST_HINT)]
        )
    source = _source(given)
    keys, wrong = _keys(FORMS[source], given)
    wrong += _query_faults(given)
    if keys is None or wrong:
        raise BadValueError(wrong)
    check = _make_check(keys, given, interval_seconds)
    found = faults(check)
    if found:
        raise BadValueError([_locate_fault(text, given) for text in found])
    return check


def _source(given: Mapping[str, Any]) -> str:
    named = [source for source in SOURCES if source in given]
    if len(named) == 1:
        return named[0]
    if not named:
        unknown = [unknown_key(str(key), _all_keys()) for key in given if key not in _all_keys()]
        raise BadValueError([Fault((), "asks nothing", _SOURCES_HINT), *unknown])
    raise BadValueError([Fault((named[1],), f"both {named[0]} and {named[1]}", _SOURCES_HINT)])


def _all_keys() -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for form in FORMS.values() for key in keys_of(form)))


# -- the form --------------------------------------------------------------------------------------


def _keys(form: type[CheckKeys], given: Mapping[str, Any]) -> tuple[CheckKeys | None, list[Fault]]:
    keys, wrong = read_mapping(form, given)
    return keys, [_at_home(fault, form) for fault in wrong]


def _at_home(fault: Fault, form: type[CheckKeys]) -> Fault:
    """Say where an unknown key belongs, if checks of another source have it."""
    word = str(fault.path[0]) if fault.path else ""
    if len(fault.path) != 1 or word in keys_of(form):
        return fault
    if form is HttpKeys and spelt(word) in keys_of(HttpQuestionKeys):
        return replace(fault, message=f'"{spelt(word)}" stands under "http"')
    homes = [source for source, other in FORMS.items() if word in keys_of(other)]
    return replace(fault, message=f"goes with {' or '.join(homes)} alone") if homes else fault


# -- the queries -----------------------------------------------------------------------------------


def _query_faults(given: Mapping[str, Any]) -> list[Fault]:
    """Return what is wrong with the texts of queries, even if other keys are wrong too."""
    variables = given.get("variables")
    names = [*variables] if isinstance(variables, Mapping) else []
    made = _ready_made(given)
    theirs = made.keys.get("variables", {}) if made else {}
    known = BUILT_IN | set(names) | set(theirs)
    return [fault for path in _QUERIES if (fault := _query_fault(given, path, known))]


def _query_fault(given: Mapping[str, Any], path: Path, known: frozenset[str]) -> Fault | None:
    value: Any = given
    for step in path:
        value = value.get(step) if _is_map(value) else None
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        parse_query(value, known)
    except UsageError as error:
        return Fault(path, error.message, error.hint)
    return None


def _is_map(value: object) -> bool:
    return isinstance(value, Mapping)


def _ready_made(given: Mapping[str, Any]) -> ReadyMade | None:
    try:
        return (
            find(given["use"], given.get("metrics")) if isinstance(given.get("use"), str) else None
        )
    except UsageError:
        return None


# -- the whole -------------------------------------------------------------------------------------


def _make_check(keys: CheckKeys, given: Mapping[str, Any], interval_seconds: float) -> Check:
    match keys:
        case ReadyMadeKeys():
            return making.query_check(_complete_keys(keys, given), interval_seconds)
        case QueryKeys():
            _check_comparison(keys)
            return making.query_check(keys, interval_seconds)
        case HttpKeys():
            return making.http_check(keys, interval_seconds)
        case CommandKeys():
            return making.command_check(keys, interval_seconds)
    raise TypeError(type(keys))


def _complete_keys(keys: ReadyMadeKeys, given: Mapping[str, Any]) -> QueryKeys:
    try:
        made = find(keys.use, keys.metrics)
    except UsageError as error:
        raise BadValueError([Fault(("metrics",), error.message, error.hint)]) from error
    missing = [*making.missing_variables(made, keys)]
    if missing:
        hint = f"as in variables: {{{missing[0]}: web}}"
        text = f"{made.name} for {made.metrics} needs the variable {', '.join(missing)}"
        raise BadValueError([Fault(("variables",), text, hint)])
    whole, wrong = _keys(QueryKeys, making.complete_keys(made, given))
    if not isinstance(whole, QueryKeys):
        raise BadValueError(wrong)
    _check_comparison(whole)
    return whole


def _check_comparison(keys: QueryKeys) -> None:
    """Refuse a comparison that names neither a ratio nor a test, or mixes both."""
    how = keys.compare
    if how is None:
        return
    by_test = {"alpha": how.alpha, "tolerance": how.tolerance}
    by_ratio = {"max-ratio": how.max_ratio, "min-delta": how.min_delta}
    strangers = by_ratio if how.test else by_test
    strange = [key for key, value in strangers.items() if value is not None]
    hint = "either {max-ratio, min-delta} or {test: mann-whitney, alpha, tolerance}"
    if strange:
        word = "does not go with test" if how.test else "goes with test: mann-whitney alone"
        raise BadValueError([Fault(("compare", strange[0]), word, hint)])
    if how.test is None and how.max_ratio is None:
        raise BadValueError([Fault(("compare",), "says neither max-ratio nor test", hint)])


def _locate_fault(text: str, given: Mapping[str, Any]) -> Fault:
    """Return one of the core's complaints in the spelling of a file, at the key that it names."""
    told = _KEYS_IN_TEXT.sub(lambda match: spelt(match[0]), text) if "${" not in text else text
    path = _key_named(told, given)
    return Fault(path, told.removeprefix(f"{path[-1]} ") if path else told)


def _key_named(text: str, given: Mapping[str, Any]) -> Path:
    """Return the path of the first given key that a complaint names, () if there is none."""
    for word in re.findall(r"[a-z]+(?:-[a-z]+)*", text.replace("json path", "json-path")):
        if word in given:
            return (word,)
        for mapping in ("http", "compare"):
            if isinstance(given.get(mapping), Mapping) and word in given[mapping]:
                return (mapping, word)
    return ()


# -- the list --------------------------------------------------------------------------------------


def _name_faults(wrong: Sequence[Fault], index: int, given: object) -> Iterator[Fault]:
    subject = _subject(given, index)
    for fault in wrong:
        about = f"{subject}: {inside(fault.path)}" if fault.path else subject
        yield replace(fault, path=(index, *fault.path), subject=about)


def _subject(given: object, index: int) -> str:
    name = _name(given)
    return escape_line(name, 63) if name else f"check {index + 1}"


def _name(given: object) -> str:
    if isinstance(given, Check):
        return given.name
    name = given.get("name", given.get("use")) if isinstance(given, Mapping) else None
    return name if isinstance(name, str) else ""


def _twice(value: Sequence[object]) -> Iterator[Fault]:
    """Yield a complaint for each check whose name an earlier one has."""
    names = [_name(given) for given in value]
    for index, name in enumerate(names):
        if name and name in names[:index]:
            first = names.index(name) + 1
            text = f"a second check of that name, after check {first}"
            path: Path = (index, "name") if "name" in _keys_given(value[index]) else (index,)
            yield Fault(path, text, "a result names its check", escape_line(name, 63))


def _keys_given(given: object) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}
