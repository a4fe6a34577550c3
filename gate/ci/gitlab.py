"""GitLab CI: collapsible sections. Outputs and the test report are files that the job declares.

Source: docs.gitlab.com, "Job logs: custom collapsible sections".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gate.ci.sink import Addition, Written, evidence
from gate.report.schema.result import Result

_CLEAR: Final = "\x1b[0K"


class GitLab:
    """The sections of one job's log; `at` is Unix time in seconds."""

    def __init__(self, at: int) -> None:
        """Take the time, which every section names."""
        self._at = at

    def frame_text(self, text: str) -> str:
        """Return it unchanged: only control characters are commands, and cleaned text has none."""
        return text

    def remarks(self, result: Result, reports: Sequence[Written]) -> str:  # noqa: ARG002
        """Return all evidence of each workload in a collapsed section."""
        return "".join(
            self._section(f"rollout_gate_evidence_{index}", title, text)
            for index, (title, text) in enumerate(evidence(result))
        )

    def _section(self, name: str, title: str, text: str) -> str:
        start = f"{_CLEAR}section_start:{self._at}:{name}[collapsed=true]\r{_CLEAR}{title}\n"
        return f"{start}{text}{_CLEAR}section_end:{self._at}:{name}\r{_CLEAR}\n"

    def additions(self, result: Result, reports: Sequence[Written]) -> Sequence[Addition]:  # noqa: ARG002
        """Return nothing: `--report dotenv=` and `--report junit=` write what the job declares."""
        return ()
