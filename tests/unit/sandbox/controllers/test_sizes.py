"""The arithmetic of rollouts: surge, unavailability, proportions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.controllers.deployment.sizes import (
    Bound,
    Limits,
    Share,
    limits,
    new_size,
    proportional,
)
from sandbox.json import JSON


def rolling(surge: Bound, unavailable: Bound) -> JSON:
    """Return a strategy."""
    bounds = {"maxSurge": surge, "maxUnavailable": unavailable}
    return {"type": "RollingUpdate", "rollingUpdate": bounds}


@pytest.mark.parametrize(
    ("surge", "unavailable", "replicas", "expected"),
    [
        ("25%", "25%", 4, Limits(1, 1)),
        ("25%", "25%", 10, Limits(3, 2)),
        ("25%", "25%", 1, Limits(1, 0)),
        (0, "25%", 1, Limits(0, 1)),
        ("0%", "1%", 2, Limits(0, 1)),
        (3, 2, 4, Limits(3, 2)),
        (0, "100%", 3, Limits(0, 3)),
        (1, 5, 3, Limits(1, 3)),
        ("25%", "25%", 0, Limits(0, 0)),
        (2, 1, 0, Limits(2, 0)),
    ],
)
def test_percentages_round_surge_up_and_unavailability_down(
    surge: Bound, unavailable: Bound, replicas: int, expected: Limits
) -> None:
    """Both zero after rounding lets one be unavailable; never more are than there are pods."""
    assert limits(rolling(surge, unavailable), replicas) == expected


def test_recreate_has_neither_surge_nor_unavailability() -> None:
    """The annotation max-replicas of a Recreate is its size."""
    assert limits({"type": "Recreate"}, 4) == Limits(0, 0)


@pytest.mark.parametrize(
    ("new", "everything", "expected"),
    [(0, 4, 1), (1, 5, 1), (2, 4, 3), (3, 4, 4), (0, 6, 0), (4, 4, 4)],
)
def test_the_new_replica_set_grows_into_the_surge(new: int, everything: int, expected: int) -> None:
    """With 4 replicas and a surge of 1 all ReplicaSets together have at most 5 pods."""
    assert new_size(replicas=4, surge=1, new=new, everything=everything) == expected


def test_a_rollout_in_its_middle_is_scaled_in_proportion() -> None:
    """The documented example: 10 replicas with 13 pods (8 old, 5 new) scaled to 15."""
    shares = [Share("old", 8, 13), Share("new", 5, 13)]
    sizes = proportional(shares, replicas=15, surge=3, actual=13)
    assert sizes == {"old": 11, "new": 7}


def test_what_rounding_leaves_over_goes_to_the_largest() -> None:
    """Of 5 more pods three thirds get one each, and the first two more."""
    shares = [Share(name, 5, 15) for name in ("a", "b", "c")]
    sizes = proportional(shares, replicas=16, surge=4, actual=15)
    assert sum(sizes.values()) == 20
    assert sizes["a"] >= max(sizes.values())


def test_scaling_to_zero_empties_all() -> None:
    """A rollout that is scaled to 0 keeps no pod of any template."""
    shares = [Share("old", 3, 5), Share("new", 2, 5)]
    assert proportional(shares, replicas=0, surge=1, actual=5) == {"old": 0, "new": 0}


def test_a_lost_annotation_counts_from_the_pods_there_are() -> None:
    """max-replicas that somebody removed is replaced by the Deployment's counter."""
    shares = [Share("old", 8, None), Share("new", 5, None)]
    sizes = proportional(shares, replicas=15, surge=3, actual=13)
    assert sizes == {"old": 11, "new": 7}


@given(
    sizes=st.lists(st.integers(min_value=1, max_value=50), min_size=2, max_size=4),
    replicas=st.integers(min_value=1, max_value=200),
    surge=st.integers(min_value=0, max_value=20),
)
def test_proportional_sizes_add_up_to_what_is_allowed(
    sizes: list[int], replicas: int, surge: int
) -> None:
    """Growing or shrinking, no pod is lost or added by rounding.

    Where the first would have to become negative, it stays at 0 (kubernetes `scale`, "leftover").
    """
    sizes.sort(reverse=True)
    before = sum(sizes)
    shares = [Share(str(place), size, before) for place, size in enumerate(sizes)]
    found = proportional(shares, replicas=replicas, surge=surge, actual=before)
    assert all(size >= 0 for size in found.values())
    if found["0"] > 0:
        assert sum(found.values()) == replicas + surge
    else:
        assert sum(found.values()) >= replicas + surge


def test_the_first_never_becomes_negative() -> None:
    """Four halves that each round up to no change leave more to take than the first has."""
    shares = [Share(name, 1, 4) for name in ("a", "b", "c", "d")]
    sizes = proportional(shares, replicas=1, surge=1, actual=4)
    assert sizes == {"a": 0, "b": 1, "c": 1, "d": 1}
