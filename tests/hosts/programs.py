"""The runners, linters and installers of CI hosts: found on PATH, else installed once and kept.

Run it as `python -m tests.hosts.programs`: it installs what is missing and prints where each one
is. Debian packages are installed into the machine (with sudo where that is needed); the rest goes
into a folder of the cache, whose name is made of the versions below.
"""

from __future__ import annotations

import enum
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.cluster.kept import kept_folder, locked

BASE_FOLDER = kept_folder("hosts")
"""What is kept for these tests, whatever its version."""
GO_MODULES = (
    "github.com/nektos/act@v0.2.89",
    "github.com/rhysd/actionlint/cmd/actionlint@v1.7.7",
)
PYTHON_PACKAGES = ("check-jsonschema==0.39.0", "pipx==1.18.4", "uv==0.13.9", "zizmor==1.32.0")
NPM_PACKAGES = ("gitlab-ci-local@4.61.1",)
"""Later ones need a newer Node than Debian has."""
_PINS = "\n".join((*GO_MODULES, *PYTHON_PACKAGES, *NPM_PACKAGES))


class HostError(Exception):
    """A program is neither there nor can it be installed; the message names the command."""


class Kind(enum.StrEnum):
    """The programs, each by the name of its command."""

    ACT = "act"
    ACTIONLINT = "actionlint"
    BUILDAH = "buildah"
    CHECK_JSONSCHEMA = "check-jsonschema"
    DEBOOTSTRAP = "debootstrap"
    GITLAB_CI_LOCAL = "gitlab-ci-local"
    PIPX = "pipx"
    RSYNC = "rsync"
    SHELLCHECK = "shellcheck"
    UV = "uv"
    UVX = "uvx"
    ZIZMOR = "zizmor"


_PACKAGES = {
    Kind.BUILDAH: "buildah",
    Kind.DEBOOTSTRAP: "debootstrap",
    Kind.RSYNC: "rsync",
    Kind.SHELLCHECK: "shellcheck",
}
_NODE = {"node": "nodejs", "npm": "npm"}


def program(kind: Kind) -> Path:
    """Return where a program is; raises `HostError` with what installs it."""
    found = shutil.which(kind, path=search_path())
    if found is None:
        raise HostError(f"there is no {kind} here: python -m tests.hosts.programs installs it")
    return Path(found)


def search_path() -> str:
    """Return PATH with the folders of what is kept, and with those of the administrator."""
    folder = cache_folder()
    own = (folder / "go", folder / "python" / "bin", folder / "npm" / "node_modules" / ".bin")
    return os.pathsep.join([*map(str, own), os.environ["PATH"], "/usr/sbin", "/sbin"])


def cache_folder() -> Path:
    """Return the folder that keeps exactly these versions."""
    digest = hashlib.sha256(_PINS.encode()).hexdigest()[:16]
    return BASE_FOLDER / digest


def install() -> None:
    """Install what is missing; raises `HostError`."""
    with locked(BASE_FOLDER / ".programs.lock"):
        _install_packages()
        if _is_missing(Kind.ACT, Kind.ACTIONLINT):
            for module in GO_MODULES:
                _run("go", "install", module, GOBIN=str(cache_folder() / "go"))
        if _is_missing(Kind.CHECK_JSONSCHEMA, Kind.PIPX, Kind.UV, Kind.UVX, Kind.ZIZMOR):
            home = cache_folder() / "python"
            _run(sys.executable, "-m", "venv", "--clear", str(home))
            _run(str(home / "bin" / "python"), "-m", "pip", "install", "--quiet", *PYTHON_PACKAGES)
        if _is_missing(Kind.GITLAB_CI_LOCAL):
            where = str(cache_folder() / "npm")
            flags = ("--silent", "--no-fund", "--no-audit")
            _run("npm", "install", *flags, "--prefix", where, *NPM_PACKAGES)


def _install_packages() -> None:
    missing = [package for kind, package in _PACKAGES.items() if _is_missing(kind)]
    if _is_missing(Kind.GITLAB_CI_LOCAL):
        missing += [package for name, package in _NODE.items() if shutil.which(name) is None]
    if not missing:
        return
    as_root = [] if os.geteuid() == 0 else ["sudo"]
    _run(*as_root, "apt-get", "update", "-qq")
    quiet = ["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "install", "-y", "-qq"]
    _run(*as_root, *quiet, "--no-install-recommends", *missing)


def _is_missing(*kinds: Kind) -> bool:
    """Tell whether any is not there, or does not start: an installation was ended half-way."""
    return not all(_can_start(kind) for kind in kinds)


def _can_start(kind: Kind) -> bool:
    found = shutil.which(kind, path=search_path())
    if found is None:
        return False
    try:
        done = subprocess.run(
            (found, "--version"), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def _run(*command: str, **environment: str) -> None:
    """Run a command; what it says is shown where it fails."""
    began = time.monotonic()
    print(f"installing: {' '.join(command)}", file=sys.stderr, flush=True)
    try:
        done = subprocess.run(
            command,
            env=os.environ | environment,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise HostError(f"`{' '.join(command)}` cannot be run: {error}") from error
    if done.returncode:
        raise HostError(f"`{' '.join(command)}` failed:\n{done.stdout}{done.stderr}")
    print(f"  took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] = ()) -> int:
    """Install what is missing and print where each program is."""
    wanted = [Kind(name) for name in arguments] or list(Kind)
    try:
        install()
        for kind in wanted:
            print(program(kind))
    except HostError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
