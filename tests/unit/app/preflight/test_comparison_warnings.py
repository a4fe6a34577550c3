"""Which comparisons an apply leaves without old pods for as long as they need."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gate.app.preflight.comparison_warnings import warn_of_comparisons
from gate.app.preflight.server_dry_run import Prepared
from gate.config import Settings, load
from gate.core.kinds.stateful_set.objects import StatefulSet
from gate.core.model.body import Body
from gate.core.model.fact import Known
from gate.core.model.live_object import LiveObject
from gate.core.model.objects import Workload
from tests.table import each
from tests.unit.core.kinds.stateful_set.test_blocking import stateful_set
from tests.unit.core.world import deployment, template

COUNTS: dict[str, Any] = {"bad": "bad{HASH}", "total": "all{HASH}"}
RATIO: dict[str, Any] = {"query": "share{HASH}", "compare": {"max-ratio": 1.5}}


def settings_of(check: dict[str, Any], live: Workload, folder: Path) -> Settings:
    """Return the settings of an apply with a check while both versions of a workload serve."""
    is_stateful = isinstance(live, StatefulSet)
    variable = "controller_revision_hash" if is_stateful else "pod_template_hash"
    queries = {
        key: value.replace("HASH", f'hash="${{{variable}}}"') if isinstance(value, str) else value
        for key, value in check.items()
    }
    given = {"checks": [{"name": "errors", "during": "both", **queries}]}
    url = {"prometheus_url": "http://127.0.0.1:9"}
    return load("apply", {**given, **url}, environ={}, folder=folder)


def warnings_of(settings: Settings, live: Workload) -> list[str]:
    """Return what is warned of where an apply brings a new version to a workload."""
    after = LiveObject(live.ref, "uid", "1", Body.of({}), Body.of({}), workload=live)
    before = replace(after, workload=replace(live, template=template("shop/web:0")))
    item = Prepared(live.ref, {}, Known(before), taken=None, autoscaled=False, force=False)
    said: list[str] = []
    warn_of_comparisons(settings, [item], {live.ref: after}, said.append)
    return said


@pytest.mark.contract("B1474")
@each(
    ("check", "live", "is_warned"),
    [
        (COUNTS, deployment(), True),
        (COUNTS, stateful_set(), True),
        (COUNTS, deployment(min_ready_seconds=30), False),
        (COUNTS, stateful_set(partition=1), False),
        (RATIO, deployment(), False),
    ],
)
def test_a_rolling_update_that_nothing_holds_back_is_warned_of(
    check: dict[str, Any], live: Workload, is_warned: bool, tmp_path: Path
) -> None:
    """A partition does, `minReadySeconds` may; another comparison needs no number of looks."""
    short = (
        f"check errors compares with the old version, and {live.ref} may replace all pods within"
        " seconds, as it has no minReadySeconds: a comparison needs at least 9 looks at both"
    )
    said = warnings_of(settings_of(check, live, tmp_path), live)
    assert [one.startswith(short) for one in said] == [True] * is_warned
