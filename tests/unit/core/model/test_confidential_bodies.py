"""Digests of applied bodies: those of Secrets tell nothing to who can read the digest alone."""

from __future__ import annotations

import hashlib

import pytest

from gate.core.model.body import Body
from gate.core.model.confidential_bodies import ConfidentialBody, body_digest

KEYS = Body.of({"kind": "Secret", "metadata": {"name": "keys"}, "data": {"pin": "MTIzNA=="}})


@pytest.mark.contract("B702")
def test_the_digest_of_a_secret_is_keyed_with_its_uid() -> None:
    """Who tries out values cannot compare them: without the uid each has any digest."""
    digest = body_digest("Secret", "u-1", KEYS)
    assert digest == body_digest("Secret", "u-1", KEYS)
    assert digest != body_digest("Secret", "u-2", KEYS)
    assert digest != body_digest("Secret", "", KEYS)
    guessed = hashlib.sha256(KEYS.canonical).hexdigest()
    assert not guessed.startswith(digest)
    assert ConfidentialBody("Secret", "u-1", KEYS).digest == digest


def test_the_digest_of_anything_else_is_the_same_in_each_object() -> None:
    """What was deleted and created again is still what was verified."""
    digests = {body_digest("ConfigMap", uid, KEYS) for uid in ("u-1", "u-2")}
    assert len(digests) == 1
