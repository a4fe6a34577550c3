"""Trials are drawn from seeds, and actions are many."""

from __future__ import annotations

from tests.interference.actions import ACTIONS
from tests.interference.leaves import leaves
from tests.interference.trial import MOST_EXTRA_ACTIONS, Anchor, Part, Start, draw

SEEDS = range(200)


def test_a_seed_is_always_the_same_trial() -> None:
    """What a seed draws does not depend on what was drawn before."""
    assert [draw(seed) for seed in SEEDS] == [draw(seed) for seed in reversed(SEEDS)][::-1]


def test_two_hundred_trials_reach_everything() -> None:
    """Every action, anchor, start and part is drawn, for good and for bad versions."""
    drawn = [draw(seed) for seed in SEEDS]
    steps = [step for trial in drawn for step in trial.steps]
    assert {step.action for step in steps} == set(ACTIONS)
    assert {step.anchor for step in steps} == set(Anchor)
    assert {trial.start for trial in drawn} == set(Start)
    assert {part for trial in drawn for part in trial.parts} == set(Part)
    assert {trial.is_good for trial in drawn} == {True, False}
    assert len(ACTIONS) >= 30


def test_a_trial_has_one_second_gate_at_most() -> None:
    """Two gates are told apart by their users, and there is one more user alone."""
    for trial in map(draw, SEEDS):
        assert len(trial.steps) <= 1 + MOST_EXTRA_ACTIONS
        assert sum(action.runs_gate for action in trial.actions) <= 1
        assert sum(action.is_global for action in trial.actions) <= 1


def test_lists_of_named_things_go_by_name() -> None:
    """The order of containers is no change, and what a controller or the server writes is none."""
    one, other = {"name": "web", "image": "a"}, {"name": "mesh", "image": "b"}
    revision = {"deployment.kubernetes.io/revision": "2"}
    before = {"metadata": {"name": "x"}, "spec": {"containers": [one, other]}}
    after = {
        "metadata": {"name": "x", "uid": "1", "annotations": revision},
        "spec": {"containers": [other, one], "paused": None},
        "status": {"replicas": 1},
    }
    assert leaves(before) == leaves(after)
