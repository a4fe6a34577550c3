"""What came in place of a clear answer to a write, so that nobody knows whether it was done."""

from __future__ import annotations

from typing import Final

from gate.core.frozen import dataclass

ANSWERED_WITH: Final = "the server answered with"
"""How every line begins that names an error which leaves open whether a write was done."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """The last error of the writes to an object; `answer` is the server's, "" if nothing came."""

    why: str
    answer: str = ""

    def describe(self) -> str:
        """Say what came; of a server that answered, not that the answer was lost."""
        if not self.answer:
            return "its answer was lost"
        return f"{ANSWERED_WITH} {self.answer}: {self.why}"
