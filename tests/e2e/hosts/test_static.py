"""What is read before anything runs: schemas, linters, locks, Roles."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cluster import programs
from tests.hosts.place import EXAMPLES, ROOT, Place, rules
from tests.hosts.programs import Kind, program, search_path

WORKFLOWS = sorted(
    [
        *(ROOT / ".github" / "workflows").iterdir(),
        *(EXAMPLES / "github").iterdir(),
        Path(__file__).with_name("course.yml"),
    ]
)
ACTIONS = [ROOT / "action.yml", ROOT / "container" / "action.yml"]
GITLAB = sorted((EXAMPLES / "gitlab").glob("*.yml"))
SCHEMAS = {
    "vendor.github-workflows": WORKFLOWS,
    "vendor.github-actions": ACTIONS,
    "vendor.dependabot": [ROOT / ".github" / "dependabot.yml"],
    "vendor.gitlab-ci": GITLAB,
}


def clean(kind: Kind, *arguments: str | Path) -> None:
    """Run a linter that has to find nothing."""
    env = os.environ | {"PATH": search_path()}
    words = [str(program(kind)), *map(str, arguments)]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.contract("B599")
def test_actionlint_finds_nothing() -> None:
    """Expressions, contexts, and the shell of each step."""
    clean(Kind.ACTIONLINT, "-shellcheck", program(Kind.SHELLCHECK), *WORKFLOWS)


@pytest.mark.contract("B599")
@pytest.mark.parametrize("schema", SCHEMAS)
def test_files_keep_to_their_hosts_schema(schema: str) -> None:
    """What the host would refuse, or not know."""
    flags = ["--data-transform", "gitlab-ci"] if schema == "vendor.gitlab-ci" else []
    clean(Kind.CHECK_JSONSCHEMA, "--builtin-schema", schema, *flags, *SCHEMAS[schema])


@pytest.mark.contract("B599", "B592")
def test_zizmor_finds_nothing() -> None:
    """No injection through a template, no token that is kept, no action without its commit."""
    flags = ("--offline", "--no-progress", "--config", ROOT / ".github" / "zizmor.yml")
    clean(Kind.ZIZMOR, *flags, ROOT / ".github", *ACTIONS, *WORKFLOWS)


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    """Neither in the Action's steps nor in the scripts."""
    scripts = sorted((EXAMPLES / "shell").iterdir())
    for number, step in enumerate(yaml.safe_load(ACTIONS[0].read_text())["runs"]["steps"]):
        scripts.append(tmp_path / f"step-{number}")
        scripts[-1].write_text(f"#!/bin/bash -e\n{step['run']}")
    clean(Kind.SHELLCHECK, *scripts)


@pytest.mark.contract("B602")
def test_the_role_of_a_deployment_is_what_preflight_prints(sandbox: Place) -> None:
    """Word for word, and so is that of `verify`."""
    gate = programs.gate(sandbox.kubeconfig, EXAMPLES)
    said = gate("preflight", "-f", "deploy", "-n", "shop", "--rbac", check=True)
    assert rules((EXAMPLES / "rbac" / "deploy.yaml").read_text()) == rules(said.stdout)
    said = gate("verify", "--selector", "app=web", "-n", "shop", "--rbac", check=True)
    assert rules((EXAMPLES / "rbac" / "verify.yaml").read_text()) == rules(said.stdout)
