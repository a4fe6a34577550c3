"""The images of a manifest: `--image` sets them by container name; invalid ones are refused.

No text is ever expanded.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator
from typing import Final

from gate.core.frozen import dataclass
from gate.errors import UsageError, UsageErrors
from gate.manifests.body import value_at
from gate.manifests.containers import containers
from gate.manifests.image_reference import is_reference
from gate.manifests.manifest import Manifest, ManifestObject
from gate.manifests.places import place_of
from gate.manifests.source import Source, escape_line

_LABEL: Final = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
_TARGET: Final = re.compile(rf"(?:(?P<workload>[a-z0-9][a-z0-9.-]{{0,252}})/)?(?P<name>{_LABEL})")
_EXAMPLE: Final = "registry/shop/web:1"


@dataclass(frozen=True, slots=True)
class ImageOverride:
    """One `--image`; without `workload`, the containers of that name in all objects."""

    workload: str | None
    container: str
    reference: str

    @classmethod
    def parse(cls, text: str) -> ImageOverride:
        """Read `CONTAINER=REF` or `WORKLOAD/CONTAINER=REF`; UsageError otherwise."""
        target, equals, reference = text.partition("=")
        match = _TARGET.fullmatch(target)
        if not equals or match is None:
            hint = "CONTAINER=REF, or WORKLOAD/CONTAINER=REF to choose one of several"
            raise UsageError(f"--image {escape_line(text)}: names no container", hint=hint)
        if not is_reference(reference):
            problem = f'"{escape_line(reference)}" is no image reference'
            raise UsageError(f"--image {escape_line(target)}: {problem}", hint=f"as in {_EXAMPLE}")
        return cls(match["workload"], match["name"], reference)

    @property
    def target(self) -> str:
        """The part before the `=`."""
        return f"{self.workload}/{self.container}" if self.workload else self.container

    def names(self, item: ManifestObject, container: str) -> bool:
        """Whether it sets that container of `item`."""
        if container != self.container:
            return False
        return self.workload is None or (item.judged and item.name == self.workload)


def with_images(manifest: Manifest, overrides: Iterable[ImageOverride]) -> Manifest:
    """Return the manifest with the images set; the more exact override of a container wins.

    UsageError if an override matches no container, two have the same target, or an image in the
    result is not a valid reference: a server admits that, and a kubelet says InvalidImageName.
    """
    # Overrides that name a workload come last, and so win.
    ordered = sorted(overrides, key=lambda override: override.workload is not None)
    _refuse_twice(ordered)
    for override in ordered:
        _refuse_unknown(manifest, override)
    objects = tuple(_with_images(item, ordered) for item in manifest.objects)
    wrong = [problem for item in objects for problem in _invalid_images(item)]
    if wrong:
        raise UsageErrors(wrong)
    return dataclasses.replace(manifest, objects=objects)


def _invalid_images(item: ManifestObject) -> Iterator[tuple[str, str]]:
    """Yield a problem and its hint for each invalid image; the server reports missing ones."""
    for container in containers(item):
        image, name = container.get("image"), container["name"]
        if isinstance(image, str) and image and not is_reference(image):
            yield (
                f'{_place(item, name)}: {item}: "{escape_line(image)}" is no image reference',
                f"as in {_EXAMPLE}; or set it: --image {escape_line(name)}={_EXAMPLE}",
            )


def _place(item: ManifestObject, container: str) -> Source:
    """Return the place of a container's image."""
    spec = () if item.known_kind is None else item.known_kind.pod_spec
    for name in ("containers", "initContainers"):
        entries = value_at(item.body, *spec, name)
        if any(value_at(entry, "name") == container for entry in entries or ()):
            return place_of(item, f'.{".".join(spec)}.{name}[name="{container}"].image')
    return item.source


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
    known = ", ".join(
        sorted({f"{escape_line(str(item))}: {escape_line(name)}" for item, name in found})
    )
    problem = "no container of that name in the manifest"
    raise UsageError(f"--image {override.target}: {problem}", hint=f"there are {known or 'none'}")
