"""Rules for images: patterns, the order of rules, and which container is meant."""

from __future__ import annotations

import pytest

from sandbox.json import JSON
from sandbox.scenario.document import Report
from sandbox.scenario.images import fits
from sandbox.scenario.scenario import parse


def pod(*images: str, init: tuple[str, ...] = ()) -> JSON:
    """Return a pod with a container for each image: `c0`, `c1`, and `i0` for init containers."""
    return {
        "spec": {
            "containers": [{"name": f"c{n}", "image": image} for n, image in enumerate(images)],
            "initContainers": [{"name": f"i{n}", "image": image} for n, image in enumerate(init)],
        }
    }


@pytest.mark.parametrize(
    ("pattern", "image", "is_meant"),
    [
        ("shop/web:2", "shop/web:2", True),
        ("shop/web:2", "shop/web:21", False),
        ("shop/web:2.*", "shop/web:2.1", True),
        ("shop/web:2.*", "shop/web:211", False),
        ("*:bad", "shop/web:bad", True),
        ("*/web:*", "registry.example.com:5000/shop/web@sha256:1", False),
        ("*", "shop/web", True),
        ("shop/w?b:2", "shop/web:2", False),
    ],
)
def test_a_star_stands_for_anything(pattern: str, image: str, is_meant: bool) -> None:
    """Only the star is special, and the whole image has to fit."""
    assert fits(pattern, image) is is_meant


def asked(text: str, item: JSON, seconds: float = 0.0) -> list[tuple[str, str | None]]:
    """Return the kinds that are asked for, with their containers."""
    images = parse(text, Report("s.yaml")).images
    return [(clause.kind.value, clause.container) for clause in images.clauses(item, seconds)]


def test_a_rule_is_for_the_containers_of_its_image() -> None:
    """Wherever the image is in the pod, its container is the one that suffers."""
    item = pod("shop/web:1", "mesh/proxy:2", init=("shop/migrate:1",))
    text = 'images: {"mesh/*": crash, "shop/migrate:*": oom}'
    assert asked(text, item) == [("oom", "i0"), ("crash", "c1")]
