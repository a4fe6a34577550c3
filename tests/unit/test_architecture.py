"""The cuts of the architecture that import-linter cannot express: purity, start-up, sizes.

Layers and who may know which library stand in pyproject.toml as import-linter's contracts.
"""

from __future__ import annotations

import ast
import functools
import json
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
GATE = ROOT / "gate"
SOURCES = sorted(GATE.rglob("*.py"))

PURE = {
    "__future__", "abc", "base64", "bisect", "collections", "contextlib", "copy", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq",
    "itertools", "json", "math", "operator", "re", "string", "types", "typing",
}  # fmt: skip
"""What the core may import of the standard library; nothing in it acts when it is not asked to."""

ACTING = {"asyncio", "http", "kubernetes", "logging", "requests", "socket", "ssl", "subprocess"}
ACTING |= {"threading", "urllib", "yaml"}
"""What importing the core may not load; `time` is loaded by the interpreter itself."""

IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
IMPURE_METHODS = {"now", "utcnow", "today"}
"""Builtins that act, and the methods of `datetime` that read the clock."""

ROOM_MAY_IMPORT = {
    "engine": {"gate.core", "gate.clock"},
    "sandbox": {"gate.clock", "gate.errors", "gate.duration"},
}
"""Rooms whose reason for being is what they do not know."""

HELP_MAY_LOAD = {"click"}
"""Libraries of others that `rollout-gate --help` loads: all else waits for its command."""

HELP_ROOMS = ("cli", "core", "errors", "duration", "config")
HEAVY = {
    "asyncio",
    "email",
    "http",
    "logging",
    "multiprocessing",
    "socket",
    "ssl",
    "urllib.request",
}
"""What of the standard library costs `--help` its speed."""


@pytest.mark.contract("B281")
@pytest.mark.parametrize("path", sorted((GATE / "core").rglob("*.py")), ids=lambda path: path.stem)
def test_the_core_imports_only_pure_modules(path: Path) -> None:
    """Each import of each core module is the core's own or on the list of pure modules."""
    foreign = {
        name for name in imports_of(path) if name.split(".")[0] not in PURE and not _core(name)
    }
    assert not foreign


@pytest.mark.contract("B281")
@pytest.mark.parametrize("path", sorted((GATE / "core").rglob("*.py")), ids=lambda path: path.stem)
def test_the_core_neither_acts_nor_reads_the_clock(path: Path) -> None:
    """No builtin that does I/O is called, and no method that asks for the time."""
    calls = [node.func for node in ast.walk(parsed(path)) if isinstance(node, ast.Call)]
    acting = {call.id for call in calls if isinstance(call, ast.Name)} & IMPURE_CALLS
    acting |= {call.attr for call in calls if isinstance(call, ast.Attribute)} & IMPURE_METHODS
    assert not acting


@pytest.mark.contract("B281")
def test_importing_the_core_loads_nothing_that_acts() -> None:
    """A fresh interpreter without site-packages imports all of the core and stays pure."""
    modules = [module_name(path) for path in sorted((GATE / "core").rglob("*.py"))]
    program = f"""
import importlib, json, sys
before = sorted(sys.modules)
sys.path.insert(0, {str(ROOT)!r})
for name in {modules!r}:
    importlib.import_module(name)
json.dump([before, sorted(sys.modules)], sys.stderr)
"""
    before, after = json.loads(in_fresh_interpreter("-I", "-S", "-c", program).stderr)
    assert not ACTING & set(before), "the bare interpreter has it: this test could not tell"
    assert not ACTING & set(after)
    assert set(modules) <= set(after)


@pytest.mark.parametrize("room", ROOM_MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    """The engine knows core and clock, the sandbox nothing that judges: else it proves nothing."""
    for path in sources_of(room):
        allowed = ROOM_MAY_IMPORT[room] | {f"gate.{room}"}
        ours = {name for name in imports_of(path) if name.split(".")[0] == "gate"}
        assert all(within(name, allowed) for name in ours), (path.name, ours)


def test_the_engine_uses_the_standard_library_alone() -> None:
    """The loop can be read, and tested, without any adapter or library."""
    for path in sources_of("engine"):
        tops = {name.split(".")[0] for name in imports_of(path)}
        assert tops <= sys.stdlib_module_names | {"gate"}


@pytest.mark.contract("B202")
def test_help_loads_only_what_it_needs() -> None:
    """`rollout-gate --help` loads click and the command line's rooms, nothing heavy."""
    program = """
import json, os, runpy, sys
before = set(sys.modules)
sys.argv = ["rollout-gate", "--help"]
def report(code):
    json.dump({"code": code, "loaded": sorted(set(sys.modules) - before)}, sys.stderr)
    sys.exit(0)
os._exit = report
runpy.run_module("gate", run_name="__main__")
"""
    run = in_fresh_interpreter("-c", program)
    report = json.loads(run.stderr)
    loaded = set(report["loaded"])
    assert not report["code"]
    assert "apply" in run.stdout
    libraries = {name.split(".")[0] for name in loaded} - sys.stdlib_module_names - {"gate"}
    assert libraries <= HELP_MAY_LOAD
    assert not HEAVY & loaded
    rooms = {name.split(".")[1] for name in loaded if name.startswith("gate.")}
    assert rooms <= {"__main__", *HELP_ROOMS}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(GATE)))
def test_a_file_is_one_room(path: Path) -> None:
    """A file has a docstring that names it, 400 lines at most, and no function over 50."""
    tree = parsed(path)
    assert ast.get_docstring(tree)
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
    assert [name for name, length in functions_of(tree) if length > 50] == []


def test_functions_are_short() -> None:
    """The median function is under 12 lines of code, its docstring not counted."""
    lengths = [length for path in SOURCES for _, length in functions_of(parsed(path))]
    assert statistics.median(lengths) < 12


def in_fresh_interpreter(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the checkout and return what it printed; a failure shows its traceback."""
    run = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert run.returncode == 0, run.stderr
    return run


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a source file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement of a file, wherever in it; what is below expressions is none."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            pending += getattr(node, block, ())


def sources_of(room: str) -> list[Path]:
    """Return the files of a room that is a folder or one module; none while it is not built."""
    return [path for path in SOURCES if path.relative_to(GATE).with_suffix("").parts[0] == room]


def module_name(path: Path) -> str:
    """Return the dotted name under which a file of the package is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the dotted names that a file imports, wherever in it; `from a import b` is `a.b`."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in statements(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(name: str, modules: set[str]) -> bool:
    """Tell whether a dotted name is one of the modules or stands inside one."""
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def functions_of(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Yield each function's name and its lines, without decorators and docstring."""
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node, clean=False) is not None
            first = node.body[0]
            doc = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - doc


def _core(name: str) -> bool:
    return within(name, {"gate.core"})
