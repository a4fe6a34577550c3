"""What the locks of other workloads say of shared objects, before an undo or a failure."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from gate.app.preflight import neighbours
from gate.core.kinds.deployment.objects import deployment_ref
from gate.core.model.fact import Absent
from gate.core.model.field_manager import FIELD_MANAGER
from gate.core.model.lock import lock_of
from gate.core.model.objects import Ref
from gate.core.plan.leg import Leg
from gate.core.plan.record import Kept, Record
from gate.core.rollout.policy import Policy
from gate.kube.locks.lease import Held
from gate.wire.record import fitting

if TYPE_CHECKING:
    from gate.app.runtime.session import Session

WEB, API = deployment_ref("shop", "web"), deployment_ref("shop", "api")
SETTINGS = Ref("v1", "ConfigMap", "shop", "settings")


def held(*refs: Ref) -> Held:
    """Return the lock of api, with the record of an unfinished attempt on some objects."""
    kept = tuple(Kept(ref, Absent(), None, FIELD_MANAGER) for ref in refs)
    text, _ = fitting(Record("apply", Leg.FORWARD, kept, (), Policy()))
    return Held(lock_of(API), "uid", "1", record=text)


@pytest.mark.contract("B1900")
@pytest.mark.parametrize(
    ("lease", "is_needed", "is_unread"),
    [
        (held(SETTINGS, API), True, False),
        (held(SETTINGS, API, WEB), False, False),
        (replace(held(), record="?"), False, True),
    ],
    ids=["of-another", "of-its-own", "unreadable"],
)
def test_an_unfinished_attempt_of_another_run_is_known(
    monkeypatch: pytest.MonkeyPatch, lease: Held, *, is_needed: bool, is_unread: bool
) -> None:
    """One on the workload itself is none: whoever holds its locks knows of it."""
    leases = SimpleNamespace(all=lambda _: [lease])
    monkeypatch.setattr(neighbours, "lock_client", lambda _: None)
    monkeypatch.setattr(neighbours, "Leases", lambda _: leases)
    monkeypatch.setattr(neighbours, "read_facts", lambda *_: {})
    found = neighbours.read_neighbours(cast("Session", None), [SETTINGS], [WEB])
    assert (found.find_attempt(SETTINGS, "digest") == lock_of(API)) is is_needed
    assert bool(found.unread) is is_unread
