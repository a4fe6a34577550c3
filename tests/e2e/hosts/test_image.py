"""The image: built, and started as uid 65532 and process 1 on a root that is read-only."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.command import Result
from tests.hosts.image import UID, Image, cloud_root, image, process_1
from tests.hosts.place import Place, figure

MOST_ADDED_BYTES = 80 * 1024 * 1024
"""The base that is published with Python is 45 MB, and the whole is to stay under 130 MB."""


@pytest.fixture(scope="module")
def built() -> Iterator[Image]:
    """Build the image once."""
    with image() as ready:
        yield ready


def ended(built: Image, *words: str) -> Result:
    """Run a program of the image to its end."""
    with built.program(*words) as running:
        return running.wait()


@pytest.mark.contract("B600")
def test_it_shows_the_demo(built: Image) -> None:
    """The demo runs to its end, which is a rollback."""
    with built.start("demo") as running:
        result = running.wait()
    assert "ROLLED BACK (exit 4)" in result.stdout + result.stderr, str(result)
    figure(f"the demo took {result.duration_seconds:.1f} s")


@pytest.mark.contract("B600")
def test_it_takes_sigterm_in_mid_rollout(built: Image, sandbox: Place) -> None:
    """Process 1 hears SIGTERM, which nobody but itself can let end it, and says what it leaves."""
    sandbox.serve("web")
    work = sandbox.folder / "work"
    sandbox.write(work / "web.yaml", "web", 2, "ready=60")
    kubeconfig = work / "kubeconfig"
    kubeconfig.write_text(sandbox.kubeconfig.read_text())
    kubeconfig.chmod(0o444)
    flags = ("--kubeconfig", "kubeconfig", "--output", "json", "--report", "html=/tmp/page.html")
    with built.start("apply", "-f", "web.yaml", *flags, work=work) as running:
        running.wait_for_line("applied +deployment/web changed")
        first = process_1(running)
        status = Path(f"/proc/{first}/status").read_text()
        os.kill(first, signal.SIGTERM)
        result = running.wait()
    assert f"Uid:\t{UID}\t{UID}\t{UID}\t{UID}" in status
    assert f"NSpid:\t{first}\t1\n" in status
    assert (result.document["exit_code"], result.document["outcome"]) == (143, "interrupted")
    assert result.exit_code == 143, str(result)


@pytest.mark.contract("B600", "B601")
def test_it_may_write_nowhere_but_into_tmp(built: Image) -> None:
    """Hosts find a shell and cat in it; nothing of the image can be changed."""
    script = """
        id -u; echo $$; touch /tmp/mine && cat /tmp/mine
        for at in / /opt/rollout-gate /work; do touch $at/x; done
    """
    result = ended(built, "sh", "-c", script)
    assert result.stdout.split() == [str(UID), "1"], str(result)
    assert result.stderr.count("Read-only file system") == 3, str(result)


@pytest.mark.contract("B600")
def test_its_configuration_is_one_of_a_program_that_ends(built: Image) -> None:
    """A numeric user, an entrypoint without a shell, no command, labels that say what it is."""
    config = built.config
    assert (config["User"], config["Entrypoint"]) == ("65532:65532", ["rollout-gate"])
    assert config["StopSignal"] == "SIGTERM"
    assert not config.get("Cmd")
    labels = {key.rpartition("image.")[2] for key in config["Labels"] if ".image." in key}
    assert labels >= {"title", "source", "licenses", "version", "revision", "created", "base.name"}


@pytest.mark.contract("B601")
def test_it_is_small_and_holds_no_build_tools(built: Image) -> None:
    """What is added to the base is the gate with its bytecode, and what it stands on."""
    base, *added = built.compressed_bytes
    figure(f"compressed: base {base / 1e6:.0f} MB, added {sum(added) / 1e6:.1f} MB")
    assert sum(added) < MOST_ADDED_BYTES
    [packages] = (built.root / "opt/rollout-gate/lib").glob("python3.*/site-packages")
    names = {path.name.partition("-")[0] for path in packages.iterdir()}
    assert not names & {"pip", "hatchling", "setuptools", "pytest"}
    assert list(packages.glob("gate/cli/__pycache__/main.*.pyc"))
    assert not (built.root / "build").exists()


def test_a_step_of_a_host_may_name_another_entrypoint(built: Image) -> None:
    """GitLab and Jenkins start a shell that starts the gate."""
    result = ended(built, "sh", "-c", "exec rollout-gate version")
    assert (result.exit_code, result.stdout.strip()) == (
        0,
        built.config["Labels"]["org.opencontainers.image.version"],
    )


@pytest.mark.contract("B601")
@pytest.mark.usefixtures("built")
def test_a_variant_holds_the_plugins_that_it_is_given(tmp_path: Path) -> None:
    """Programs of a folder, which belong to root and can be started by all."""
    (tmp_path / "kubelogin").write_text("#!/bin/sh\n")
    with cloud_root(tmp_path) as root:
        plugin = (root / "usr" / "local" / "bin" / "kubelogin").stat()
    assert (plugin.st_uid, plugin.st_mode & 0o777) == (0, 0o755)
