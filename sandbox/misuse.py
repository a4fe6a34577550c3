"""What was asked of the sandbox cannot be done: the error of whoever asks, not of a cluster."""

from __future__ import annotations


class SandboxError(Exception):
    """`problems` has a line for each mistake, `hint` what to do instead, which may be empty."""

    def __init__(self, *problems: str, hint: str = "") -> None:
        super().__init__("; ".join(problems))
        self.problems = problems
        self.hint = hint
