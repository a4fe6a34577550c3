"""Path elements: how they are written, sorted and spoken."""

from __future__ import annotations

import random
from typing import Any

import pytest

from sandbox.fields.elements import ElementError, describe_element, item_element, order_of
from sandbox.schema.reading import named_type

PORTS = named_type("io.k8s.api.core.v1.Container").fields["ports"].type
CONTAINERS = named_type("io.k8s.api.core.v1.PodSpec").fields["containers"].type
FINALIZERS = named_type("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta").fields["finalizers"].type


@pytest.mark.parametrize(
    ("item", "items", "element"),
    [
        ({"name": "web", "image": "x"}, CONTAINERS, 'k:{"name":"web"}'),
        ({"image": "x"}, CONTAINERS, 'k:{"name":""}'),
        ({"containerPort": 80}, PORTS, 'k:{"containerPort":80,"protocol":"TCP"}'),
        (
            {"protocol": "UDP", "containerPort": 53},
            PORTS,
            'k:{"containerPort":53,"protocol":"UDP"}',
        ),
        ("a.b/c", FINALIZERS, 'v:"a.b/c"'),
        ("<&>", FINALIZERS, 'v:"\\u003c\\u0026\\u003e"'),
    ],
)
def test_items_are_named_by_their_keys(item: Any, items: Any, element: str) -> None:
    """Keys that are left out count with their default."""
    assert item_element(item, items) == element


@pytest.mark.parametrize(
    ("item", "items", "words"),
    [
        (None, CONTAINERS, "associative list with keys may not have a null element"),
        (3, CONTAINERS, "associative list with keys may not have non-map elements"),
        ({"a": 1}, FINALIZERS, "associative list without keys has an element that's a map type"),
        (["a"], FINALIZERS, "not supported: associative list with lists as elements"),
        (None, FINALIZERS, "associative list without keys has an element that's an explicit null"),
    ],
)
def test_items_without_a_name_are_refused(item: Any, items: Any, words: str) -> None:
    """The server's words for what cannot be told apart."""
    with pytest.raises(ElementError) as error:
        item_element(item, items)
    assert str(error.value) == words


def test_elements_are_sorted_as_the_server_does() -> None:
    """First the place itself, then names, keys by their values, values, indices."""
    ordered = [
        ".",
        "f:a",
        "f:a.b/c",
        "f:b",
        'k:{"containerPort":80,"protocol":"TCP"}',
        'k:{"containerPort":443,"protocol":"TCP"}',
        'k:{"containerPort":443,"protocol":"UDP"}',
        'k:{"name":"a"}',
        "v:2",
        "v:10",
        'v:"a"',
        "i:9",
        "i:10",
    ]
    shuffled = random.Random(7).sample(ordered, len(ordered))
    assert sorted(shuffled, key=order_of) == ordered


@pytest.mark.parametrize(
    ("element", "words"),
    [
        ("f:kubectl.kubernetes.io/x", ".kubectl.kubernetes.io/x"),
        ('k:{"containerPort":80,"protocol":"TCP"}', '[containerPort=80,protocol="TCP"]'),
        ('v:"a.b/c"', '[="a.b/c"]'),
        ("i:3", "[3]"),
    ],
)
def test_elements_are_spoken_as_in_conflicts(element: str, words: str) -> None:
    """Messages name fields as people read them."""
    assert describe_element(element) == words
