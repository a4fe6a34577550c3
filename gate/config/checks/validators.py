"""Make pydantic validators of parsers, for the models of checks and servers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import PlainValidator, ValidationInfo, WithJsonSchema

from gate.config import taking


def taken_by(parse: Callable[[Any], object]) -> PlainValidator:
    """Return `parse` as a validator; UsageErrors become ValueErrors, all that pydantic collects."""

    def validate(value: object) -> object:
        with taking.naming_faults():
            return parse(value)

    return PlainValidator(validate)


def taken_with_info_by(parse: Callable[[Any, ValidationInfo], object]) -> PlainValidator:
    """Return a validator as `taken_by` does, of a parser that needs the validation's context."""

    def validate(value: object, info: ValidationInfo) -> object:
        with taking.naming_faults():
            return parse(value, info)

    return PlainValidator(validate)


def schema_of(*types: str, **more: Any) -> WithJsonSchema:
    """Return the schema of a value of one of the types."""
    return WithJsonSchema(dict(taking.schema_of(*types, **more).schema))
