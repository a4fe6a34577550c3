"""The defaults of every kind, run while an object is decoded.

They are those of kube-apiserver v1.36 (`pkg/apis/*/v1/defaults.go` and the generated
`zz_generated.defaults.go`), by the Go type that they belong to.
"""

from __future__ import annotations

from sandbox.failure import bad_request
from sandbox.json import JSON
from sandbox.kinds import Resource
from sandbox.objects.decoding import Decoder, root_of
from sandbox.objects.defaults import pod, simple
from sandbox.objects.scalars import Mismatch

_DECODER = Decoder({**pod.DEFAULTS, **simple.DEFAULTS, **pod.WORKLOAD_DEFAULTS})


def fill_defaults(resource: Resource, body: JSON) -> JSON:
    """Return the object as the server holds it after decoding; `body` stays as it is.

    Unknown fields and nulls are gone, quantities and times are canonical, defaults are filled in.
    Raises `ApiError` 400 where a value has the wrong type, in the words for a create or an update.
    """
    return defaulted_type(root_of(resource), resource.kind, resource.version, body)


def decode_struct(struct: str, body: JSON) -> JSON:
    """Return what `fill_defaults` does, for any type, as `meta/v1.DeleteOptions`.

    Raises `Mismatch`.
    """
    return _DECODER.read(struct, body)


def defaulted_type(struct: str, kind: str, version: str, body: JSON) -> JSON:
    """Return what `fill_defaults` does, for a type that is not stored (`autoscaling/v1.Scale`)."""
    try:
        return decode_struct(struct, body)
    except Mismatch as error:
        raise bad_request(
            f'{kind} in version "{version}" cannot be handled as a {kind}: {error}'
        ) from None
