"""What containers wrote: attempts, options, and what a kubelet answers where there is none."""

from __future__ import annotations

import pytest

from sandbox.kubelet.logs import HOSTILE, LogOptions, NoLogError
from sandbox.kubelet.states import Pace
from tests.unit.sandbox.kubelet.stage import Stage, pod


def read(stage: Stage, options: LogOptions | None = None) -> str:
    """Return the log of the stage's one container."""
    state = stage.workers.log("shop", "web-1", "web")
    assert state
    return state.read(options or LogOptions()).decode()


def crashed_once() -> Stage:
    """Return a pod that ended at 2 s and runs again from 3 s on."""
    return Stage(Pace.NODE).run(pod(asked="crash=2;code=7", log="hello"), seconds=4)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (LogOptions(tail_lines=1), "hello\n"),
        (LogOptions(tail_lines=0), ""),
        (LogOptions(tail_lines=9), "web-1 web: attempt 1 starts\nhello\n"),
        (LogOptions(limit_bytes=5), "web-1"),
        (LogOptions(tail_lines=1, timestamps=True), "2026-01-01T00:00:03.000000000Z hello\n"),
    ],
)
def test_the_options_of_the_api_hold(options: LogOptions, text: str) -> None:
    """Lines are cut by count, by time and by bytes, and stamped where that is asked for."""
    assert read(crashed_once(), options) == text


@pytest.mark.parametrize(
    ("asked", "previous", "said"),
    [
        ("image-pull", False, "is waiting to start: image can't be pulled"),
        ("config-error", False, "is waiting to start: CreateContainerConfigError"),
        ("ready", True, 'previous terminated container "web" in pod "web-1" not found'),
    ],
)
def test_there_is_no_log_before_the_first_start(asked: str, previous: bool, said: str) -> None:
    """The refusal is in the words of a kubelet."""
    with pytest.raises(NoLogError, match=said):
        read(Stage().run(pod(asked=asked)), LogOptions(previous=previous))


@pytest.mark.parametrize(("log", "lines"), [("none", 0), ("long", 10_002), ("hostile", 14)])
def test_an_annotation_decides_what_is_written(log: str, lines: int) -> None:
    """Nothing, very much, or what tries to trick a terminal."""
    text = read(Stage().run(pod(log=log)))
    assert text.count("\n") == lines + (HOSTILE[-2].count("\n") if log == "hostile" else 0)
