"""A `dataclass` decorator that makes frozen classes faster than the standard library does.

A run makes some 350 of them before it does anything. The standard library compiles six functions
for each, which took a third of a run's start. Here `__init__`, `__eq__` and `__hash__` are compiled
when they are first called, as most of them never are, and all classes share the others. Values
behave the same. `InitVar` is not supported, and a class that the standard library freezes cannot
inherit from one of these.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from dataclasses import MISSING, Field, FrozenInstanceError
from typing import TYPE_CHECKING, Any, Final, NoReturn

__all__ = ["dataclass"]

_INDENT: Final = "\n    "
_SET: Final = object.__setattr__

if TYPE_CHECKING:  # for its readers, and for mypy, it is the standard library's
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool = False, slots: bool = False, **options: bool) -> Any:
        """Make a class a dataclass; `options` are those of the standard library.

        One that is not frozen with slots, has an order or is equal to itself alone is made by the
        standard library.
        """
        if frozen and slots and options.keys() <= {"kw_only"}:
            return lambda cls: _freeze(cls, **options)
        return dataclasses.dataclass(frozen=frozen, slots=slots, **options)


def _freeze(cls: type[Any], *, kw_only: bool = False) -> type[Any]:
    """Let the standard library find the fields and make the slots; add the missing methods."""
    defined = vars(cls).copy()
    make = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)
    made = make(cls)
    methods: dict[str, Callable[..., Any]] = {
        **{name: _compile_when_called(made, name) for name in _WRITERS},
        "__repr__": _represent,
        "__setattr__": _refuse_to_set,
        "__delattr__": _refuse_to_delete,
        "__getstate__": _state_of,
        "__setstate__": _set_state,
    }
    for name, method in methods.items():
        # A class that defines `__eq__` alone has None in the place of `__hash__`.
        if defined.get(name) is None:
            setattr(made, name, method)
    return made


def _compile_when_called(cls: type[Any], name: str) -> Callable[..., Any]:
    """Return a method that puts its compiled form into its own place when it is first called."""

    def method(self: Any, *positional: Any, **named: Any) -> Any:
        compiled = _compile(cls, name)
        setattr(cls, name, compiled)
        return compiled(self, *positional, **named)

    return method


def _compile(cls: type[Any], name: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"_set": _SET, "_missing": MISSING}
    exec(_WRITERS[name](cls, names), names)  # noqa: S102 - of our own fields
    method: Callable[..., Any] = names[name]
    method.__qualname__ = f"{cls.__qualname__}.{name}"
    return method


def _write_hash(cls: type[Any], _names: dict[str, Any]) -> str:
    hashed = [one.name for one in dataclasses.fields(cls) if _is_hashed(one)]
    return f"def __hash__(self):{_INDENT}return hash({_write_tuple('self', hashed)})"


def _write_eq(cls: type[Any], _names: dict[str, Any]) -> str:
    compared = [one.name for one in dataclasses.fields(cls) if one.compare]
    ours, theirs = (_write_tuple(name, compared) for name in ("self", "other"))
    lines = ("if other.__class__ is self.__class__:", f"    return {ours} == {theirs}")
    return _INDENT.join(("def __eq__(self, other):", *lines, "return NotImplemented"))


def _write_tuple(value: str, names: Iterable[str]) -> str:
    """Write the values of these fields as a tuple, which takes a NaN for equal to itself."""
    return f"({''.join(f'{value}.{name}, ' for name in names)})"


def _is_hashed(field: Field[Any]) -> bool:
    return field.compare if field.hash is None else field.hash


def _write_init(cls: type[Any], names: dict[str, Any]) -> str:
    """Write `__init__`, and put into `names` what its defaults are called there."""
    by_position: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    for one in dataclasses.fields(cls):
        name = parameter = value = one.name
        default = None
        if one.default is not MISSING:
            default = f"_default_{name}"
            names[default] = one.default
            parameter = f"{name}={default}"
        elif one.default_factory is not MISSING:
            names[f"_make_{name}"] = one.default_factory
            default = f"_make_{name}()"
            parameter, value = f"{name}=_missing", f"{default} if {name} is _missing else {name}"
        if one.init:
            (by_name if one.kw_only else by_position).append(parameter)
        elif default is None:
            continue
        else:
            value = default
        lines.append(f"_set(self, {name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *by_position, *(["*", *by_name] if by_name else [])])
    return f"def __init__({parameters}):{_INDENT}{_INDENT.join(lines or ['pass'])}"


_WRITERS: Final[dict[str, Callable[[type[Any], dict[str, Any]], str]]] = {
    "__init__": _write_init,
    "__eq__": _write_eq,
    "__hash__": _write_hash,
}
"""Write the source of the methods that have to be as fast as those of the standard library.

Each is given a dataclass, and what its source may refer to, to which it may add.
"""


def _represent(value: Any) -> str:
    shown = [one.name for one in dataclasses.fields(value) if one.repr]
    inner = ", ".join(f"{name}={getattr(value, name)!r}" for name in shown)
    return f"{type(value).__qualname__}({inner})"


def _refuse_to_set(_value: Any, name: str, _new: Any) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_value: Any, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state_of(value: Any) -> list[Any]:
    """Return what a copy is made of: without it, a copy would set attributes of a frozen value."""
    return [getattr(value, one.name) for one in dataclasses.fields(value)]


def _set_state(value: Any, state: list[Any]) -> None:
    for one, content in zip(dataclasses.fields(value), state, strict=True):
        _SET(value, one.name, content)
