"""Sets of owned fields, each kept once: an object's owners refer to them by a short digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

FILE = Path(__file__).parent / "real_fields.json"
FIELDS = "fieldsV1"


class FieldSets:
    """The sets that are known."""

    def __init__(self) -> None:
        """Begin with those of the file."""
        text = FILE.read_text(encoding="utf-8") if FILE.exists() else "{}"
        self._known: dict[str, Any] = json.loads(text)

    def packed(self, value: Any) -> Any:
        """Return a value whose sets are named by their digests."""
        if isinstance(value, list):
            return [self.packed(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._digest(part) if key == FIELDS else self.packed(part)
            for key, part in value.items()
        }

    def unpacked(self, value: Any) -> Any:
        """Return a value with its sets in it."""
        if isinstance(value, list):
            return [self.unpacked(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            key: self._known[part] if key == FIELDS else self.unpacked(part)
            for key, part in value.items()
        }

    def write(self, used_in: Iterable[Path]) -> None:
        """Keep the sets that these files refer to: a set a line."""
        used = "".join(path.read_text(encoding="utf-8") for path in used_in)
        lines = [
            f"{json.dumps(digest)}: {json.dumps(fields, sort_keys=True)}"
            for digest, fields in sorted(self._known.items())
            if digest in used
        ]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")

    def _digest(self, fields: Any) -> str:
        text = json.dumps(fields, sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        self._known[digest] = fields
        return digest
