"""The cuts of the architecture that import-linter cannot express: purity, start-up, sizes.

Layers and who may know which library stand in pyproject.toml as import-linter's contracts.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
GATE = ROOT / "gate"
SANDBOX = ROOT / "sandbox"
SOURCES = sorted([*GATE.rglob("*.py"), *SANDBOX.rglob("*.py")])

PACKAGES = sorted(
    path.parent
    for room in ("core", "app", "report")
    for path in (GATE / room).glob("*/__init__.py")
)
PACKAGES.append(SANDBOX)

TESTS = sorted((ROOT / "tests").rglob("*.py"))
INSIDE_THE_SANDBOX = (
    "tests/unit/sandbox",
    "tests/cluster",
    "tests/bed/nodes.py",
    "tests/e2e/sandbox_twin.py",
    "tests/conformance/test_workloads.py",
    "tests/e2e/test_sandbox_fields.py",
)
"""Who may look behind the face: the sandbox's own tests, what holds it to a server, the rig."""

PURE = {
    "__future__", "abc", "base64", "bisect", "collections", "contextlib", "copy", "dataclasses",
    "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "hmac",
    "itertools", "json", "math", "operator", "re", "string", "types", "typing",
}  # fmt: skip
"""What the core may import of the standard library; nothing in it acts when it is not asked to."""

IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
IMPURE_METHODS = {"now", "utcnow", "today"}
"""Builtins that act, and the methods of `datetime` that read the clock."""

ROOM_MAY_IMPORT = {
    "engine": {"gate.core", "gate.clock"},
    "sandbox": set(),
}
"""Rooms whose reason for being is what they do not know."""


IRREGULAR_PARTICIPLES = {
    "beaten", "begun", "bitten", "borne", "bought", "bound", "broken", "brought", "built", "caught",
    "chosen", "come", "done", "drawn", "driven", "fallen", "forgotten", "found", "frozen", "given",
    "gone", "grown", "heard", "held", "hidden", "kept", "known", "laid", "led", "left", "lost",
    "made", "meant", "met", "overtaken", "paid", "risen", "said", "seen", "sent", "shown", "sold",
    "sought", "spent", "spoken", "stolen", "stood", "struck", "sworn", "taken", "taught", "thought",
    "thrown", "told", "torn", "understood", "undertaken", "undone", "withdrawn", "woken", "won",
    "worn", "wound", "woven", "written",
}  # fmt: skip
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

MAY_NAME_A_KIND = {
    "gate/app/rehearsal/demo.py": "the demo's own manifest is a Deployment",
    "gate/core/ssa/irreversible_changes.py": "what the server never changes, by type of object",
    "gate/core/ssa/unions.py": "what the server defaults, by type of object",
    "gate/report/schema/earlier_words.py": "documents of versions that knew one kind",
}
"""Files outside of these packages that name a kind, and why."""
VERBS_ON_ED = {"embed", "exceed", "feed", "need", "proceed", "seed", "speed", "succeed"}
"""Words that end as a participle does and are none."""


@pytest.mark.contract("B281")
def test_the_core_imports_only_pure_modules() -> None:
    """Each import of each core module is the core's own or on the list of pure modules."""
    foreign = [
        f"{named(path)} imports {name}"
        for path in sources_of("core")
        for name in read(path).imports
        if name.split(".")[0] not in PURE and not within(name, {"gate.core"})
    ]
    assert not foreign, list_violations(foreign)


@pytest.mark.contract("B281")
def test_the_core_neither_acts_nor_reads_the_clock() -> None:
    """No builtin that does I/O is called, and no method that asks for the time."""
    acting = [f"{named(path)} calls {name}" for path in sources_of("core") for name in acts(path)]
    assert not acting, list_violations(acting)


@pytest.mark.parametrize("room", ROOM_MAY_IMPORT)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    """The engine knows core and clock, the sandbox nothing that judges: else it proves nothing."""
    allowed = ROOM_MAY_IMPORT[room] | {f"gate.{room}"}
    foreign = [
        f"{named(path)} imports {name}"
        for path in sources_of(room)
        for name in read(path).imports
        if within(name, {"gate"}) and not within(name, allowed)
    ]
    assert not foreign, list_violations(foreign)


def test_a_package_lends_what_it_names() -> None:
    """Others import of a package the modules in its `__all__`, and each of these is imported."""
    wrong = []
    for package in PACKAGES:
        public = named_public(package)
        lent = {module for path in SOURCES for module in borrowed(path, package)}
        wrong += [f"{named(package)} keeps {one} for itself" for one in sorted(lent - public)]
        wrong += [
            f"{named(package)} lends {one} to nobody"
            for one in sorted(public - lent)
            if is_module(package / one)
        ]
    assert not wrong, list_violations(wrong)


def test_tests_use_the_sandbox_by_its_face() -> None:
    """What other rooms' tests rest on is named in one place, as what the gate rests on is."""
    public = named_public(SANDBOX)
    behind = [
        f"{named(path)} imports sandbox.{one}"
        for path in TESTS
        if not named(path).startswith(INSIDE_THE_SANDBOX)
        for one in sorted(borrowed(path, SANDBOX) - public)
    ]
    assert not behind, list_violations(behind)


def test_only_the_packages_of_kinds_know_a_kind_of_workload() -> None:
    """No other file names a kind, imports its module, or takes its member of Kind."""
    named_kinds = {
        named(path): found
        for path in SOURCES
        if path.is_relative_to(GATE) and "kinds" not in path.parent.parts
        if (found := [*kinds_named_by(path)])
    }
    wrong = [
        f"{name} names {', '.join(found)}"
        for name, found in named_kinds.items()
        if name not in MAY_NAME_A_KIND
    ]
    assert not wrong, list_violations(wrong)
    assert named_kinds.keys() >= MAY_NAME_A_KIND.keys()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('kind == "Deployment"', ["Deployment"]),
        ('f"replicaset/{name}"', ["replicaset/"]),
        ("kind is Kind.REPLICA_SET", ["Kind.REPLICA_SET"]),
        ("kind is Kind.EVENT or kind is Kind.POD", []),
        ("from gate.core.kinds.registry import is_workload", []),
        ("from gate.core.kinds.deployment import clocks", ["gate.core.kinds.deployment"]),
        ("ref.is_deployment", ["is_deployment"]),
        ('"""A Deployment."""', []),
        ('result["deployments"]', []),
    ],
)
def test_what_names_a_kind(tmp_path: Path, source: str, found: list[str]) -> None:
    """Texts, modules, members of Kind and questions do; docstrings and keys of documents do not."""
    path = tmp_path / "source.py"
    path.write_text(source)
    assert [*kinds_named_by(path)] == found


def test_the_engine_uses_the_standard_library_alone() -> None:
    """The loop can be read, and tested, without any adapter or library."""
    foreign = [
        f"{named(path)} imports {name}"
        for path in sources_of("engine")
        for name in read(path).imports
        if name.split(".")[0] not in sys.stdlib_module_names | {"gate"}
    ]
    assert not foreign, list_violations(foreign)


def test_contributing_names_every_layer_in_its_order() -> None:
    """A room that nobody finds there has no place for whoever comes next."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    linted = [re.findall(r"\((\w+)\)", layer) for layer in layers]
    text = (ROOT / "CONTRIBUTING.md").read_text()
    said = re.search(r"\*\*Layers\*\*.*?`(cli [^`]+)`", text, re.DOTALL)
    assert said is not None
    named = [re.findall(r"\w+", layer) for layer in said[1].split(">")]
    assert [set(layer) for layer in named] == [set(one) for one in linted if one != ["__main__"]]
    rooms = text.partition("| room |")[2].partition("- **Layers**")[0]
    in_table = set(re.findall(r"gate/(\w+)", rooms))
    assert in_table == {room for layer in linted for room in layer} - {"__main__"}


def test_a_file_is_one_room() -> None:
    """No file has over 400 lines."""
    lengths = {named(path): read(path).lines for path in SOURCES}
    long = [f"{name} has {lines}" for name, lines in lengths.items() if lines > 400]
    assert not long, list_violations(long)


def test_no_function_is_long() -> None:
    """No function has over 50 lines of code, its docstring not counted."""
    long = [
        f"{named(path)} {name} has {length}"
        for path in SOURCES
        for name, length in read(path).functions
        if length > 50
    ]
    assert not long, list_violations(long)


def test_no_value_has_many_fields() -> None:
    """No dataclass has over ten fields of its own, mirrors of API objects aside."""
    large = [
        f"{named(path)} {name} has {count}"
        for path in SOURCES
        if path.name != "objects.py"
        for name, count in read(path).dataclasses
        if count > 10
    ]
    assert not large, list_violations(large)


def test_functions_are_verbs() -> None:
    """No function is named by a bare past participle: what it does is a verb, what is so a noun.

    Properties may be: they name what an object is.
    """
    participles = [
        f"{named(path)} {name}"
        for path in SOURCES
        for name in read(path).callables
        if is_participle(name)
    ]
    assert not participles, list_violations(participles)


@pytest.mark.parametrize("name", ["told", "_listed", "joined", "_read_back", "need", "exceed"])
def test_what_counts_as_a_participle(name: str) -> None:
    """One word alone, regular or not; verbs and nouns that end alike are none."""
    assert is_participle(name) == (name in {"told", "_listed", "joined"})


def is_participle(name: str) -> bool:
    """Tell whether a name is one past participle and nothing else."""
    word = name.strip("_")
    if "_" in word:
        return False
    return word in IRREGULAR_PARTICIPLES or (word.endswith("ed") and word not in VERBS_ON_ED)


def list_violations(violations: list[str]) -> str:
    """Return how a failure names all of them, one a line."""
    return "\n".join(("", *violations))


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
