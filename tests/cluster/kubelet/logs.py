"""What containers wrote, made from their state alone: the same pod says the same lines.

The annotation `rollout-gate.test/logs` of the pod template changes what they say: `hostile` (what
tries to trick a terminal or a CI host), `long`, `none`, or any other text, which is said as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.cluster.kubelet.container import Container
from tests.cluster.kubelet.scripts import Terminated, Waiting

ANNOTATION = "rollout-gate.test/logs"
LONG_LINES = 10_000
LONG_LINE_BYTES = 1_000_000

HOSTILE = (
    "\x1b[2J\x1b[31mred and cleared\x1b[0m",
    "\x1b]8;;https://example.test\x07a link\x1b]8;;\x07",
    "::error file=app.py,line=1::injected by a log",
    "::set-output name=outcome::verified",
    "::add-mask::web",
    "##[group]injected",
    "##vso[task.complete result=Succeeded;]DONE",
    "section_start:0:injected\r\x1b[0Kheader",
    "overwritten\rin place",
    "right to left \u202etxt.exe",
    "a bell \x07 and a NUL \x00",
    "```\n</pre><script>alert(1)</script>",
    "token=eyJhbGciOiJub25lIn0.canary.canary",
)


class NoLogError(Exception):
    """There is no such log; the message is what a kubelet answers."""


@dataclass(frozen=True, slots=True)
class LogState:
    """What decides a container's log: whose it is, its attempt, how it ended, what it waits for."""

    pod: str
    container: str
    annotation: str
    attempt: int
    waiting: Waiting | None
    end: Terminated | None
    last_end: Terminated | None

    @classmethod
    def of(cls, container: Container, pod: str, annotation: str) -> LogState:
        """Return the state of `container` at this moment."""
        state = container.state
        return cls(
            pod=pod,
            container=container.part.name,
            annotation=annotation,
            attempt=container.restart_count,
            waiting=state if isinstance(state, Waiting) else None,
            end=state if isinstance(state, Terminated) else None,
            last_end=container.last_end,
        )

    def lines(self, *, previous: bool) -> list[str]:
        """Return the lines of this attempt, or of the one before; raises `NoLogError`."""
        if previous or (self.waiting and self.last_end):
            return self._previous()
        if self.waiting:
            raise NoLogError(
                f'container "{self.container}" in pod "{self.pod}" is waiting to start:'
                f" {self.waiting.message or self.waiting.reason}"
            )
        return self._said(self.attempt, self.end)

    def _previous(self) -> list[str]:
        """While a container backs off, its last attempt is both the current and the previous."""
        if self.last_end is None:
            raise NoLogError(
                f'previous terminated container "{self.container}" in pod "{self.pod}" not found'
            )
        return self._said(self.attempt - (self.waiting is None), self.last_end)

    def _said(self, attempt: int, end: Terminated | None) -> list[str]:
        start = f"{self.pod} {self.container}: attempt {attempt} starts"
        said = [start, *self._annotated()]
        if end is not None:
            said.append(f"fatal: {end.message or end.reason}; exit code {end.exit_code}")
        return [] if self.annotation == "none" else said

    def _annotated(self) -> list[str]:
        if self.annotation == "hostile":
            return list(HOSTILE)
        if self.annotation == "long":
            return [*(f"line {number}" for number in range(LONG_LINES)), "x" * LONG_LINE_BYTES]
        return [self.annotation] if self.annotation else []
