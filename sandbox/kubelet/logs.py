"""What containers wrote, made from their state alone: the same pod says the same lines.

The annotation `sandbox.rollout-gate.dev/logs` of the pod template changes what they say: `hostile`
(what tries to trick a terminal or a CI host), `long`, `none`, or any other text, said as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from sandbox.kubelet.container import PULL_FAILED, Container, Phase, Terminated, Waiting

ANNOTATION: Final = "sandbox.rollout-gate.dev/logs"
LONG_LINES: Final = 10_000
LONG_LINE_BYTES: Final = 10_000_000

HOSTILE: Final = (
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

_NOT_STARTED: Final = {
    PULL_FAILED: "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
}
"""What a kubelet says instead of the reason for which a container waits."""


class NoLogError(Exception):
    """There is no such log; the message is what a kubelet answers, with 400."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """The options of `pods/log`."""

    previous: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    timestamps: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """What was written, and when (RFC 3339)."""

    at: str
    text: str


@dataclass(frozen=True, slots=True)
class LogState:
    """What decides a container's log: whose it is, its attempt and the end of the one before."""

    pod: str
    container: str
    text: str
    attempt: int
    phase: Phase
    last_end: Phase | None

    @classmethod
    def of(cls, container: Container, pod: str, text: str) -> LogState:
        """Return the state of `container` at this moment; `text` as the annotation has it."""
        return cls(
            pod=pod,
            container=container.part.name,
            text=text,
            attempt=container.restart_count,
            phase=container.attempt,
            last_end=container.last_end,
        )

    def read(self, options: LogOptions) -> bytes:
        """Return the log as `GET pods/log` answers it; raises `NoLogError`."""
        lines = self.lines(previous=options.previous)
        if options.tail_lines is not None:
            lines = lines[-options.tail_lines :] if options.tail_lines else []
        body = "".join(_render_line(line, options) for line in lines).encode()
        return body if options.limit_bytes is None else body[: options.limit_bytes]

    def lines(self, *, previous: bool) -> list[Line]:
        """Return the lines of this attempt, or of the one before; raises `NoLogError`.

        While a container backs off, its last attempt is both the current and the previous.
        """
        waiting = self.phase.step.state if isinstance(self.phase.step.state, Waiting) else None
        if previous or (waiting and self.last_end):
            if self.last_end is None:
                raise NoLogError(f"previous terminated {self._shown} not found")
            return self._list_attempt_lines(self.attempt - (waiting is None), self.last_end)
        if waiting:
            why = _NOT_STARTED.get(waiting.reason, waiting.reason)
            raise NoLogError(f"{self._shown} is waiting to start: {why}")
        return self._list_attempt_lines(self.attempt, self.phase)

    @property
    def _shown(self) -> str:
        return f'container "{self.container}" in pod "{self.pod}"'

    def _list_attempt_lines(self, attempt: int, phase: Phase) -> list[Line]:
        if self.text == "none":
            return []
        start = f"{self.pod} {self.container}: attempt {attempt} starts"
        lines = [Line(phase.started_at, text) for text in (start, *self._iter_asked_lines())]
        if isinstance(end := phase.step.state, Terminated):
            said = f"fatal: {end.message or end.reason}; exit code {end.exit_code}"
            lines.append(Line(phase.ended_at, said))
        return lines

    def _iter_asked_lines(self) -> Iterator[str]:
        if self.text == "hostile":
            yield from HOSTILE
        elif self.text == "long":
            yield from (f"line {number}" for number in range(LONG_LINES))
            yield "x" * LONG_LINE_BYTES
        elif self.text:
            yield self.text


def _render_line(line: Line, options: LogOptions) -> str:
    stamp = f"{line.at.removesuffix('Z')}.000000000Z " if options.timestamps else ""
    return f"{stamp}{line.text}\n"
