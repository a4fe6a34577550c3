"""What to do about an image that cannot be pulled."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Final

from gate.report.advice.step import Step
from gate.report.schema.result import Result, WorkloadResult

_NO_REFERENCE: Final = ("invalid reference format", "InvalidImageName")
"""What a kubelet says of a name that it cannot parse, with a message or by the reason alone."""


def advise_on_image(_: Result, worst: WorkloadResult) -> Iterator[Step]:
    """Name what mends a pull: of some errors no registry is asked at all."""
    messages = " ".join(cause["message"] for cause in worst["causes"])
    if any(sign in messages for sign in _NO_REFERENCE):
        yield Step("that is no image reference, and no registry was asked: correct it where it is")
        return
    if "policy of Never" in messages:
        yield Step("the node lacks the image and must not pull it: see its imagePullPolicy (Never)")
        return
    served = worst["baseline"]["images"] if worst["baseline"] is not None else []
    changed = [image for image in worst["new"]["images"] if image not in served]
    command = shlex.join(["docker", "manifest", "inspect", changed[0]]) if changed else ""
    yield Step("check that the tag exists and that the pull secret may read it:", command)
