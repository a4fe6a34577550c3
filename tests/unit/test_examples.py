"""The examples for GitHub keep a deploy's credentials away from whoever did not get them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "ci" / "github"
WORKFLOWS = sorted(FOLDER.glob("*.yml"))
SECRET = re.compile(r"\$\{\{[^}]*\bsecrets\b")
ON = True
"""How YAML 1.1 reads the key `on`."""


def _jobs(path: Path) -> Iterator[Any]:
    yield from yaml.safe_load(path.read_text())["jobs"].values()


def _uses_secrets(part: Any) -> bool:
    return SECRET.search(yaml.safe_dump(part, width=10_000)) is not None


@pytest.mark.contract("B603")
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_secrets_stand_in_jobs_of_an_environment_alone(path: Path) -> None:
    """Its approval and its branches hold for every job that has a secret."""
    for job in _jobs(path):
        assert "environment" in job or not _uses_secrets(job)


@pytest.mark.contract("B603")
def test_a_pull_request_has_no_secret() -> None:
    """It has nothing but the right to read its own repository, and is not run as the base."""
    workflow = yaml.safe_load((FOLDER / "pull-request.yml").read_text())
    assert set(workflow[ON]) == {"pull_request"}
    assert not _uses_secrets(workflow)
    [job] = workflow["jobs"].values()
    assert job["permissions"] == {"contents": "read"}


@pytest.mark.contract("B603")
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_has_no_rights_that_no_job_asked_for(path: Path) -> None:
    """Rights are given job by job; no script holds an expression."""
    assert yaml.safe_load(path.read_text())["permissions"] == {}
    for job in _jobs(path):
        assert not [step for step in job["steps"] if "${{" in step.get("run", "")]
