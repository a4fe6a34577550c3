"""What makes an object whole: decoding, defaults, what creation adds, validation with field errors.

The order of a request, as the API server has it:

1. `fill_defaults(resource, body)`: decodes (unknown fields and nulls go, types are checked) and
   fills in the defaults. Of every create, update and patch result. Raises `ApiError` 400.
2. `strict_errors(resource, body)`: unknown fields of what was sent; by
   `fieldValidation` they are refused (`strict_refusal`), told as `Warning` headers, or ignored.
   A wrong type is told before them.
3. `prepared_for_create(resource, body)` or `prepared_for_update(resource, old, new, subresource)`:
   what the kind's strategy and the built-in admission plugins set. Generations, uids and status
   kept or dropped are the verb's business, not ours.
4. `validate_create(resource, body)` or `validate_update(resource, old, new, subresource)`: the
   fields that are wrong, in the server's words, for `failure.invalid`.

Nothing here changes what it is given. What an applied configuration's types must be is told by
`sandbox.fields`, which knows it from the OpenAPI schema as the server's apply does.
"""

from __future__ import annotations

from sandbox.objects.decoding import strict_errors, strict_refusal
from sandbox.objects.defaults import decode_struct, defaulted_type, fill_defaults
from sandbox.objects.prepare import prepared_for_create, prepared_for_update
from sandbox.objects.scalars import Mismatch
from sandbox.objects.validation import validate_create, validate_update

__all__ = [
    "Mismatch",
    "decode_struct",
    "defaulted_type",
    "fill_defaults",
    "prepared_for_create",
    "prepared_for_update",
    "strict_errors",
    "strict_refusal",
    "validate_create",
    "validate_update",
]
