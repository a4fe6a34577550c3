"""The JSON Schema of `checks`: a check has the keys of one source, and what those require."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel

from gate.config.checks.keys import (
    EITHER_TOLERANCE,
    FORMS,
    ONE_NUMBER,
    AnyCheckKeys,
    ReadyMadeCountKeys,
)
from gate.sources.ready_made import READY_MADE, ReadyMade, names


def checks_schema() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the schema of `checks`, and the definitions that it refers to."""
    definitions: dict[str, Any] = {}
    forms: tuple[type[AnyCheckKeys], ...] = (*FORMS.values(), ReadyMadeCountKeys)
    for form in forms:
        definitions |= model_schemas(form)
    definitions["ReadyMadeKeys"] |= _ready_made_rules()
    definitions["ReadyMadeCountKeys"] |= {"allOf": [*_rules_by_counts()]}
    items = {"oneOf": [{"$ref": f"#/$defs/{form.__name__}"} for form in forms]}
    return {"type": "array", "items": items}, definitions


def model_schemas(model: type[BaseModel]) -> dict[str, Any]:
    """Return the definitions of a model and of those that it holds, by their names."""
    whole = model.model_json_schema(ref_template="#/$defs/{model}")
    definitions = whole.pop("$defs", {})
    return {
        name: _simplify_definition(each)
        for name, each in {**definitions, model.__name__: whole}.items()
    }


def _simplify_definition(definition: dict[str, Any]) -> dict[str, Any]:
    """Drop titles, and the null by which the models mark a key that is left out."""
    properties = {key: _form(each) for key, each in definition.get("properties", {}).items()}
    kept = {key: value for key, value in definition.items() if key != "title"}
    return {**kept, "properties": properties}


def _form(property_: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in property_.items() if key not in ("default", "title")}
    forms = [each for each in kept.pop("anyOf", []) if each != {"type": "null"}]
    return {**kept, **forms[0]} if forms else kept


def _rules_by_counts() -> Iterator[dict[str, Any]]:
    """Yield for each ready-made comparison by counts for which metrics it is."""
    for name in names():
        mine = _find_all(name)
        if mine[0].is_by_counts:
            yield _kinds_rule(name, mine)


def _find_all(name: str) -> list[ReadyMade]:
    return [made for made in READY_MADE if made.name == name]


def _kinds_rule(name: str, mine: Sequence[ReadyMade]) -> dict[str, Any]:
    kinds = {"properties": {"metrics": {"enum": [made.metrics for made in mine]}}}
    return {"if": _is("use", name), "then": kinds}


def _ready_made_rules() -> dict[str, Any]:
    """Return the rules of ready-made checks: for which metrics, and what the user has to add."""
    rules: list[dict[str, Any]] = [EITHER_TOLERANCE, ONE_NUMBER]
    for name in names():
        mine = _find_all(name)
        if mine[0].is_by_counts:
            continue
        rules.append(_kinds_rule(name, mine))
        if not any("min-samples" in made.keys for made in mine):
            whole = {"properties": {"min-samples": {"$ref": "#/$defs/MinSamplesKeys"}}}
            rules.append({"if": _is("use", name), "then": whole})
        rules += [_variables_rule(name, made.metrics, made.keys) for made in mine[1:]]
    return {"allOf": [rule for rule in rules if rule]}


def _variables_rule(name: str, metrics: str, keys: Any) -> dict[str, Any]:
    """Return the rule for a check with non-default metrics, empty if it needs no variables."""
    needed = sorted(keys.get("variables", {}))
    if not needed:
        return {}
    chosen = {"allOf": [_is("use", name), _is("metrics", metrics)]}
    given = {"required": ["variables"], "properties": {"variables": {"required": needed}}}
    return {"if": chosen, "then": given}


def _is(key: str, value: str) -> dict[str, Any]:
    return {"required": [key], "properties": {key: {"const": value}}}
