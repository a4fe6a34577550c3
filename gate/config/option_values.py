"""Values of options: a class declares each as an annotated attribute with its default.

This is no model of pydantic: every run reads options, and few read checks or servers, which are
(`gate.config.checks.keys`). To import pydantic and to build a model of all options takes a fifth
of the time that an apply needs until its first request.
"""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final, Self, dataclass_transform

from gate.config.option import Form, Option
from gate.config.taking import BadValueError, Fault, FileForm, Parser, taken_by
from gate.core.frozen import dataclass
from gate.errors import UsageError
from gate.manifests.source import escape_line

_WORDS_OF_SWITCHES: Final = {
    **dict.fromkeys(("1", "on", "t", "true", "y", "yes"), True),
    **dict.fromkeys(("0", "off", "f", "false", "n", "no"), False),
}


@dataclass(frozen=True, slots=True)
class Declaration:
    """An option of a class: its name, its default, and what its annotation says."""

    name: str
    default: Any
    option: Option
    form: Form
    parser: Parser
    file_form: FileForm


class BadValuesError(ValueError):
    """Values that options do not take; `wrong` says by their names what is wrong with each."""

    def __init__(self, wrong: Mapping[str, BadValueError]) -> None:
        super().__init__("; ".join(f"{name}: {error}" for name, error in wrong.items()))
        self.wrong = dict(wrong)


@dataclass_transform(eq_default=False, kw_only_default=True, frozen_default=True)
class OptionValues:
    """Abstract: the values of the options that a class declares; immutable.

    `given` are the names of those that were not left at their defaults, `ignored` of those that a
    file or a variable has and the command does not take.
    """

    given: frozenset[str]
    ignored: frozenset[str]

    def __init__(self, **values: Any) -> None:
        """Read each value as its declaration says; BadValuesError names all that are wrong."""
        declared = declarations(type(self))
        if unknown := values.keys() - declared.keys():
            raise TypeError(f"no such option: {', '.join(sorted(unknown))}")
        found: dict[str, Any] = {}
        wrong: dict[str, BadValueError] = {}
        for name, item in declared.items():
            if name not in values and not item.parser.takes_default:
                found[name] = item.default
                continue
            try:
                found[name] = item.parser.parse(values.get(name, item.default), found)
            except BadValueError as error:
                wrong[name] = error
            except ValueError as error:  # of Python itself: an integer with too many digits
                wrong[name] = BadValueError([Fault((), str(error))])
        if wrong:
            raise BadValuesError(wrong)
        vars(self).update(found, given=frozenset(values), ignored=frozenset())

    @classmethod
    def of(cls, values: Mapping[str, Any], ignored: frozenset[str] = frozenset()) -> Self:
        """Return the options with these values, as they stand on the command line or in a file."""
        made = cls(**values)
        vars(made).update(ignored=ignored)
        return made

    def __setattr__(self, name: str, value: object) -> None:
        """Raise AttributeError: values are changed in a copy."""
        raise AttributeError(f"{name} cannot be set: make a copy by `with_values`")

    def __repr__(self) -> str:
        values = (f"{name}={getattr(self, name)!r}" for name in declarations(type(self)))
        return f"{type(self).__name__}({', '.join(values)})"

    def with_values(self, **values: Any) -> Self:
        """Return a copy in which some options have these values, which are not read again."""
        copy = object.__new__(type(self))
        vars(copy).update(vars(self) | values, given=self.given | values.keys())
        return copy


def declarations(values: type[OptionValues]) -> Mapping[str, Declaration]:
    """Return the options of a class by name; those of the last base come first."""
    if values not in _declared:
        _declared[values] = {
            name: _declaration(name, annotation, getattr(values, name))
            for base in reversed(values.__mro__)
            for name, annotation in inspect.get_annotations(base, eval_str=True).items()
            if base is not OptionValues
        }
    return _declared[values]


_declared: dict[type, Mapping[str, Declaration]] = {}


def _declaration(name: str, annotation: Any, default: object) -> Declaration:
    """Read `Annotated[KIND, ..., Option(...)]`; KIND is one of `kinds`, a closed set, or bool."""
    kind, said = annotation.__origin__, {type(item): item for item in annotation.__metadata__}
    if kind is bool:
        said |= {Form: Form(""), Parser: taken_by(_switch), FileForm: FileForm({"type": "boolean"})}
    elif isinstance(kind, enum.EnumType):
        reference = FileForm({"$ref": f"#/$defs/{kind.__name__}"}, closed_set=kind)
        said |= {Form: Form("|".join(kind)), Parser: taken_by(_member(kind)), FileForm: reference}
    return Declaration(name, default, said[Option], said[Form], said[Parser], said[FileForm])


def _switch(value: object) -> bool:
    """Take true or false, or a word or number for one."""
    if isinstance(value, int | float) and value in (0, 1):
        return bool(value)
    word = value.lower() if isinstance(value, str) else ""
    if word not in _WORDS_OF_SWITCHES:
        raise UsageError(f"neither true nor false: {escape_line(str(value))!a}")
    return _WORDS_OF_SWITCHES[word]


def _member(kind: enum.EnumType) -> Callable[[object], object]:
    """Return the parser of a closed set of words."""

    def parse(value: object) -> object:
        words = [*map(str, kind)]
        if isinstance(value, str) and value in words:
            return kind(value)
        *others, last = map(repr, words)
        known = f"{', '.join(others)} or {last}"
        raise UsageError(f"not one of {known}: {escape_line(str(value))!a}")

    return parse
