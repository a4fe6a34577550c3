"""Strict decoding beyond the golden answers."""

from __future__ import annotations

from sandbox.kinds import BY_KEY
from sandbox.objects import strict_errors

DEPLOYMENT = BY_KEY["deployments.apps"]
ROOT = b'{"spec":{"template":{"spec":{"containers":[{"name":"a","env":[{"nam":"x"}]}]}}}}'


def test_a_field_is_named_with_its_indexes() -> None:
    """Lists count, maps do not hide their keys."""
    assert strict_errors(DEPLOYMENT, {}, ROOT) == [
        'unknown field "spec.template.spec.containers[0].env[0].nam"'
    ]


def test_without_the_raw_text_duplicates_are_not_seen() -> None:
    """A parsed body has one of each key; its unknown fields are told."""
    body = {"spec": {"replicas": 1, "odd": 2}, "metadata": {"labels": {"anything": "goes"}}}
    assert strict_errors(DEPLOYMENT, body) == ['unknown field "spec.odd"']


def test_the_same_error_is_told_once() -> None:
    """A key that is there three times is one duplicate."""
    raw = b'{"metadata":{"name":"a","name":"b","name":"c"},"x":1,"x":2}'
    assert strict_errors(DEPLOYMENT, {}, raw) == [
        'duplicate field "metadata.name"',
        'unknown field "x"',
    ]


def test_no_more_than_a_hundred_are_told() -> None:
    """The server stops collecting there."""
    body = {f"odd{number}": 1 for number in range(150)}
    assert len(strict_errors(DEPLOYMENT, body)) == 100
