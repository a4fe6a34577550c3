"""What is wrong with checks before anything is asked, all of it at once."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gate.app.preflight.check_subjects import (
    UnfitChecks,
    ref_of,
    require_answerable,
    require_askable,
)
from gate.config import load
from gate.config.limits import all_checks
from gate.core.kinds.daemon_set.objects import DAEMON_SET
from gate.core.kinds.deployment.objects import DEPLOYMENT
from gate.core.kinds.stateful_set.objects import STATEFUL_SET
from gate.core.model.objects import Ref
from gate.errors import UsageError
from tests.table import each


@pytest.mark.contract("B455", "B454")
def test_every_problem_is_named_at_once(tmp_path: Path) -> None:
    """Each with its check; what to do about them is said once for all that it helps."""
    given = {
        "check": ("one: up <= 1", "two: up <= 2"),
        "smoke_test": ("no-such-program-anywhere",),
    }
    settings = load("apply", given, environ={}, folder=tmp_path)
    with pytest.raises(UnfitChecks) as caught:
        require_answerable(settings, all_checks(settings))
    assert caught.value.problems == (
        "check one: no Prometheus is configured",
        "check two: no Prometheus is configured",
        "check no-such-program-anywhere: no program 'no-such-program-anywhere' is found",
    )
    assert caught.value.hint.count("--prometheus-url") == 1


@pytest.mark.contract("B455", "B1213", "B1294")
@each("kind", [STATEFUL_SET, DAEMON_SET])
def test_what_a_kind_never_has_is_refused_before_a_rollout(tmp_path: Path, kind: str) -> None:
    """A ready-made check goes by the name of a ReplicaSet, unless it says by which label."""
    ready_made = {"checks": [{"use": "error-share"}], "prometheus_url": "http://127.0.0.1:9"}
    settings = load("apply", ready_made, environ={}, folder=tmp_path)
    with pytest.raises(UnfitChecks, match=r"db has no \$\{replicaset\}") as caught:
        require_askable(all_checks(settings), [Ref("apps/v1", kind, "shop", "db")])
    assert "${controller_revision_hash}" in caught.value.hint
    by_label = {"use": "error-share", "pods": 'hash="${controller_revision_hash}"'}
    settings = load("apply", {**ready_made, "checks": [by_label]}, environ={}, folder=tmp_path)
    require_askable(all_checks(settings), [Ref("apps/v1", kind, "shop", "db")])


@pytest.mark.contract("B1318")
@each(
    ("said", "query", "found"),
    [
        ("statefulset/db", "up{pod=~'${controllerrevision}.*'}", STATEFUL_SET),
        ("deployment/db", "up{pod=~'${replicaset}.*'}", DEPLOYMENT),
        ("db", "up{pod=~'${replicaset}.*'}", "say which .* deployment: statefulset/db"),
        ("", "up{pod=~'${replicaset}.*'}", "say which .* deployment: statefulset/db"),
        ("daemonset/db", "up", "there is statefulset/db, deployment/db"),
    ],
)
def test_of_two_kinds_with_one_name_a_check_says_which_it_means(
    tmp_path: Path, said: str, query: str, found: str
) -> None:
    """The hint names what works: a name alone says no more than before."""
    one = {"name": "errors", "query": query, "max": 1, **({"deployment": said} if said else {})}
    given = {"checks": [one], "prometheus_url": "http://127.0.0.1:9"}
    (check,) = all_checks(load("apply", given, environ={}, folder=tmp_path))
    refs = [Ref("apps/v1", kind, "shop", "db") for kind in (STATEFUL_SET, DEPLOYMENT)]
    if found in (STATEFUL_SET, DEPLOYMENT):
        chosen = ref_of(check, refs)
        assert chosen is not None
        assert chosen.kind == found
        return
    with pytest.raises(UsageError) as caught:
        ref_of(check, refs)
    assert re.search(found, caught.value.hint)
