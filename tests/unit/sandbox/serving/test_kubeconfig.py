"""The kubeconfig file: whose it is, and what becomes of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from sandbox.failure import SandboxError
from sandbox.serving.kubeconfig import kubeconfig_text, write_kubeconfig

TEXT = kubeconfig_text("https://127.0.0.1:1", b"PEM", "canary")
GONE = 4194399


def of_process(pid: int) -> str:
    """Return the text of another sandbox's kubeconfig."""
    return TEXT.replace(f'"process": {os.getpid()}', f'"process": {pid}')


OWN = yaml.safe_load(TEXT)
PRODUCTION = {"name": "production", "cluster": {}}
WITH_ANOTHER = yaml.safe_dump({**OWN, "clusters": [*OWN["clusters"], PRODUCTION]})


@pytest.mark.contract("B303")
def test_a_file_is_written_for_the_user_alone_and_removed(tmp_path: Path) -> None:
    """Mode 0600 whatever the umask, no other file beside it, and gone afterwards."""
    path = tmp_path / "config"
    written = write_kubeconfig(path, TEXT)
    assert path.read_text() == TEXT
    assert path.stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["config"]
    written.remove()
    assert list(tmp_path.iterdir()) == []
    written.remove()


def test_an_empty_file_is_taken_and_left_empty(tmp_path: Path) -> None:
    """What `mktemp` made is there again afterwards."""
    path = tmp_path / "config"
    path.touch()
    written = write_kubeconfig(path, TEXT)
    assert path.read_text() == TEXT
    written.remove()
    assert path.read_bytes() == b""


def test_what_an_ended_sandbox_left_is_replaced(tmp_path: Path) -> None:
    """A sandbox that was killed does not stand in the way of the next one."""
    path = tmp_path / "config"
    path.write_text(of_process(GONE))
    write_kubeconfig(path, TEXT).remove()
    assert not path.exists()


@pytest.mark.parametrize("text", ["apiVersion: v1\n", WITH_ANOTHER], ids=["other", "mixed"])
def test_somebody_elses_file_is_refused(tmp_path: Path, text: str) -> None:
    """Keys to other clusters are neither overwritten nor merged with."""
    path = tmp_path / "config"
    path.write_text(text)
    with pytest.raises(SandboxError, match="not the sandbox's own"):
        write_kubeconfig(path, TEXT)
    assert path.read_text() == text


def test_the_file_of_a_running_sandbox_is_refused(tmp_path: Path) -> None:
    """Two sandboxes do not share a file."""
    path = tmp_path / "config"
    path.write_text(of_process(os.getppid()))
    with pytest.raises(SandboxError, match=f"a sandbox that runs, process {os.getppid()}"):
        write_kubeconfig(path, TEXT)


@pytest.mark.parametrize(
    "text",
    ["mine", "[]", "{clusters: 1}", of_process(GONE), WITH_ANOTHER],
    ids=["text", "list", "number", "another sandbox's", "with another cluster"],
)
def test_a_file_that_is_not_ours_any_more_stays(tmp_path: Path, text: str) -> None:
    """What somebody has put in its place, or added to it, since is theirs."""
    path = tmp_path / "config"
    written = write_kubeconfig(path, TEXT)
    path.write_text(text)
    written.remove()
    assert path.read_text() == text


def test_a_file_that_kubectl_has_rewritten_goes(tmp_path: Path) -> None:
    """Another namespace or another layout makes it nobody else's."""
    path = tmp_path / "config"
    written = write_kubeconfig(path, TEXT)
    document = yaml.safe_load(TEXT)
    document["contexts"][0]["context"]["namespace"] = "shop"
    path.write_text(yaml.safe_dump(document))
    written.remove()
    assert not path.exists()


@pytest.mark.parametrize("name", ["no/such/folder", "."])
def test_a_path_that_cannot_be_a_file_is_refused(tmp_path: Path, name: str) -> None:
    """The refusal comes before the sandbox starts."""
    with pytest.raises(SandboxError, match="folder"):
        write_kubeconfig(tmp_path / name, TEXT)
