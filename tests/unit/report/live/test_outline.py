"""Whatever there is to tell fits the lines that there are, the worst of it first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gate.report.live.outline import Branch, fit_outline
from gate.report.live.view import (
    CheckView,
    ClockView,
    Mark,
    PodGroup,
    PodView,
    RevisionView,
    View,
    WorkloadView,
)

CLOCKS = (ClockView("no progress", 1.0, 60.0), ClockView("in all", 5.0, 900.0))


def pods(count: int, kind: str = "CrashLoopBackOff", mark: Mark = Mark.BAD) -> PodGroup:
    """Return pods that are alike."""
    named = tuple(PodView(f"web-2-{kind[:2]}{n}", f"{kind}; {n} restarts") for n in range(count))
    return PodGroup(mark, kind, named)


def deployment(*groups: PodGroup, name: str = "web", mark: Mark = Mark.MOVING) -> WorkloadView:
    """Return a Deployment with pods of its new ReplicaSet, and an old one that serves."""
    ready = (PodGroup(Mark.GOOD, "ready", tuple(PodView(f"web-1-{n}", "ready") for n in "abc")),)
    new = RevisionView("new", "web-2", "2", "shop/web:2", 0, 4, groups)
    old = RevisionView("old", "web-1", "1", "shop/web:1", 3, 3, ready)
    return WorkloadView(f"deployment/{name}", "shop", mark, "0 of 4", "", (new, old))


def texts(branches: tuple[Branch, ...]) -> Iterator[str]:
    """Yield the lines of branches, without their guides."""
    for branch in branches:
        words = (branch.name, branch.words, branch.quiet)
        yield " ".join(word for word in words if word)
        yield from texts(branch.below)


def outline_lines(view: View, height: int) -> list[str]:
    """Return the lines of a view in that height."""
    return list(texts(fit_outline(view, height).branches))


@pytest.mark.contract("B631")
def test_many_pods_are_a_number() -> None:
    """The less room there is, the fewer are named."""
    groups = (pods(400), pods(600, "ready", Mark.GOOD))
    view = View("rolling out", Mark.MOVING, 1.0, [deployment(*groups)], clocks=CLOCKS)
    wide = outline_lines(view, 20)
    assert "392 more pods CrashLoopBackOff" in wide
    assert "600 pods ready" in wide
    narrow = outline_lines(view, 8)
    assert narrow[2:4] == ["400 pods CrashLoopBackOff", "600 pods ready"]
    assert outline_lines(view, 6)[1:] == [
        "new web-2 0 of 4 ready, shop/web:2",
        "old web-1 3 of 3 ready, shop/web:1",
    ]


@pytest.mark.contract("B631")
def test_of_many_deployments_those_in_trouble_are_told() -> None:
    """One that is complete is a line, and those without room are counted."""
    several = [deployment(name=f"good-{n}", mark=Mark.GOOD) for n in range(30)]
    several.append(deployment(pods(1), name="bad", mark=Mark.BAD))
    view = View("rolling out", Mark.MOVING, 1.0, several, clocks=CLOCKS)
    lines = outline_lines(view, 18)
    assert lines[0] == "deployment/bad in shop 0 of 4"
    assert lines[-1] == "19 more Deployments"


def test_of_many_checks_the_best_are_left_out() -> None:
    """What is left out is counted under its sign."""
    checks = [CheckView(f"ok-{n}", Mark.GOOD, "1", "<= 2") for n in range(20)]
    checks.append(CheckView("bad", Mark.BAD, "9", "<= 2", "2 failed"))
    view = View("rolling out", Mark.MOVING, 1.0, [deployment()], checks, CLOCKS)
    lines = outline_lines(view, 20)
    assert "bad 9 (good: <= 2) 2 failed" in lines
    assert lines[-1] == "9 more checks"


GROUPS = st.lists(st.builds(pods, st.integers(1, 40), st.text("abc", min_size=1)), max_size=12)
DEPLOYMENTS = st.builds(
    lambda groups, mark: deployment(*groups, mark=mark), GROUPS, st.sampled_from(Mark)
)
CHECKS = st.lists(st.builds(CheckView, st.text("xyz"), st.sampled_from(Mark), st.just("1"),
                            st.just("<= 2")), max_size=20)  # fmt: skip


@pytest.mark.contract("B631")
@given(st.lists(DEPLOYMENTS, max_size=8), CHECKS, st.integers(1, 60))
def test_it_fits_every_height(
    deployments: list[WorkloadView], checks: list[CheckView], height: int
) -> None:
    """Never a line too many, from one line on."""
    view = View("rolling out", Mark.MOVING, 1.0, deployments, checks, CLOCKS)
    assert fit_outline(view, height).lines <= height
