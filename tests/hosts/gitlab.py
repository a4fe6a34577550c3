"""A GitLab runner: `gitlab-ci-local` on this machine, with a repository of one pipeline."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.cluster.command import Program, Result
from tests.hosts.place import Place, environment, installed_gate
from tests.hosts.programs import Kind, program, search_path


def pipeline(place: Place, repository: Path, file: Path) -> Result:
    """Run all jobs of a pipeline for the branch main; what they leave is in the repository."""
    shutil.copy(file, repository / ".gitlab-ci.yml")
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    commands: tuple[list[str], ...] = (
        ["init", "-q", "--initial-branch", "main"],
        ["remote", "add", "origin", "git@gitlab.example:shop/web.git"],
        ["add", "-A"],
        [*who, "commit", "-q", "-m", "all"],
    )
    for words in commands:
        subprocess.run(["git", *words], cwd=repository, check=True)
    env = environment(place.folder) | {"KUBECONFIG": str(place.kubeconfig)}
    env |= {"PATH": f"{installed_gate(place.folder)}:{search_path()}"}
    runner = Program((str(program(Kind.GITLAB_CI_LOCAL)),), env, repository)
    given = f"KUBECONFIG={place.kubeconfig}"
    return runner("--force-shell-executor", "--no-shell-isolation", "--variable", given)
