"""Where the engines of the end-to-end tests come from: `tests.engines.programs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines import programs
from tests.engines.programs import EngineError, Kind, Tool, program

APT_GET = """#!/bin/sh
case "$*" in
  *download*)
    if [ -e {0}/no-lists ] && [ ! -d lists/filled ]; then exit 100; fi
    for last; do :; done; echo package >"$last.deb" ;;
  *update*) mkdir lists/filled ;;
esac
"""
DPKG_DEB = """#!/bin/sh
mkdir -p "$3/usr/bin"; cp "$2" "$3/usr/bin/prometheus"
"""


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the only folder on PATH besides the shell's; nothing is kept yet."""
    folder = tmp_path / "tools"
    folder.mkdir()
    shell = tmp_path / "shell"
    shell.mkdir()
    for name in ("sh", "mkdir", "cp"):
        (shell / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", f"{folder}:{shell}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def put(folder: Path, name: str, script: str) -> Path:
    """Write a program."""
    path = folder / name
    path.write_text(script)
    path.chmod(0o700)
    return path


def test_what_is_installed_is_taken(tools: Path) -> None:
    """A program on PATH is the one that runs, and nothing is fetched."""
    installed = put(tools, "victoria-metrics", "#!/bin/sh\n")
    assert program(Kind.VICTORIA_METRICS) == installed
    assert not programs.cache_folder().exists()


@pytest.mark.parametrize("lists", [True, False])
def test_what_is_not_installed_is_fetched_once(tools: Path, tmp_path: Path, *, lists: bool) -> None:
    """Debian's package is fetched, with lists of our own where the machine has none, and kept."""
    put(tools, "dpkg-deb", DPKG_DEB)
    apt_get = put(tools, "apt-get", APT_GET.format(tmp_path))
    if not lists:
        (tmp_path / "no-lists").touch()
    kept = program(Kind.PROMETHEUS)
    assert kept.read_text() == "package\n"
    apt_get.unlink()
    assert program(Kind.PROMETHEUS) == kept
    assert [each.name for each in kept.parent.iterdir() if each.name != ".lock"] == ["prometheus"]


def test_a_tool_is_taken_out_of_the_package_that_has_it(tools: Path) -> None:
    """Prometheus' package brings its linter; another name is told where neither can be had."""
    put(tools, "dpkg-deb", DPKG_DEB.replace("usr/bin/prometheus", "usr/bin/promtool"))
    put(tools, "apt-get", APT_GET)
    assert program(Tool.PROMTOOL).name == "promtool"
    (tools / "apt-get").unlink()
    with pytest.raises(EngineError, match="the package prometheus-pushgateway;"):
        program(Tool.PUSHGATEWAY)


def test_a_package_that_cannot_be_had_is_named(tools: Path) -> None:
    """Without apt, and with one that fails, the message says which package to install."""
    with pytest.raises(EngineError, match="package prometheus"):
        program(Kind.PROMETHEUS)
    put(tools, "dpkg-deb", DPKG_DEB)
    put(tools, "apt-get", "#!/bin/sh\necho E: no network >&2\nexit 100\n")
    with pytest.raises(EngineError, match=r"no network\n.*package prometheus"):
        program(Kind.PROMETHEUS)
