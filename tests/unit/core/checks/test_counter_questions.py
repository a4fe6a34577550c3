"""What a comparison by counts asks, of which version, from when on and for how long."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.checks.bake_window import least_bake_seconds, least_counting_seconds
from gate.core.checks.query_variables import Version
from gate.core.checks.questions import MetricQuestion, Questions
from gate.core.checks.spec import Counts, During, share_alpha, without_comparison
from gate.core.checks.tick_questions import Unaskable, ask
from tests.unit.core.checks.count_looks import counts, started, steady
from tests.unit.core.checks_world import SUBJECT

# -- what is asked ---------------------------------------------------------------------------------


@pytest.mark.contract("B1158")
def test_both_versions_are_asked_one_question_each_for_one_time() -> None:
    """Some time ago, when everything had been scraped; a label tells bad ones from all."""
    questions = ask(counts(scrape_seconds=15.0), 100.0, SUBJECT, During.BAKE)
    assert not isinstance(questions, Unaskable)
    text = (
        'label_replace((requests{pod=~"web-new-.*",code=~"5.."}\n), '
        '"rollout_gate_counted", "bad", "", "")'
        ' or label_replace((requests{pod=~"web-new-.*"}\n), '
        '"rollout_gate_counted", "total", "", "")'
    )
    assert questions.value == MetricQuestion(text, 85.0)
    assert questions.baseline == MetricQuestion(text.replace("web-new", "web-old"), 85.0)
    assert (questions.samples, questions.freshness) == (None, None)


@pytest.mark.contract("B1158")
def test_counting_starts_from_what_was_there_within_the_last_hour() -> None:
    """A target that is not scraped at that moment has not begun at 0; others start at that time."""
    questions = ask(counts(), 100.0, SUBJECT, During.BAKE, begins=True)
    assert not isinstance(questions, Unaskable)
    assert isinstance(questions.value, MetricQuestion)
    now = ask(counts(), 100.0, SUBJECT, During.BAKE)
    assert isinstance(now, Questions)
    assert isinstance(now.value, MetricQuestion)
    text = now.value.query
    assert questions.value.query == f"({text}\n) or last_over_time(({text}\n)[1h:30s])"
    run = started()
    assert run.begins
    assert not steady(run, 1, (0, 0), (0, 0)).begins


@pytest.mark.contract("B1158")
def test_a_version_that_is_not_known_is_not_asked_about() -> None:
    """The new one, before it exists; of an old one its label alone may be known."""
    for unknown, missing in (
        (replace(SUBJECT, new=Version()), "replicaset"),
        (replace(SUBJECT, baseline=Version(label_value="old")), "baseline_replicaset"),
    ):
        assert ask(counts(), 9.0, unknown, During.BAKE) == Unaskable(missing)
    alone = without_comparison(counts())
    questions = ask(alone, 100.0, replace(SUBJECT, baseline=None), During.BAKE)
    assert not isinstance(questions, Unaskable)
    assert questions.baseline is None


@pytest.mark.contract("B1159")
def test_the_first_look_is_after_the_warm_up() -> None:
    """And as much later as counters are read late."""
    assert started(counts(warm_up_seconds=60.0, scrape_seconds=15.0)).wake_at == 75.0


# -- around it -------------------------------------------------------------------------------------


@pytest.mark.contract("B1155")
def test_checks_that_decide_share_alpha() -> None:
    """Those that only report have no part in it, and get none."""
    reporting = replace(counts(), required=False)
    checks = share_alpha([counts(), reporting, counts(During.BOTH)])
    splits = [check.probe.rule.split for check in checks if isinstance(check.probe, Counts)]
    assert splits == [2, 1, 2]


@pytest.mark.contract("B1161")
def test_the_bake_window_is_as_long_as_sixty_looks() -> None:
    """Ten minutes, unless the check is settled earlier."""
    check = counts(warm_up_seconds=60.0)
    assert least_bake_seconds([check]) == 60 + 30 + 62 * 10
    assert least_counting_seconds(check) == 60 + 30 + 9 * 10
