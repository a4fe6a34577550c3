"""Parse the variables and queries of a check, and say what is wrong with them at which place."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any, Final

from gate.config.checks.scalars import quote_value
from gate.config.option import closest
from gate.config.taking import BadValueError, Fault
from gate.core.checks.query_template import Query, QueryError
from gate.core.checks.query_variables import user_variable_fault
from gate.core.kinds.check_variables import BUILT_IN, OF_VERSIONS
from gate.core.model.body import FrozenMap
from gate.errors import UsageError

_NAMED: Final = re.compile(r"\$\{([^{}]*)\}")


def parse_variables(value: object) -> FrozenMap[str, str]:
    """Take a mapping of texts."""
    if not isinstance(value, Mapping):
        raise UsageError(
            f"not a mapping of variables: {quote_value(value)}", hint="as in {service: web}"
        )
    faults = [fault for name, text in value.items() if (fault := _fault(str(name), text))]
    if faults:
        raise BadValueError(faults)
    return FrozenMap(value.items())


def _fault(name: str, text: Any) -> Fault | None:
    if not isinstance(text, str):
        hint = "put it in quotes"
        return Fault((name,), f"not text: {quote_value(text)}", hint)
    wrong = user_variable_fault(name, text, BUILT_IN)
    return Fault((name,), wrong) if wrong else None


def parse_query(text: str, known: Collection[str]) -> Query:
    """Read a query; UsageError names the position, and the variable that may be meant."""
    try:
        return Query.parse(text, known, OF_VERSIONS)
    except QueryError as error:
        match = _NAMED.match(text, error.position - 1)
        name = match[1] if match else ""
        guess = closest(name, known) if name and name not in known else ""
        suggestion = f" (did you mean ${{{guess}}}?)" if guess else ""
        raise UsageError(f"{error}{suggestion}", hint=error.hint) from error
