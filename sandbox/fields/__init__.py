"""Who owns which field: managedFields, as server-side apply and every other write keep them.

The order of a write, as the API server has it:

* create, update, JSON, merge and strategic merge patch: the new object is decoded and defaulted
  first, then `update_owners(live, new, manager, ...)`: the writer owns the defaults too. On
  creation it runs before the strategy and the mutating admission plugins, on an update before
  both as well: nobody owns what they set (generation, an injected sidecar).
* apply: `apply(live, applied, manager, ...)` on the applied body as it was sent, then decoding and
  defaulting: nobody owns those defaults. Then strategy and admission.
* storing an update: `keep_times_if_unchanged(live, new)`, last of all, before the comparison that
  finds a write without effect.

Writes to the subresource `scale` are given the main object with `spec.replicas` changed and
`subresource="scale"`. Writes to a subresource ignore managedFields that the client sends.
"""

from __future__ import annotations

from sandbox.fields.applies import Conflict, FieldConflict, apply
from sandbox.fields.checking import NotTyped
from sandbox.fields.updates import keep_times_if_unchanged, update_owners

__all__ = [
    "Conflict",
    "FieldConflict",
    "NotTyped",
    "apply",
    "keep_times_if_unchanged",
    "update_owners",
]
