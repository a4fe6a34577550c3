"""Read the list `checks` of a file: its checks, or everything wrong with it, each at its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, TypeVar

from gate.config.checks import making
from gate.config.checks.keys import (
    FORMS,
    AnyCheckKeys,
    CommandKeys,
    CountKeys,
    HttpKeys,
    HttpQuestionKeys,
    QueryKeys,
    ReadyMadeCountKeys,
    ReadyMadeKeys,
    keys_of,
    spelt,
)
from gate.config.checks.mapping import read_mapping, unknown_key
from gate.config.checks.scalars import quote_value
from gate.config.taking import BadValueError, Fault, Path, inside
from gate.core.checks.spec import Check
from gate.core.kinds.check_variables import BUILT_IN, OF_ONE_VERSION
from gate.errors import UsageError
from gate.manifests.source import escape_line
from gate.sources.ready_made import ReadyMade, find

SOURCES: Final = tuple(FORMS)
_LIST_HINT: Final = "as in checks: [{name: errors, query: ..., max: 0.01}]"
_SOURCES_HINT: Final = f"a check has one of {', '.join(SOURCES)}; with bad goes total"

Form = TypeVar("Form", bound=AnyCheckKeys)


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
    keys = _keys(_form(given), given, _variables(given))
    return _make_check(keys, given, interval_seconds)


def _source(given: Mapping[str, Any]) -> str:
    named = [source for source in SOURCES if source in given]
    if len(named) == 1:
        return named[0]
    if not named:
        unknown = [unknown_key(str(key), _all_keys()) for key in given if key not in _all_keys()]
        raise BadValueError([Fault((), "asks nothing", _SOURCES_HINT), *unknown])
    raise BadValueError([Fault((named[1],), f"both {named[0]} and {named[1]}", _SOURCES_HINT)])


def _form(given: Mapping[str, Any]) -> type[AnyCheckKeys]:
    """Return the model of a mapping's keys."""
    source, made = _source(given), _ready_made(given)
    is_by_counts = source == "use" and made is not None and made.is_by_counts
    return ReadyMadeCountKeys if is_by_counts else FORMS[source]


def _all_keys() -> tuple[str, ...]:
    return tuple(dict.fromkeys(key for form in FORMS.values() for key in keys_of(form)))


# -- the form --------------------------------------------------------------------------------------


def _keys(form: type[Form], given: Mapping[str, Any], variables: frozenset[str]) -> Form:
    keys, wrong = read_mapping(form, given, variables)
    if keys is None:
        raise BadValueError([_at_home(fault, form) for fault in wrong])
    return keys


def _at_home(fault: Fault, form: type[AnyCheckKeys]) -> Fault:
    """Say where an unknown key belongs, if checks of another source have it."""
    word = str(fault.path[0]) if fault.path else ""
    if len(fault.path) != 1 or word in keys_of(form):
        return fault
    if form is HttpKeys and spelt(word) in keys_of(HttpQuestionKeys):
        return replace(fault, message=f'"{spelt(word)}" stands under "http"')
    homes = [source for source, other in FORMS.items() if word in keys_of(other)]
    if form is ReadyMadeCountKeys:
        homes = [home for home in homes if home != "use"]
    return replace(fault, message=f"goes with {' or '.join(homes)} alone") if homes else fault


def _variables(given: Mapping[str, Any]) -> frozenset[str]:
    """Return the variables that the queries of a check may use, even if one of them is wrong."""
    variables = given.get("variables")
    names = [*variables] if isinstance(variables, Mapping) else []
    made = _ready_made(given)
    theirs = made.keys.get("variables", {}) if made else {}
    return BUILT_IN | set(names) | set(theirs)


def _ready_made(given: Mapping[str, Any]) -> ReadyMade | None:
    try:
        return (
            find(given["use"], given.get("metrics")) if isinstance(given.get("use"), str) else None
        )
    except UsageError:
        return None


# -- the whole -------------------------------------------------------------------------------------


def _make_check(keys: AnyCheckKeys, given: Mapping[str, Any], interval_seconds: float) -> Check:
    match keys:
        case ReadyMadeKeys():
            return making.query_check(_complete_keys(QueryKeys, keys, given), interval_seconds)
        case ReadyMadeCountKeys():
            return making.count_check(_complete_keys(CountKeys, keys, given), interval_seconds)
        case QueryKeys():
            return making.query_check(keys, interval_seconds)
        case CountKeys():
            return making.count_check(keys, interval_seconds)
        case HttpKeys():
            return making.http_check(keys, interval_seconds)
        case CommandKeys():
            return making.command_check(keys, interval_seconds)
    raise TypeError(type(keys))


def _complete_keys(
    form: type[Form], keys: ReadyMadeKeys | ReadyMadeCountKeys, given: Mapping[str, Any]
) -> Form:
    try:
        made = find(keys.use, keys.metrics)
    except UsageError as error:
        raise BadValueError([Fault(("metrics",), error.message, error.hint)]) from error
    if keys.pods is not None:
        made = _with_pods(made, keys.pods)
    missing = [*making.missing_variables(made, keys)]
    if missing:
        hint = f"as in variables: {{{missing[0]}: web}}"
        text = f"{made.name} for {made.metrics} needs the variable {', '.join(missing)}"
        raise BadValueError([Fault(("variables",), text, hint)])
    try:
        return _keys(form, making.complete_keys(made, given), _variables(given))
    except BadValueError as error:
        raise BadValueError([_at_given(fault, given) for fault in error.faults]) from error


def _with_pods(made: ReadyMade, selector: str) -> ReadyMade:
    """Return a ready-made check with a selector for the pods of a version."""
    if not made.selects_pods:
        text = f"{made.name} for {made.metrics} selects no pods"
        raise BadValueError([Fault(("pods",), text, "leave it out")])
    if not any(f"${{{name}}}" in selector for name in OF_ONE_VERSION):
        names = " or ".join(f"${{{name}}}" for name in OF_ONE_VERSION)
        text = f"has to name {names}: it is about one version"
        hint = """as in pods: 'controller_revision_hash="${controller_revision_hash}"'"""
        raise BadValueError([Fault(("pods",), text, hint)])
    return made.with_pods(selector)


def _at_given(fault: Fault, given: Mapping[str, Any]) -> Fault:
    """Return a fault that is about no given key, but about one of the ready-made check, at none."""
    if not fault.path or fault.path[0] in given:
        return fault
    return replace(fault, path=(), message=f"{inside(fault.path)}: {fault.message}")


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
