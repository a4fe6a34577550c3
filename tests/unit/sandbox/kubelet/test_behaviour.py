"""The grammar of behaviours: what can be asked, of whom, and what is said to what cannot."""

from __future__ import annotations

import pytest

from sandbox.kubelet.behaviour import BehaviourError, Clause, Kind, PullFailure, parse


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("", ()),
        ("crash", (Clause(Kind.CRASH),)),
        ("crash=0.5", (Clause(Kind.CRASH, 0.5),)),
        ("ready=1m30s", (Clause(Kind.READY, 90.0),)),
        (" crash ; code = 9 ; only=2 ", (Clause(Kind.CRASH, code=9, only=2),)),
        ("image-pull;why=denied", (Clause(Kind.IMAGE_PULL, why=PullFailure.DENIED),)),
        (
            "oom;container=proxy, evicted=3,",
            (Clause(Kind.OOM, container="proxy"), Clause(Kind.EVICTED, 3.0)),
        ),
    ],
)
def test_clauses_are_read(text: str, clauses: tuple[Clause, ...]) -> None:
    """Kinds, durations and options mean what the documentation says, whatever the spaces."""
    assert parse(text) == clauses


@pytest.mark.parametrize(
    ("text", "offset", "said"),
    [
        ("crush", 0, "no such behaviour: crush; there are ready, never-ready"),
        ("crash=soon", 0, "crash: not a duration: 'soon'"),
        ("never-ready=5", 0, "never-ready takes no duration"),
        ("crash; often=3", 7, "no such option: often; there are container, only, node, why, code"),
        ("image-pull;why=moon", 11, "no such cause: moon; there are not-found"),
        ("crash;why=denied", 6, "crash takes no why=denied"),
        ("ready;code=3", 6, "ready takes no code=3"),
        ("crash;only=-1", 6, "crash takes no only=-1"),
        ("evicted;container=web", 8, "evicted takes no container=web"),
        (";", 0, "no such behaviour"),
    ],
)
def test_what_does_not_exist_is_named_with_its_place(text: str, offset: int, said: str) -> None:
    """A mistake is told with what there is instead, and where in the text it stands."""
    with pytest.raises(BehaviourError) as raised:
        parse(text)
    [problem] = raised.value.problems
    assert problem.offset == offset
    assert said in problem.message


def test_every_mistake_is_told_at_once() -> None:
    """Two wrong clauses and two wrong options are four problems."""
    with pytest.raises(BehaviourError) as raised:
        parse("crush, ready, oom;code=1;x=2, smash")
    assert [problem.offset for problem in raised.value.problems] == [0, 18, 25, 30]
