"""In what two JSON values differ, a line for each place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

MISSING = "missing"
MOST_TOLD = 500


def differences(real: Any, sandbox: Any, path: str = "") -> Iterator[str]:
    """Yield `path: what is real | what the sandbox has`."""
    if isinstance(real, Mapping) and isinstance(sandbox, Mapping):
        for key in [*real, *(key for key in sandbox if key not in real)]:
            inner = f"{path}.{key}" if path else str(key)
            yield from differences(real.get(key, MISSING), sandbox.get(key, MISSING), inner)
    elif isinstance(real, list) and isinstance(sandbox, list) and len(real) == len(sandbox):
        for index, (one, other) in enumerate(zip(real, sandbox, strict=True)):
            yield from differences(one, other, f"{path}[{index}]")
    elif real != sandbox:
        yield f"{path}: {real!s:.{MOST_TOLD}} | {sandbox!s:.{MOST_TOLD}}"
