"""The control plane's binaries: found where somebody has them, else built once and kept.

Run it as `python -m tests.cluster.build`: it prints where each binary is. The versions are those
of `go.mod` and `go.sum` beside this file, whose hash names the folder in the cache; those of the
folder `kubectl` pin a kubectl of an earlier minor version. `TEST_KUBERNETES` asks for
another version of the servers and of kubectl, which has a folder here, as in `1.33` of `v1.33`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.kept import kept_folder, locked

MODULE = Path(__file__).parent
NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kubectl")
KUBERNETES_COMMANDS = "k8s.io/kubernetes/cmd/"
VERSION = "TEST_KUBERNETES"
ETCD = "etcd"
ETCD_PACKAGE = "go.etcd.io/etcd/server/v3"
EARLIER = MODULE / "kubectl"
EARLIER_KUBECTL = "kubectl-earlier"


class BuildError(Exception):
    """The binaries are neither there nor can they be built; the message names the next step."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """Where each program of the control plane stands."""

    etcd: Path
    kube_apiserver: Path
    kube_controller_manager: Path
    kubectl: Path


def binaries() -> Binaries:
    """Return the programs: those of `KUBEBUILDER_ASSETS` first, the rest from the cache.

    What is in neither place is built, which needs Go and, the first time, minutes. Raises
    `BuildError` where that cannot be done.
    """
    assets = os.environ.get("KUBEBUILDER_ASSETS")
    given = {name: Path(assets) / name for name in NAMES} if assets else {}
    found = {name: path for name, path in given.items() if path.is_file()}
    pinned_by = {name: MODULE if name == ETCD else chosen_module() for name in NAMES}
    for module in dict.fromkeys(pinned_by.values()):
        missing = [name for name, its in pinned_by.items() if its == module and name not in found]
        if missing:
            folder = cache_folder(module)
            _build_once(module, folder, missing)
            found |= {name: folder / name for name in missing}
    return Binaries(**{name.replace("-", "_"): path.absolute() for name, path in found.items()})


def earlier_kubectl() -> Path:
    """Return a kubectl of an earlier minor version than the control plane's, built where needed."""
    folder = cache_folder(EARLIER)
    _build_once(EARLIER, folder, [EARLIER_KUBECTL])
    return (folder / EARLIER_KUBECTL).absolute()


def chosen_module() -> Path:
    """Return the module of the Kubernetes that is asked for; the newest where none is.

    Raises `BuildError` for a version that nothing here builds.
    """
    version = os.environ.get(VERSION, "")
    newest = ".".join(kubernetes_version().removeprefix("v").split(".")[:2])
    if version in ("", newest):
        return MODULE
    others = {path.name.removeprefix("v"): path for path in MODULE.glob("v*.*") if path.is_dir()}
    if version not in others:
        there = ", ".join(sorted([newest, *others]))
        raise BuildError(f"{VERSION}={version}: there is no such version here; there are {there}")
    return others[version]


def cache_folder(module: Path = MODULE) -> Path:
    """Return the folder that holds the binaries of exactly these module files."""
    if chosen := os.environ.get("ROLLOUT_GATE_CLUSTER_BIN"):
        return Path(chosen) / (module.name if module.name.startswith("v") else "")
    digest = hashlib.sha256()
    for name in ("go.mod", "go.sum"):
        digest.update((module / name).read_bytes())
    return kept_folder("cluster") / digest.hexdigest()[:16]


def _build_once(module: Path, folder: Path, names: Sequence[str]) -> None:
    """Build what `folder` lacks of `names`; of several processes one builds, the others wait."""
    if _missing(folder, names):
        with locked(folder.with_name(folder.name + ".lock")):
            if missing := _missing(folder, names):
                _build(module, folder, missing)


def _missing(folder: Path, names: Sequence[str]) -> list[str]:
    return [name for name in names if not (folder / name).is_file()]


def _build(module: Path, folder: Path, names: Sequence[str]) -> None:
    """Compile `names` in a folder of their own and move them in whole, one rename each."""
    _check_toolchain()
    print(
        f"building {', '.join(names)} into {folder}: the first time a whole control plane"
        " takes about five minutes on two cores and 4 GB of Go's caches",
        file=sys.stderr,
        flush=True,
    )
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".build-") as workplace:
        for name in names:
            output = Path(workplace) / name
            _go(module, "build", "-trimpath", *_build_arguments(module, name, output))
        folder.mkdir(exist_ok=True)
        for name in names:
            (Path(workplace) / name).rename(folder / name)


def _build_arguments(module: Path, name: str, output: Path) -> list[str]:
    if name == ETCD:
        return ["-o", str(output), ETCD_PACKAGE]
    package = "." if name == EARLIER_KUBECTL else KUBERNETES_COMMANDS + name
    return [*_stamped(module, output), package]


def _stamped(module: Path, output: Path) -> list[str]:
    """Return the linker's flags without which a program calls itself v0.0.0-master."""
    version = kubernetes_version(module)
    major, minor, _ = version.removeprefix("v").split(".", 2)
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    flags = (f"-X k8s.io/component-base/version.{key}={val}" for key, val in stamps.items())
    return ["-ldflags", " ".join(flags), "-o", str(output)]


def kubernetes_version(module: Path = MODULE) -> str:
    """Return the version that `go.mod` pins, like `v1.36.3`; its libraries are `v0.36.3`."""
    return _pinned(r"^\s*k8s\.io/component-base.* v0(\.\S+)$", module).replace(".", "v1.", 1)


def _pinned(pattern: str, module: Path = MODULE) -> str:
    match = re.search(pattern, (module / "go.mod").read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{module / 'go.mod'} has no line like {pattern}")
    return match[1]


def _check_toolchain() -> None:
    """Refuse early, and with the remedy, where Go is missing or older than `go.mod` asks."""
    wanted = _pinned(r"^go (\S+)")
    remedy = (
        f"install Go {wanted} or newer (https://go.dev/dl, or a Debian package golang-1.NN-go,"
        " from backports where the release has an older one), or set KUBEBUILDER_ASSETS to a"
        f" folder with {', '.join(NAMES)}"
    )
    if shutil.which("go") is None:
        raise BuildError(f"the control plane is built with Go, and there is no `go` here: {remedy}")
    # In the module's folder an older Go fetches the right toolchain itself, unless told not to.
    answer = subprocess.run(
        ["go", "env", "GOVERSION"], cwd=MODULE, capture_output=True, text=True, check=False
    )
    if answer.returncode != 0 or _version(answer.stdout) < _version(wanted):
        said = (answer.stdout + answer.stderr).strip()
        raise BuildError(f"Go is too old or does not run ({said}): {remedy}")


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", text)[:3])


def _go(module: Path, *arguments: str) -> None:
    environment = os.environ | {"CGO_ENABLED": "0"}
    command = ["go", *arguments]
    if subprocess.run(command, cwd=module, env=environment, check=False).returncode != 0:
        raise BuildError(f"`{' '.join(command)}` failed; its own words stand above")


def main() -> int:
    """Build what is missing and print where each program stands."""
    try:
        found = binaries()
        given = os.environ.get("KUBEBUILDER_ASSETS") or os.environ.get(VERSION)
        extra = [] if given else [earlier_kubectl()]
    except BuildError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    servers = (found.etcd, found.kube_apiserver, found.kube_controller_manager)
    for path in (*servers, found.kubectl, *extra):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
