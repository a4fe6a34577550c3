"""The three patches that make a new document of an old one; apply stands in `fields`.

All are pure and take the document as the server would send it. Errors are `PatchError`; its
`refusal()` is the answer.
"""

from __future__ import annotations

from sandbox.patching.json_patch import PatchError, json_patch, merge_patch
from sandbox.patching.strategic import strategic_merge

__all__ = ["PatchError", "json_patch", "merge_patch", "strategic_merge"]
