"""A comparison by counts with fresh old pods alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gate.core.checks.counter_answers import look_once
from gate.core.checks.measurement import Kind
from gate.core.checks.old_pods import OldPods
from gate.core.checks.questions import Answers, Form, Samples
from gate.core.checks.run import CheckRun
from gate.core.checks.spec import Check, ComparedPods, Counts, During, without_comparison
from tests.unit.core.checks.count_looks import (
    INCONCLUSIVE,
    PASS,
    Reading,
    answer,
    both,
    conclude,
    counts,
    counts_of,
    samples,
    started,
)


def fresh(during: During = During.BAKE) -> Check:
    """Return a comparison with fresh pods."""
    return counts(during, compared_pods=ComparedPods.FRESH)


def of_pods(**read: Reading) -> Samples:
    """Return the counters of pods by their names."""
    sides = {pod: samples(*counted).series for pod, counted in read.items()}
    return Samples(
        Form.VECTOR,
        tuple(
            replace(each, pod=pod, identity=pod) for pod, found in sides.items() for each in found
        ),
    )


def look(run: CheckRun, old_pods: OldPods, new: Reading, **old: Reading) -> CheckRun:
    """Look once, at a new pod and at old ones."""
    return answer(run, both(of_pods(new=new), of_pods(**old)), old_pods)


def counted_old(run: CheckRun) -> Reading:
    """Return what is compared with."""
    old = counts_of(run).evidence.old
    return old.bad, old.total


@pytest.mark.contract("B1206")
def test_fresh_pods_alone_are_compared_with() -> None:
    """From when they are fresh; what one counted last is read after it is gone."""
    run = look(started(fresh()), OldPods(frozenset({"a"})), (0, 0), a=(1, 100), b=(5, 900))
    run = look(run, OldPods(frozenset({"a"})), (1, 50), a=(2, 150), b=(9, 999))
    assert counted_old(run) == (1, 50)
    both_fresh = OldPods(frozenset({"a", "b"}))
    run = look(run, both_fresh, (2, 100), a=(3, 200), b=(10, 1010), c=(7, 70))
    assert counted_old(run) == (1 + 1 + 1, 50 + 50 + 11)
    run = look(run, OldPods(frozenset({"b"})), (3, 150), a=(4, 230), b=(10, 1010))
    assert counted_old(run) == (4, 141)
    run = look(run, OldPods(frozenset({"b"}), frozenset({"a"})), (3, 150), a=(9, 300), b=(10, 1010))
    assert counted_old(run) == (4, 141)
    assert "of 1 fresh old pod 4 of 141" in conclude(run).message


@pytest.mark.contract("B1207")
def test_without_a_fresh_pod_it_is_inconclusive() -> None:
    """However bad the new version is beside all the others; only a negligible rate passes."""
    others = OldPods(others=frozenset({"a"}))
    for bad, kind in ((9, INCONCLUSIVE), (0, PASS)):
        run = started(fresh())
        for number in range(61):
            grown = (1.0 * number, 200.0 * number)
            run = look(run, others, (bad * number, 200.0 * number), a=grown)
        said = conclude(run)
        assert said.kind is kind
    worse = look(look(started(fresh()), others, (0, 0), a=(0, 0)), others, (9, 10), a=(0, 10))
    assert conclude(worse).message.startswith("no old pod was started within 60s of a new one: ")


@pytest.mark.contract("B1207")
def test_counters_without_the_label_pod_are_an_error() -> None:
    """In a rollout, and before one, where the version that serves is looked at."""
    run = started(fresh())
    run = answer(run, both(of_pods(new=(0, 0)), samples(1, 10)))
    assert run.last is not None
    assert (run.last.kind, "has no label pod" in run.last.message) == (Kind.ERROR, True)
    alone = without_comparison(fresh()).probe
    assert isinstance(alone, Counts)
    found = look_once(alone, Answers(samples(1, 10)))
    assert (found.kind, found.permanent) == (Kind.ERROR, True)
    assert look_once(alone, Answers(of_pods(new=(1, 10)))).kind is Kind.PASS


@pytest.mark.contract("B1207")
def test_fresh_pods_that_are_gone_are_said_to_be() -> None:
    """Not that the whole old version is."""
    run = started(fresh())
    pods = OldPods(frozenset({"a"}))
    for number in range(14):
        old = min(number, 3)
        run = look(run, pods, (2.0 * number, 100.0 * number), a=(2.0 * old, 100.0 * old))
    assert run.settled
    assert conclude(run).message.startswith("the fresh old pods no longer serve; both ")
