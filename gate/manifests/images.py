"""`--image CONTAINER=REF`: an image set by the container's name, never by expanding text."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gate.errors import UsageError
from gate.manifests.containers import containers
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.source import shown

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_TARGET: Final = re.compile(rf"(?:(?P<deployment>[a-z0-9][a-z0-9.-]{{0,252}})/)?(?P<name>{_LABEL})")

_PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST: Final = r"(?:[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*|\[[0-9A-Fa-f:]+\])(?::[0-9]+)?"
_REFERENCE: Final = re.compile(
    rf"(?P<name>(?:{_HOST}/)?{_PART}(?:/{_PART})*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>[a-z][a-z0-9+._-]*:[0-9a-fA-F]{32,128}))?",
    re.ASCII,
)
"""The grammar of the distribution project's references; a kubelet calls others InvalidImageName."""

_LONGEST_NAME: Final = 255


@dataclass(frozen=True, slots=True)
class ImageOverride:
    """One `--image`; without `deployment`, the containers of that name in all objects."""

    deployment: str | None
    container: str
    reference: str

    @classmethod
    def parse(cls, text: str) -> ImageOverride:
        """Read `CONTAINER=REF` or `DEPLOYMENT/CONTAINER=REF`; UsageError otherwise."""
        target, equals, reference = text.partition("=")
        match = _TARGET.fullmatch(target)
        if not equals or match is None:
            hint = "CONTAINER=REF, or DEPLOYMENT/CONTAINER=REF to choose one of several"
            raise UsageError(f"--image {shown(text)}: names no container", hint=hint)
        if not is_reference(reference):
            problem = f'"{shown(reference)}" is no image reference'
            raise UsageError(
                f"--image {shown(target)}: {problem}", hint="as in registry/shop/web:1"
            )
        return cls(match["deployment"], match["name"], reference)

    @property
    def target(self) -> str:
        """What stands before the `=`."""
        return f"{self.deployment}/{self.container}" if self.deployment else self.container

    def names(self, item: ManifestObject, container: str) -> bool:
        """Whether it sets that container of `item`."""
        if container != self.container:
            return False
        return self.deployment is None or (item.judged and item.name == self.deployment)


def is_reference(text: str) -> bool:
    """Whether `text` is an image reference that a container runtime would accept."""
    if len(text) > 2 * _LONGEST_NAME + 128:
        return False
    match = _REFERENCE.fullmatch(text)
    return match is not None and len(match["name"]) <= _LONGEST_NAME


def is_pinned(reference: str) -> bool:
    """Whether the image has a digest, or a tag other than `latest`."""
    match = _REFERENCE.fullmatch(reference)
    return match is not None and bool(match["digest"] or (match["tag"] or "latest") != "latest")


def with_images(manifest: Manifest, overrides: Iterable[ImageOverride]) -> Manifest:
    """Return the manifest with the images set; the more exact override of a container wins.

    UsageError where an override finds no container, or two have one target.
    """
    # An exact override comes last and so has the last word.
    ordered = sorted(overrides, key=lambda override: override.deployment is not None)
    _refuse_twice(ordered)
    for override in ordered:
        _refuse_unknown(manifest, override)
    objects = tuple(_with_images(item, ordered) for item in manifest.objects)
    return dataclasses.replace(manifest, objects=objects)


def _with_images(item: ManifestObject, overrides: list[ImageOverride]) -> ManifestObject:
    body = item.body_copy()
    for container in containers(item, body):
        for override in overrides:
            if override.names(item, container["name"]):
                container["image"] = override.reference
    return item if body == item.body else dataclasses.replace(item, body=body)


def _refuse_twice(overrides: list[ImageOverride]) -> None:
    targets = [override.target for override in overrides]
    twice = next((target for target in targets if targets.count(target) > 1), None)
    if twice is not None:
        raise UsageError(f"--image {twice}: given twice")


def _refuse_unknown(manifest: Manifest, override: ImageOverride) -> None:
    found = [(item, c["name"]) for item in manifest.objects for c in containers(item)]
    if any(override.names(item, name) for item, name in found):
        return
    known = ", ".join(sorted({f"{shown(str(item))}: {shown(name)}" for item, name in found}))
    problem = "no container of that name in the manifest"
    raise UsageError(f"--image {override.target}: {problem}", hint=f"there are {known or 'none'}")
