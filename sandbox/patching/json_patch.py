"""JSON patch (RFC 6902), with the habits of the server's library.

`replace` sets a member that is missing, indices may be negative, `test` against null holds where
nothing is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from sandbox.json import JSON, copy_json
from sandbox.patching.errors import Fault, PatchError, inapplicable, not_decodable
from sandbox.patching.pointer import Place, place_at

MOST_OPERATIONS = 10_000
_OPERATION = "handlers.jsonPatchOp"


def json_patch(doc: JSON, ops: Any) -> Any:
    """Return the document after all operations; raises `PatchError`, and then none has happened."""
    if not isinstance(ops, list):
        raise _undecodable(ops, f"[]{_OPERATION}")
    if len(ops) > MOST_OPERATIONS:
        raise PatchError(
            f"The allowed maximum operations in a JSON patch is {MOST_OPERATIONS}, got {len(ops)}",
            Fault.TOO_LARGE,
        )
    found: Any = copy_json(doc)
    for operation in ops:
        if not isinstance(operation, dict):
            raise _undecodable(operation, _OPERATION)
        found = _do_operation(found, operation)
    return found


def _undecodable(value: Any, wanted: str) -> PatchError:
    error = not_decodable(value, wanted)
    return PatchError(f"error decoding patch: {error.message}", error.fault)


def _do_operation(document: Any, operation: JSON) -> Any:
    do = _OPERATIONS.get(str(operation.get("op")))
    if do is None:
        raise inapplicable(f"Unexpected kind: {operation.get('op', 'unknown')}")
    if operation.get("path") == "" and do in {_replace, _test}:
        return _whole(document, operation)
    do(document, operation)
    return document


def _whole(document: Any, operation: JSON) -> Any:
    """Replace or test the document itself, which the other operations cannot name."""
    value = copy_json(operation.get("value"))
    if operation["op"] == "test":
        if document != value:
            raise inapplicable("testing value  failed: test failed")
        return document
    if not isinstance(value, dict | list):
        raise inapplicable("replace operation value must be object or array")
    return value


def _place(document: Any, operation: JSON, name: str = "path") -> Place:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise inapplicable(f"operation missing {name} field: missing value")
    found = place_at(document, pointer)
    if found is None:
        kind = operation["op"]
        raise inapplicable(f"{kind} operation does not apply: doc is missing path: {pointer}")
    return found


def _add(document: Any, operation: JSON) -> None:
    _place(document, operation).add(copy_json(operation.get("value")))


def _remove(document: Any, operation: JSON) -> None:
    _place(document, operation).remove()


def _replace(document: Any, operation: JSON) -> None:
    _place(document, operation).replace(copy_json(operation.get("value")))


def _move(document: Any, operation: JSON) -> None:
    source = _place(document, operation, "from")
    value = source.get()
    source.remove()
    _place(document, operation).add(value)


def _copy(document: Any, operation: JSON) -> None:
    value = copy_json(_place(document, operation, "from").get())
    _place(document, operation).add(value)


def _test(document: Any, operation: JSON) -> None:
    if _place(document, operation).get() != operation.get("value"):
        raise inapplicable(f"testing value {operation['path']} failed: test failed")


_OPERATIONS: Mapping[str, Callable[[Any, JSON], None]] = {
    "add": _add,
    "copy": _copy,
    "move": _move,
    "remove": _remove,
    "replace": _replace,
    "test": _test,
}
