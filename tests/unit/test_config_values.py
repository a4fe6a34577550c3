"""The values of settings: what each kind takes, and what the core is told of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gate.config import Settings, SettingsError, load, policy
from gate.config.option_values import BadValuesError
from gate.core.model.int_or_percent import Share
from gate.core.rollout.policy import (
    Budgets,
    FailFast,
    OnFailure,
    OnFirstFailure,
    OnInterrupt,
    Policy,
    Requirement,
    Response,
)
from gate.manifests.images import ImageOverride
from gate.manifests.kinds.rules import LintCode


@pytest.mark.contract("B181")
@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("timeout", "600", 600),
        ("timeout", 600, 600),
        ("timeout", "1h30m", 5400),
        ("bake", 0, 0),
        ("bake", "1.5", 1.5),
        ("tolerate", "3", Share(3)),
        ("tolerate", 3, Share(3)),
        ("tolerate", "25%", Share(25, percent=True)),
        ("require", "min-available", "min-available"),
        ("to_revision", "7", 7),
        ("observe", "yes", True),
        ("observe", "false", False),
        ("file", "a.yaml\n\n b.yaml\n", ("a.yaml", "b.yaml")),
        ("silence", "all", frozenset(LintCode)),
        ("image", "web=shop/web:2", (ImageOverride(None, "web", "shop/web:2"),)),
    ],
)
def test_values_are_read_from_text_and_from_yaml(
    option: str, value: object, wanted: object
) -> None:
    """A number and its text mean the same; one text is a list of its lines."""
    assert getattr(Settings.of({option: value}), option) == wanted


@pytest.mark.contract("B181")
@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("bake", True),
        ("bake", ["1s"]),
        ("connect_timeout", "0"),
        ("tolerate", "half"),
        ("tolerate", 1.5),
        ("tolerate", True),
        ("require", "0"),
        ("require", "101%"),
        ("to_revision", "0"),
        ("to_revision", "9" * 5000),
        ("to_revision", True),
        ("namespace", " "),
        ("namespace", 12),
        ("file", [1]),
        ("file", {"a": "b"}),
        ("observe", "perhaps"),
        ("observe", [True]),
        ("on_failure", ["keep"]),
        ("on_failure", "KEEP"),
        ("silence", ["nothing-such"]),
        ("image", ["web"]),
        ("report", ["xml=out.xml"]),
        ("report", ["json="]),
        ("report", "json"),
    ],
)
def test_a_value_of_another_kind_is_wrong(option: str, value: object) -> None:
    """Nothing is guessed."""
    with pytest.raises(BadValuesError):
        Settings.of({option: value})


@pytest.mark.contract("B112")
@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (
            "image-pull=1m",
            {
                "image_invalid_seconds": 60.0,
                "image_refused_seconds": 60.0,
                "image_unclear_seconds": 60.0,
            },
        ),
        ("container-config=off", {"container_config_seconds": None}),
        (
            "pod-create=0",
            {
                "denied_by_policy_seconds": 0.0,
                "denied_by_webhook_seconds": 0.0,
                "denied_by_quota_seconds": 0.0,
            },
        ),
        ("replicaset-create=1s", {"replica_set_create_seconds": 1.0}),
        ("crash=5", {"crash_restarts": 5}),
        ("readiness-lost=off", {"readiness_losses": None}),
    ],
)
def test_fail_fast_sets_all_classes_of_a_kind(text: str, changes: dict[str, Any]) -> None:
    """A duration is the grace of each class, a count is a count, and `off` switches off."""
    settings = Settings.of({"fail_fast": [text]})
    assert policy(settings).fail_fast == FailFast(**changes)


@pytest.mark.contract("B112")
@pytest.mark.parametrize(
    ("texts", "problem", "hint"),
    [
        (["crush=3"], "no such kind of failure: 'crush=3'", "crash, readiness-lost"),
        (["crash=3m"], "crash: not a count: '3m'", "count"),
        (["crash=0"], "crash: not a count: '0'", "count"),
        (["image-pull"], "image-pull: not a duration: ''", "duration"),
        (["crash=3", "crash=4"], "given twice: crash", ""),
    ],
)
def test_fail_fast_names_what_it_takes(texts: list[str], problem: str, hint: str) -> None:
    """A wrong kind is answered with the kinds, a wrong value with what the kind takes."""
    with pytest.raises(SettingsError) as caught:
        load("apply", {"fail_fast": tuple(texts)}, environ={})
    assert caught.value.message == f"--fail-fast: {problem}"
    assert hint in caught.value.hint


@pytest.mark.contract("B908")
@pytest.mark.parametrize(
    ("key", "given", "form"),
    [
        ("fail-fast", "{crash: 4, image-pull: off}", "[crash=4, image-pull=off]"),
        ("fail-fast", "[{crash: 4}, {image-pull: 2m}]", "[crash=4, image-pull=2m]"),
        ("image", "{web: 'shop/web:2'}", "[web=shop/web:2]"),
        ("report", "{html: page.html}", "[html=page.html]"),
    ],
)
def test_a_mapping_is_answered_with_the_form_that_works(
    tmp_path: Path, key: str, given: str, form: str
) -> None:
    """It is the most natural thing to write; quotes do not make it right."""
    path = tmp_path / "gate.yaml"
    path.write_text(f"{key}: {given}")
    with pytest.raises(SettingsError) as caught:
        load("apply", {"config": (str(path),)}, environ={})
    assert f"gate.yaml:1: {key}: a mapping, not a list" in caught.value.message
    assert caught.value.hint == f"write {form}"
    path.write_text(f"{key}: {form}")
    load("apply", {"config": (str(path),)}, environ={})


def test_the_policy_is_what_the_settings_say() -> None:
    """Each deciding option reaches the core, and nothing said is the core's own default."""
    assert policy(Settings()) == Policy()
    settings = Settings(
        timeout=600,
        progress_deadline=240,
        rollback_timeout=300,
        bake=30,
        on_failure=OnFailure.PAUSE,
        on_first_failure=OnFirstFailure.DELETE,
        on_interrupt=OnInterrupt.KEEP,
        observe=True,
        tolerate=Share(1),
        require=Share(50, percent=True),
        wait_for_termination=True,
        prune_created=True,
        force_conflicts=True,
    )
    assert policy(settings) == Policy(
        budgets=Budgets(
            timeout_seconds=600,
            rollback_timeout_seconds=300,
            progress_deadline_seconds=240,
            bake_seconds=30,
        ),
        response=Response(
            on_failure=OnFailure.PAUSE,
            on_first_failure=OnFirstFailure.DELETE,
            on_interrupt=OnInterrupt.KEEP,
            prune_created=True,
            force_conflicts=True,
        ),
        observe=True,
        requirement=Requirement(
            tolerate=Share(1), require=Share(50, percent=True), wait_for_termination=True
        ),
    )
    least = policy(Settings(require="min-available")).requirement
    assert (least.require, least.require_min_available) == (None, True)
