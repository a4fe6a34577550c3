"""What the API says of its types, and nothing of what it does with them.

`schema_of(resource)` gives a kind's `Schema`; `Type` and `Field` are what one walks over beside an
object. `definitions` keeps the raw OpenAPI, for the documents that clients ask for, and tells how
the data file is laid out.
"""

from __future__ import annotations

from sandbox.schema.types import MISSING, Field, Schema, Shape, Type, schema_of

__all__ = ["MISSING", "Field", "Schema", "Shape", "Type", "schema_of"]
