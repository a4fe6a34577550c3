"""The sandbox's objects against what a real v1.36 server answered to the same requests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from sandbox.failure import ApiError, FieldError, invalid
from sandbox.json import JSON, copy_json
from sandbox.kinds import BY_KIND
from sandbox.objects import (
    fill_defaults,
    prepared_for_create,
    prepared_for_update,
    strict_errors,
    strict_refusal,
    validate_create,
    validate_update,
)
from tests.table import check_each
from tests.unit.sandbox.objects.cases import NAMESPACE, Case, all_cases, comparable, golden

BASES = list(dict.fromkeys(case.base for case in all_cases()))
_STRICT = ("unknown field",)
"""How warnings begin that the sandbox gives as well: it has none about what is deprecated."""

NEED_VERSION = ("leases.coordination.k8s.io", "poddisruptionbudgets.policy")


@pytest.mark.parametrize("base", BASES)
def test_a_real_servers_answer_is_given(base: str) -> None:
    """Status, object, message, causes and warnings are those of the real server."""
    cases = [(case.name, case) for case in all_cases() if case.base == base]
    assert {name for name, _ in cases} == golden(base).keys()
    check_each(_is_answered_as_by_the_real_one, cases)


def _is_answered_as_by_the_real_one(case: Case) -> None:
    wanted = golden(case.base)[case.name]
    before = copy_json(case.body)
    assert _normal(_answer(case, wanted)) == _normal(
        {key: value for key, value in wanted.items() if key != "before"}
    )
    assert case.body == before, "the request was changed in place"


def _answer(case: Case, wanted: JSON) -> JSON:
    """Do what the API does with the request, as far as objects are concerned."""
    try:
        if case.is_update:
            return _updated(case, wanted["before"])
        return _created(case, wanted)
    except ApiError as error:
        causes = error.details.get("causes")
        found: JSON = {"status": error.status, "message": str(error)}
        return {**found, **({"causes": causes} if causes else {})}


def _created(case: Case, wanted: JSON) -> JSON:
    resource = case.resource
    body = fill_defaults(resource, case.body)
    warnings = _strict(case)
    metadata = body["metadata"]
    if resource.namespaced:
        metadata["namespace"] = NAMESPACE
    if "generateName" in metadata:
        metadata["name"] = _generated_name(wanted)
    _stamp(body, wanted)
    body = prepared_for_create(resource, body)
    _refuse(case, body, validate_create(resource, body))
    return _told(201, body, warnings)


def _updated(case: Case, stored: JSON) -> JSON:
    resource, part = case.resource, case.subresource
    old = fill_defaults(resource, stored)
    sent = fill_defaults(resource, case.changed(stored))
    metadata = sent["metadata"]
    if "resourceVersion" not in metadata and resource.key not in NEED_VERSION:
        metadata["resourceVersion"] = old["metadata"]["resourceVersion"]
    metadata["creationTimestamp"] = old["metadata"]["creationTimestamp"]
    if part == "status":
        new = {**old, "metadata": _status_metadata(resource.key, old, metadata), part: sent[part]}
    else:
        new = {**sent, **({"status": old["status"]} if "status" in old else {})}
    new = prepared_for_update(resource, old, new, part)
    if "generation" in old["metadata"]:
        changed = old["spec"] != new["spec"]
        new["metadata"]["generation"] = old["metadata"]["generation"] + changed
    _refuse(case, new, validate_update(resource, old, new, part))
    return _told(200, new, [])


def _status_metadata(key: str, old: JSON, sent: JSON) -> JSON:
    """Return what a write of the status leaves of the metadata that was sent."""
    kept = ("labels",) if key == "deployments.apps" else ()
    made = {name: value for name, value in sent.items() if name not in kept}
    return made | {name: old["metadata"][name] for name in kept if name in old["metadata"]}


def _strict(case: Case) -> list[str]:
    if case.validation == "Ignore":
        return []
    errors = strict_errors(case.resource, case.body)
    if errors and case.validation == "Strict":
        raise strict_refusal(case.resource, errors)
    return errors


def _refuse(case: Case, body: JSON, errors: Sequence[FieldError]) -> None:
    if errors:
        name = body["metadata"].get("name", "")
        # Equal errors are told once in the message, and each time in the causes.
        once = invalid(case.resource.kind, case.resource.group, name, [*dict.fromkeys(errors)])
        causes = [error.cause() for error in errors]
        raise ApiError(422, "Invalid", once.message, details={"causes": causes})


def _generated_name(wanted: JSON) -> str:
    return str(wanted["message"].split('"')[1])


def _stamp(body: JSON, wanted: JSON) -> None:
    """Give what the verbs give: the uid that the real server gave, generation, no status."""
    if body["kind"] != "Node" and "status" in body:
        body["status"] = _empty_status(body)
    labels = wanted.get("object", {}).get("spec", {}).get("selector", {})
    if body["kind"] == "Job":
        body["metadata"]["uid"] = labels.get("matchLabels", {}).get(
            "batch.kubernetes.io/controller-uid", "none"
        )
    if "generation" in wanted.get("object", {}).get("metadata", {}):
        body["metadata"]["generation"] = 1


def _empty_status(body: JSON) -> JSON:
    """Return the status of a new object of the kind, whatever was sent."""
    resource = BY_KIND[body["apiVersion"], body["kind"]]
    empty: JSON = fill_defaults(resource, {"metadata": {}}).get("status", {})
    return empty


def _told(status: int, body: JSON, warnings: list[str]) -> JSON:
    found: JSON = {"status": status, "object": comparable(body)}
    return {**found, **({"warnings": warnings} if warnings else {})}


def _normal(answer: JSON) -> Any:
    """Return an answer without what chance gives: addresses, node ports.

    The difference between two pods' specs is left out too: the server shows its internal types.
    """
    made = copy_json(answer)
    for part in (made, *made.get("causes", ())):
        if "message" in part:
            part["message"] = part["message"].partition("\n@@")[0]
    made["warnings"] = [each for each in made.get("warnings", ()) if each.startswith(_STRICT)]
    spec = made.get("object", {}).get("spec")
    if isinstance(spec, dict):
        if spec.get("clusterIP", "None") != "None":
            spec["clusterIP"], spec["clusterIPs"] = "an address", ["an address"]
        for port in spec.get("ports", ()):
            if "nodePort" in port:
                port["nodePort"] = "a number"
    return made
