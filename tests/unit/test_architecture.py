"""The cuts of the architecture that import-linter cannot express: purity, start-up, sizes.

Layers and who may know which library stand in pyproject.toml as import-linter's contracts.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import pytest

from gate.kube.kinds.registry import WORKLOADS
from tests.unit.source_files import (
    GATE,
    ROOT,
    SANDBOX,
    SOURCES,
    WORKLOAD_WORDS,
    acts,
    borrowed,
    is_module,
    kinds_named_by,
    named,
    named_public,
    read,
    sources_of,
    within,
)

PACKAGES = sorted(
    path.parent
    for room in ("core", "app", "report", "kube")
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

MAY_NAME_A_KIND = {
    "gate/app/rehearsal/demo.py": "the demo's own manifest is a Deployment",
    "gate/core/ssa/irreversible_changes.py": "what the server never changes, by type of object",
    "gate/core/ssa/unions.py": "what the server defaults, by type of object",
    "gate/report/schema/earlier_words.py": "documents of versions that knew one kind",
}
"""Files outside of these packages that name a kind, and why."""
PRIVATE_WORDS = re.compile(
    r"(?<![a-z])(anew|by[ _]now|beyond[ _]hope|borne)(?![a-z])", re.IGNORECASE
)
"""Words that say less than the plain ones: again, now, unrecoverable, tolerated."""

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
    acting.remove("gate/core/frozen.py calls exec")  # as `dataclasses` does, to make an `__init__`
    assert not acting, list_violations(acting)


def test_every_frozen_class_is_made_by_our_decorator() -> None:
    """The one of the standard library looks the same, and takes longer."""
    slow = [
        named(path)
        for path in SOURCES
        if path.is_relative_to(GATE)
        and "@dataclass(frozen=True, slots=True" in (text := path.read_text(encoding="utf-8"))
        and "from gate.core.frozen import dataclass\n" not in text
    ]
    assert not slow, list_violations(slow)


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


def test_every_kind_of_workload_is_looked_for() -> None:
    """A kind that is registered, and not in the list, could be named anywhere."""
    assert {workload.watched.kind for workload in WORKLOADS} <= WORKLOAD_WORDS


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


def test_the_linter_keeps_every_kind_to_itself() -> None:
    """A kind that its contract does not name could be imported from anywhere in the core."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (contract,) = (one for one in contracts["contracts"] if "only the registry" in one["name"])
    kinds = {one.parent.name for one in (ROOT / "gate/core/kinds").glob("*/kind.py")}
    assert set(contract["forbidden_modules"]) == {f"gate.core.kinds.{kind}" for kind in kinds}


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


def test_no_private_words() -> None:
    """Code, comments and pages say in the field's words what these words hide."""
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    private = [
        f"{path.relative_to(ROOT)}:{number} {found[0]}"
        for path in (*SOURCES, *TESTS, *pages)
        if path != Path(__file__)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (found := PRIVATE_WORDS.search(line))
    ]
    assert not private, list_violations(private)


def list_violations(violations: list[str]) -> str:
    """Return how a failure names all of them, one a line."""
    return "\n".join(("", *violations))
