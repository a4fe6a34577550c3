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
    image = _find_image(worst, messages)
    command = shlex.join(["docker", "manifest", "inspect", image]) if image else ""
    yield Step("check that the tag exists and that the pull secret may read it:", command)


def _find_image(worst: WorkloadResult, messages: str) -> str:
    """Return the image that causes name, else the first that is new, "" if there is none.

    The longest of several: `shop/web:2` is part of `shop/web:20`.
    """
    images = worst["new"]["images"]
    if named := [image for image in images if image in messages]:
        return max(named, key=len)
    served = worst["baseline"]["images"] if worst["baseline"] is not None else []
    return next((image for image in images if image not in served), "")
