"""Source files as the rules of the architecture read them."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
GATE = ROOT / "gate"
SANDBOX = ROOT / "sandbox"
SOURCES = sorted([*GATE.rglob("*.py"), *SANDBOX.rglob("*.py")])

IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
IMPURE_METHODS = {"now", "utcnow", "today"}
"""Builtins that act, and the methods of `datetime` that read the clock."""
WORKLOAD_WORDS = {
    "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "ControllerRevision", "Job",
}  # fmt: skip
"""Kinds of workload, and of what keeps their versions, as the API names them."""

OF_ALL_KINDS = {
    "gate.core.kinds.registry",
    "gate.core.kinds.check_variables",
    "gate.core.kinds.configuration",
}
"""What other rooms may ask about kinds, without naming one."""


@dataclass(frozen=True, slots=True)
class Source:
    """What the rules ask of a file; its tree is not kept, since 500 trees slow the collector."""

    lines: int
    imports: list[str]
    functions: list[tuple[str, int]]
    dataclasses: list[tuple[str, int]]
    callables: list[str]


@functools.cache
def read(path: Path) -> Source:
    """Return what a file holds."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text, filename=str(path))
    found = [*statements(tree)]
    return Source(
        lines=len(text.splitlines()),
        imports=[*imports_of(path, found)],
        functions=[*functions_of(found)],
        dataclasses=[*dataclasses_of(found)],
        callables=[*callables_of(found)],
    )


def kinds_named_by(path: Path) -> Iterator[str]:
    """Yield what in a file names a kind of workload, docstrings aside."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    starts = tuple(f"{word.lower()}/" for word in WORKLOAD_WORDS)
    members = {re.sub(r"(?<!^)(?=[A-Z])", "_", word).upper() for word in WORKLOAD_WORDS}
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)) if id(node) not in documentation:
                if text in WORKLOAD_WORDS or text.startswith(starts):
                    yield text
            case ast.Attribute(value=ast.Name(id="Kind"), attr=member):
                if member in members:
                    yield f"Kind.{member}"
            case ast.Attribute(attr="is_deployment"):
                yield "is_deployment"
            case ast.ImportFrom(module=str(module)):
                if module.startswith("gate.core.kinds.") and module not in OF_ALL_KINDS:
                    yield module


def acts(path: Path) -> list[str]:
    """Return what a file calls that does I/O or asks for the time."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    acting = {call.id for call in calls if isinstance(call, ast.Name)} & IMPURE_CALLS
    acting |= {call.attr for call in calls if isinstance(call, ast.Attribute)} & IMPURE_METHODS
    return sorted(acting)


def statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield every statement of a file, wherever in it; what is below expressions is none."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        yield node
        for block in ("body", "orelse", "finalbody", "handlers", "cases"):
            pending += getattr(node, block, ())


def sources_of(room: str) -> list[Path]:
    """Return the files of a room that is a folder or one module."""
    if room == "sandbox":
        return sorted(SANDBOX.rglob("*.py"))
    gate = [path for path in SOURCES if path.is_relative_to(GATE)]
    found = [path for path in gate if path.relative_to(GATE).with_suffix("").parts[0] == room]
    assert found, f"there is no room {room}"
    return found


def named(path: Path) -> str:
    """Return how a failure names a file."""
    return str(path.relative_to(ROOT))


def module_name(path: Path) -> str:
    """Return the dotted name under which a file of the package is imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, found: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the dotted names that a file's statements import; `from a import b` is `a.b`."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    for node in found:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def within(name: str, modules: set[str]) -> bool:
    """Tell whether a dotted name is one of the modules or stands inside one."""
    return any(name == module or name.startswith(f"{module}.") for module in modules)


def functions_of(found: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield each function's name and its lines, without decorators and docstring."""
    for node in found:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node, clean=False) is not None
            first = node.body[0]
            doc = (first.end_lineno or 0) - first.lineno + 1 if documented else 0
            yield node.name, (node.end_lineno or 0) - node.lineno + 1 - doc


def dataclasses_of(found: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield each dataclass's name and the number of its own fields."""
    for node in found:
        if isinstance(node, ast.ClassDef):
            decorators = " ".join(ast.unparse(one) for one in node.decorator_list)
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            if "dataclass" in decorators:
                yield node.name, sum("ClassVar" not in ast.unparse(one) for one in fields)


def callables_of(found: Iterable[ast.AST]) -> Iterator[str]:
    """Yield the name of each function and method that is called, so that no property is in it."""
    for node in found:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            decorators = {ast.unparse(one) for one in node.decorator_list}
            if not any("property" in one for one in decorators):
                yield node.name


def named_public(package: Path) -> set[str]:
    """Return the modules that the `__all__` of a package names."""
    tree = ast.parse((package / "__init__.py").read_text())
    lists = [
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    return {name for one in lists for name in ast.literal_eval(one)}


def borrowed(path: Path, package: Path) -> set[str]:
    """Return the modules of a package that a file outside of it imports."""
    if path.is_relative_to(package):
        return set()
    prefix = module_name(package / "__init__.py") + "."
    modules = {
        name.removeprefix(prefix).split(".")[0]
        for name in read(path).imports
        if name.startswith(prefix)
    }
    return {one for one in modules if is_module(package / one)}


def is_module(path: Path) -> bool:
    """Tell whether there is a module or a package of that name, given without its ending."""
    return path.is_dir() or path.with_suffix(".py").exists()
