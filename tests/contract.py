"""The bond between docs/contract.md and the tests, as a pytest plugin.

A test says which rows it shows with `@pytest.mark.contract("B40", ...)`; an id that no row has ends
the collection. The reverse, rows that no test shows, is read from the tests' source, so that the
fast tier sees the end-to-end tests without running them. What scenarios show is shown in the fast
tier itself, on the sandbox; what is marked `long` counts too, since CI runs it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONTRACT = ROOT / "docs" / "contract.md"
TIERS = tuple(ROOT / "tests" / tier for tier in ("unit", "scenarios", "conformance", "e2e"))

_ROW = re.compile(r"^\| (B\d+) \| (.+?) \|", re.MULTILINE)


class UnreadableMarkError(Exception):
    """A contract mark whose ids cannot be read from the source, or that marks no test."""


def rows(text: str) -> list[tuple[str, str]]:
    """Return the contract's rows as (id, behaviour), in the order of the page."""
    return _ROW.findall(text)


def in_order(ids: Iterable[str]) -> list[str]:
    """Sort ids of rows as people count: B9 before B10."""
    return sorted(ids, key=lambda row: int(row.removeprefix("B")))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """End the collection where a test names a row that the contract does not have."""
    known = {row for row, _ in rows(CONTRACT.read_text(encoding="utf-8"))}
    wrong = [
        f"{item.nodeid}: {row!r} is no row of docs/contract.md"
        for item in items
        for mark in item.iter_markers("contract")
        for row in mark.args or ("nothing",)
        if row not in known
    ]
    if wrong:
        raise pytest.UsageError("\n".join(wrong))


def shown_by_tests(folders: Iterable[Path] = TIERS) -> dict[str, list[str]]:
    """Return for each id the test files that show it, read from the source of all tiers."""
    shown: dict[str, list[str]] = {}
    for folder in folders:
        for path in sorted(folder.rglob("test_*.py")):
            for row in shown_in(path.read_text(encoding="utf-8"), str(path)):
                shown.setdefault(row, []).append(path.name)
    return shown


def shown_in(source: str, name: str = "<test>") -> set[str]:
    """Return the ids that the tests of one file show.

    Counted are marks of tests and test classes, of `pytestmark`, and of single parameters. A
    skipped test shows nothing. Raises `UnreadableMarkError` for ids that are not written as plain
    strings and for marks on functions that pytest does not collect.
    """
    return {
        row for call in _marks(ast.parse(source, filename=name), name) for row in _ids(call, name)
    }


def _marks(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    if _is_mark(tree, "contract"):
        assert isinstance(tree, ast.Call)
        yield tree
    marks: list[ast.Call] = []
    if isinstance(tree, ast.FunctionDef | ast.ClassDef):
        marks = [call for decorator in tree.decorator_list for call in _marks(decorator, name)]
        if marks and not tree.name.startswith(("test", "Test")):
            raise UnreadableMarkError(f"{name}:{tree.lineno}: {tree.name} is marked and is no test")
        if any(_is_mark(decorator, "skip") for decorator in tree.decorator_list):
            return
    if isinstance(tree, ast.FunctionDef):
        yield from marks  # what its body says marks nothing
        return
    for child in ast.iter_child_nodes(tree):
        yield from _marks(child, name)


def _is_mark(node: ast.AST, mark: str) -> bool:
    """Tell whether a node is `pytest.mark.MARK(...)`, or `pytest.mark.skip` without a call."""
    function = node.func if isinstance(node, ast.Call) else node
    if not (isinstance(function, ast.Attribute) and function.attr == mark):
        return False
    called = isinstance(node, ast.Call) or mark == "skip"
    return called and ast.unparse(function) == f"pytest.mark.{mark}"


def _ids(call: ast.Call, name: str) -> Iterator[str]:
    for argument in call.args:
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            raise UnreadableMarkError(f"{name}:{call.lineno}: write the ids as plain strings")
        yield argument.value
