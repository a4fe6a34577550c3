"""What the Action and the image install: locks that hold what pyproject.toml asks for."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gate import __version__
from gate.config.settings import taken_by

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
ASKED = {
    "requirements.lock": PROJECT["project"]["dependencies"],
    "requirements-build.lock": PROJECT["build-system"]["requires"],
}
PINNED = re.compile(
    r"^(?P<name>[\w.-]+)==(?P<version>\S+)(?P<rest>(?:[^\n]*\\\n)*[^\n]*)", re.MULTILINE
)


def pins(lock: str) -> Mapping[str, re.Match[str]]:
    """Return the entries of a lock by name."""
    found = PINNED.finditer((ROOT / lock).read_text())
    return {canonicalize_name(match["name"]): match for match in found}


@pytest.mark.contract("B598")
@pytest.mark.parametrize("lock", ASKED)
def test_a_lock_holds_what_is_asked_for(lock: str) -> None:
    """Each dependency in a version that its range admits; `make lock` makes them again."""
    held = pins(lock)
    for line in ASKED[lock]:
        asked = Requirement(line)
        entry = held.get(canonicalize_name(asked.name))
        assert entry is not None, f"{lock} lacks {line}: make lock"
        assert asked.specifier.contains(entry["version"]), f"{lock}: {entry['version']} for {line}"


@pytest.mark.contract("B598")
def test_a_lock_holds_what_its_packages_need() -> None:
    """Pip asks for nothing beyond a lock, so it is whole."""
    held = pins("requirements.lock")
    needed = {name for dependency in held for name in _needs(dependency)}
    assert needed <= held.keys(), "make lock"


def _needs(package: str) -> Iterable[str]:
    try:
        lines = requires(package) or []
    except PackageNotFoundError:
        return
    for line in lines:
        asked = Requirement(line)
        if asked.marker is None or asked.marker.evaluate({"extra": ""}):
            yield canonicalize_name(asked.name)


@pytest.mark.contract("B598")
@pytest.mark.parametrize("lock", ASKED)
def test_every_entry_of_a_lock_has_its_hashes(lock: str) -> None:
    """What is fetched is what was looked at."""
    assert pins(lock)
    assert not [name for name, entry in pins(lock).items() if "--hash=sha256:" not in entry["rest"]]


@pytest.mark.contract("B591")
def test_the_types_of_the_action_are_those_of_its_inputs_and_outputs() -> None:
    """`action-types.yml` names what `action.yml` has, and the container has no more."""
    action, types, container = map(
        _read, ("action.yml", "action-types.yml", "container/action.yml")
    )
    for part in ("inputs", "outputs"):
        assert list(action[part]) == list(types[part])
        assert set(container[part]) <= set(action[part])


@pytest.mark.contract("B592")
def test_every_input_is_an_option_by_its_own_name() -> None:
    """An input reaches the gate as the variable of the option that bears its name."""
    options = {item.name.replace("_", "-") for item in taken_by("apply")}
    action = _read("action.yml")
    env = action["runs"]["steps"][-1]["env"]
    for name in action["inputs"].keys() - {"command", "args"}:
        option = "check" if name == "checks" else name
        assert option in options
        variable = f"ROLLOUT_GATE_{option.upper().replace('-', '_')}"
        assert env[variable] == f"${{{{ inputs.{name} || env.{variable} }}}}"


@pytest.mark.contract("B592")
def test_no_step_of_the_action_has_an_expression_in_its_script() -> None:
    """Nor does one use an action of others."""
    for step in _read("action.yml")["runs"]["steps"]:
        assert "${{" not in step["run"]
        assert "uses" not in step


@pytest.mark.contract("B595")
def test_the_examples_name_the_version_of_this_package() -> None:
    """The tag of the Action and the tag of the image."""
    texts = {path: path.read_text() for path in (ROOT / "examples").rglob("*") if path.is_file()}
    texts |= {path: path.read_text() for path in (ROOT / "container").iterdir()}
    named = re.compile(r"rollout-gate/rollout-gate(?:@v|:)(?P<version>[\w.]+)")
    found = {(match["version"], path.name) for path, text in texts.items()
             for match in named.finditer(text)}  # fmt: skip
    assert found
    assert {version for version, _ in found} == {__version__}, found
    assert f"ARG VERSION={__version__}\n" in (ROOT / "Dockerfile").read_text()


def _read(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text())


@pytest.mark.contract("B596")
def test_the_action_installs_what_the_lock_names_and_nothing_else() -> None:
    """By hash, without what runs code at its installation, and without what others pull in."""
    [line] = [line for line in _install_step().replace("\\\n", "").splitlines() if " pip " in line]
    flags = {"--require-hashes", "--no-deps", "--only-binary"}
    assert flags <= set(line.split())
    assert "-I -m pip" in line


@pytest.mark.contract("B596")
def test_the_action_says_what_to_add_where_python_is_too_old(tmp_path: Path) -> None:
    """A runner without Python 3.11 is told of the step that brings it."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cat", "cksum", "tr"):
        (tools / name).symlink_to(shutil.which(name) or name)
    (tools / "python3").write_text("#!/bin/sh\nexit 1\n")
    (tools / "python3").chmod(0o755)
    (tmp_path / "output").touch()
    env = {
        "PATH": str(tools),
        "GITHUB_ACTION_PATH": str(ROOT),
        "RUNNER_TEMP": str(tmp_path),
        "GITHUB_OUTPUT": str(tmp_path / "output"),
    }
    shell = [shutil.which("bash") or "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
    done = subprocess.run(
        [*shell, _install_step()], env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 3
    assert done.stdout.startswith("::error title=rollout-gate::Python 3.11 or newer is needed")
    assert "actions/setup-python" in done.stdout


def _install_step() -> str:
    script: str = _read("action.yml")["runs"]["steps"][0]["run"]
    return script
