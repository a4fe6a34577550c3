"""Which objects' rollouts are judged, and which locks they are written under."""

from __future__ import annotations

import pytest

from gate.core.kinds.registry import KINDS, is_workload, kind_of, unseen
from gate.core.model.fact import Unknown
from gate.core.model.objects import Ref


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_recognised_by_its_group_and_name(kind: object) -> None:
    """A custom kind of the same name is another kind."""
    known = next(one for one in KINDS if one is kind)
    assert kind_of(Ref(known.api_version, known.name, "shop", "web")) is known
    assert not is_workload(Ref("example.com/v1", known.name, "shop", "web"))


def test_a_kind_that_is_not_judged_has_no_rollout() -> None:
    """Asking for it is an error of the caller."""
    ref = Ref("v1", "ConfigMap", "shop", "settings")
    assert not is_workload(ref)
    with pytest.raises(KeyError):
        kind_of(ref)


def test_nothing_is_known_of_an_unseen_workload() -> None:
    """It is unknown, not absent: nothing may be concluded from it."""
    ref = Ref("apps/v1", "Deployment", "shop", "web")
    found = unseen(ref)
    assert (found.ref, found.kind, found.current_key) == (ref, kind_of(ref), "")
    assert isinstance(found.workload, Unknown)
