"""Quantities; that their texts are a real server's is shown by the golden `node-quantities`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.objects.quantity import (
    NANO,
    QuantityError,
    canonical,
    canonical_resource,
    parse_quantity,
)

SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "e3", "e-2", "E2")
texts = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-", "+"]),
    st.integers(0, 10**9),
    st.one_of(st.just(""), st.integers(0, 999).map(".{}".format)),
    st.sampled_from(SUFFIXES),
)


@given(texts)
def test_a_canonical_text_means_the_same(text: str) -> None:
    """What is stored is the same amount, and is stored again as it is."""
    stored = canonical(text)
    assert parse_quantity(stored).nanos == parse_quantity(text).nanos
    assert canonical(stored) == stored


@given(texts)
def test_a_resource_has_nothing_below_a_milli(text: str) -> None:
    """Entries of a ResourceList are rounded away from zero to a milli."""
    exact, stored = parse_quantity(text).nanos, parse_quantity(canonical_resource(text)).nanos
    assert stored % (NANO // 1000) == 0
    assert abs(exact) <= abs(stored) < abs(exact) + NANO // 1000


@pytest.mark.parametrize("text", ["", "lots", "1 Gi", "0x10", "1Gi ", "--1", "1e", "1.5.5"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    """The error is a sentence of the server."""
    with pytest.raises(QuantityError, match="quantit"):
        parse_quantity(text)


@pytest.mark.parametrize("text", ["1e99999999", "1e-99999999", "9" * 5000])
def test_what_would_take_forever_is_refused(text: str) -> None:
    """Nobody means such an amount."""
    with pytest.raises(QuantityError):
        parse_quantity(text)
