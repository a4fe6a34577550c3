"""The table of locks on streams of any width."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gate.report.style.style import Style, columns
from gate.report.views.locks import LockRow, locks_table

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
ROW = LockRow(
    namespace="shop",
    name="rollout-gate.deployment.web",
    locks="deployment/web",
    state="dead",
    holder="a-runner-with-a-name 7112d9b0d206",
    run_url="https://github.com/shop/web/actions/runs/7",
    acquired_at="2026-11-21T11:55:00Z",
    renewed_at="",
    unfinished=True,
)


@pytest.mark.contract("B527")
def test_a_narrow_terminal_has_a_block_for_each_lock() -> None:
    """As a table where it fits; else nothing is wider than the terminal, and nothing is lost."""
    assert locks_table([ROW], NOW, Style(width=160)).split()[:2] == ["LOCK", "STATE"]
    text = locks_table([ROW, ROW], NOW, Style(width=40), with_namespace=True)
    assert all(columns(line) <= 40 for line in text.splitlines())
    first, second = text.rstrip("\n").split("\n\n")
    assert first == second
    assert [line.split(maxsplit=1)[0] for line in first.splitlines()][:4] == [
        "NAMESPACE",
        "LOCK",
        "STATE",
        "SINCE",
    ]
    for part in ("dead, unfinished", ROW.holder.split()[1], "runs/7"):
        assert part in " ".join(first.split()), first
