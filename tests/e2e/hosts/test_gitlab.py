"""GitLab's example as it stands: its reports are taken up, and its exit codes are heard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from junitparser import JUnitXml

from tests.hosts.gitlab import pipeline
from tests.hosts.place import EXAMPLES, Place

DEPLOY = EXAMPLES / "gitlab" / "deploy.gitlab-ci.yml"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return the folder of a repository."""
    folder = tmp_path / "repository"
    folder.mkdir()
    return folder


@pytest.mark.contract("B595", "B597")
def test_a_later_job_reads_what_became_of_it(sandbox: Place, repository: Path) -> None:
    """The dotenv report gives variables, and the JUnit report can be read."""
    sandbox.write(repository / "deploy" / "web.yaml", "web", 1)
    result = pipeline(sandbox, repository, DEPLOY)
    assert result.exit_code == 0, str(result)
    assert "outcome=verified exit-code=0 running=new" in result.stdout
    suites = JUnitXml.fromfile(str(repository / "gate-junit.xml"))
    assert (suites.tests > 0, suites.failures, suites.errors) == (True, 0, 0)
    assert (repository / "gate-report.html").exists()
    assert "no record of an unfinished attempt" not in result.stdout


@pytest.mark.contract("B597")
def test_a_rollback_fails_the_pipeline(sandbox: Place, repository: Path) -> None:
    """Exit code 4 is none that the job allows, and what became of it is told all the same."""
    sandbox.serve("web")
    sandbox.write(repository / "deploy" / "web.yaml", "web", 2, "crash=0.1")
    result = pipeline(sandbox, repository, DEPLOY)
    assert re.search(r"FAIL +deploy", result.stdout), str(result)
    assert "ROLLED BACK (exit 4)" in result.stdout + result.stderr
    assert (repository / "gate-junit.xml").exists()
    assert "GATE_EXIT_CODE=4" in (repository / "gate.env").read_text()


@pytest.mark.contract("B597")
def test_checks_that_cannot_tell_are_a_warning(sandbox: Place, repository: Path) -> None:
    """Exit code 7 is one that the job allows: the pipeline goes on."""
    sandbox.serve("web")
    sandbox.write(repository / "deploy" / "web.yaml", "web", 2)
    (repository / "rollout-gate.yaml").write_text("smoke-test: [sh -c 'exit 75']\n")
    result = pipeline(sandbox, repository, DEPLOY)
    assert result.exit_code == 0, str(result)
    assert "exit-code=7 running=new" in result.stdout, str(result)
    assert re.search(r"WARN +deploy", result.stdout), str(result)
