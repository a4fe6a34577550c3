"""Names for objects that ask for a new one at each apply (`metadata.generateName`).

A server-side apply needs a name (the server answers 400 without one). The gate chooses it, and
sends the same one again where an answer was lost: so a request that is repeated never creates a
second object. The prefix stays beside it, as the server keeps it of a name that it chose: so
whoever reads the object knows that the next one has another name.
"""

from __future__ import annotations

import dataclasses
import hashlib
import re
from collections.abc import Iterable
from typing import Final

from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.source import ManifestError

_DIGITS: Final = 10
MOST_PREFIX_CHARACTERS: Final = 63 - _DIGITS
"""The pods of a Job carry its name as a label value (`batch.kubernetes.io/job-name`)."""


def with_generated_names(manifest: Manifest, attempt_id: str) -> Manifest:
    """Return the manifest with a name for each object that has only the prefix of one."""
    objects = tuple(
        _with_name(item, attempt_id) if item.name_prefix else item for item in manifest.objects
    )
    return dataclasses.replace(manifest, objects=objects)


def name_prefixes(text: str, objects: Iterable[ManifestObject]) -> str:
    """Return a text with `migrate-*` for each name that was made with the prefix `migrate-`."""
    for prefix in {item.name_prefix for item in objects if item.name_prefix}:
        text = re.sub(rf"/{re.escape(prefix)}[0-9a-f]{{{_DIGITS}}}\b", f"/{prefix}*", text)
    return text


def _with_name(item: ManifestObject, attempt_id: str) -> ManifestObject:
    if len(item.name) > MOST_PREFIX_CHARACTERS:
        problem = f"metadata.generateName has {len(item.name)} characters"
        raise ManifestError(item.source, problem, hint=f"at most {MOST_PREFIX_CHARACTERS} fit")
    digits = hashlib.sha256(f"{attempt_id}/{item.name}".encode()).hexdigest()[:_DIGITS]
    name = f"{item.name}{digits}"
    body = {**item.body, "metadata": {**item.body["metadata"], "name": name}}
    return dataclasses.replace(item, name=name, body=body)
