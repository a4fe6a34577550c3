"""The image, built without a container engine, and started as production would start it.

A base that cannot be pulled is stood in for by a Debian with Python, made once and kept.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.command import Program, Running
from tests.cluster.kept import locked
from tests.hosts.place import ROOT
from tests.hosts.programs import BASE_FOLDER, Kind, program, search_path

NAME = "localhost/rollout-gate"
BASE = "localhost/rollout-gate-base"
GIVEN_BASE = "ROLLOUT_GATE_IMAGE_BASE"
"""The variable that names a base which can be pulled, instead of the one that is made."""
UID = 65532
_DEBIAN = "bookworm"
_INCLUDE = "python3,python3-venv,python3-pip,ca-certificates"
_OF_THE_HOST = ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs", "/etc/pip.conf")
_START = """
mount --bind "$1" "$1" && mount -o remount,bind,ro "$1"
mount -t tmpfs -o mode=1777 tmpfs "$1/tmp" && mount -t proc proc "$1/proc"
[ -z "$2" ] || mount --bind "$2" "$1/work"
root=$1 && shift 2 && cd / && exec chroot --userspec=65532:65532 "$root" "$@"
"""


@dataclass(frozen=True, slots=True)
class Image:
    """An image with its root file system, and its configuration as the registry would have it."""

    root: Path
    config: Mapping[str, Any]
    compressed_bytes: Sequence[int]

    def start(self, *arguments: str, work: Path | None = None) -> Running:
        """Start it as process 1 of its own, `work` being its working directory."""
        return self.program(*self.config["Entrypoint"], *arguments, work=work)

    def program(self, *words: str, work: Path | None = None) -> Running:
        """Start another program of the image in the same way."""
        env = ["/usr/bin/env", "-i", "-C", self.config["WorkingDir"], *self.config["Env"]]
        shell = ["sh", "-c", _START, "sh", str(self.root), str(work or ""), *env, *words]
        alone = ("unshare", "--mount", "--pid", "--fork", *shell)
        return Program(as_root(*alone), dict(os.environ), ROOT).start()


def process_1(running: Running) -> int:
    """Return the id that process 1 has outside of its name space."""
    pid = running.pid
    while name_of(pid) in ("sudo", "unshare"):
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        assert len(children) == 1, children
        pid = int(children[0])
    return pid


def name_of(pid: int) -> str:
    """Return the name of a process."""
    return Path(f"/proc/{pid}/comm").read_text().strip()


def as_root(*words: str) -> tuple[str, ...]:
    """Return a command as root."""
    return words if os.geteuid() == 0 else ("sudo", "--preserve-env", *words)


@contextmanager
def image() -> Iterator[Image]:
    """Build the image and mount it, as long as the block runs."""
    with locked(BASE_FOLDER / ".image.lock"):
        _timed("the image", *_build(NAME))
        with _mounted(NAME) as root:
            config = json.loads(_buildah("inspect", "--type", "image", NAME))["OCIv1"]["config"]
            yield Image(root, config, _compressed_bytes())
        _unmount_what_builds_left()


@contextmanager
def cloud_root(plugins: Path) -> Iterator[Path]:
    """Build the variant with the plugins of this folder; return its root file system."""
    name = f"{NAME}-cloud"
    _buildah(*_build(name, "--target", "cloud", "--build-context", f"plugins={plugins}"))
    with _mounted(name) as root:
        yield root


@contextmanager
def _mounted(name: str) -> Iterator[Path]:
    container = _buildah("from", "--pull-never", name)
    try:
        yield Path(_buildah("mount", container))
    finally:
        _buildah("unmount", container)
        _buildah("rm", container)


def _unmount_what_builds_left() -> None:
    """Take down the overlays that buildah's builds keep mounted after their end."""
    ours = str(BASE_FOLDER / "images" / "overlay")
    for line in Path("/proc/self/mounts").read_text().splitlines():
        at = line.split()[1]
        if at.startswith(ours) and at.endswith("/merged"):
            _run(*as_root("umount", at))


def _build(name: str, *more: str) -> list[str]:
    base = os.environ.get(GIVEN_BASE) or _base()
    mounts = [word for path in _OF_THE_HOST if Path(path).exists()
              for word in ("-v", f"{path}:{path}:ro")]  # fmt: skip
    passed_on = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")
    env = [
        word
        for name in os.environ
        if name.upper().startswith(passed_on)
        for word in ("--env", name)
    ]
    flags = ["--isolation", "chroot", "--network", "host", "--layers", *mounts, *env]
    return ["build", *flags, *more, "--build-arg", f"BASE={base}", "--tag", name, str(ROOT)]


def _base() -> str:
    """Return the base that is made of Debian's packages, once."""
    if BASE in _buildah("images", "--format", "{{.Name}}"):
        return BASE
    folder = BASE_FOLDER / "debian"
    _run(*as_root("rm", "-rf", str(folder)))
    began = time.monotonic()
    flags = ("--variant=minbase", f"--include={_INCLUDE}", _DEBIAN, str(folder))
    _run(*as_root(str(program(Kind.DEBOOTSTRAP)), *flags))
    for waste in ("var/cache/apt", "var/lib/apt/lists"):
        _run(*as_root("rm", "-rf", str(folder / waste)))
    container = _buildah("from", "scratch")
    _buildah("copy", "--quiet", container, str(folder), "/")
    _buildah("commit", "--quiet", "--rm", container, BASE)
    _run(*as_root("rm", "-rf", str(folder)))
    _say("the base", began)
    return BASE


def _compressed_bytes() -> list[int]:
    """Return the sizes of the layers as a registry keeps them, the base's first."""
    folder = BASE_FOLDER / "oci"
    shutil.rmtree(folder, ignore_errors=True)
    _buildah("push", "--quiet", NAME, f"oci:{folder}:it")
    index = json.loads((folder / "index.json").read_text())
    digest = index["manifests"][0]["digest"].replace(":", "/")
    manifest = json.loads((folder / "blobs" / digest).read_text())
    _run(*as_root("rm", "-rf", str(folder)))
    return [layer["size"] for layer in manifest["layers"]]


def _timed(what: str, *words: str) -> None:
    began = time.monotonic()
    _buildah(*words)
    _say(what, began)


def _say(what: str, began: float) -> None:
    print(f"building {what} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)


def _buildah(*words: str) -> str:
    where = ("--root", str(BASE_FOLDER / "images"), "--runroot", str(BASE_FOLDER / "run"))
    driver = ("--storage-driver", _driver())
    return _run(*as_root(str(program(Kind.BUILDAH)), *where, *driver, *words))


@functools.cache
def _driver() -> str:
    """Return overlay where the kernel lets us mount one; vfs copies each layer, minutes in all."""
    folder = BASE_FOLDER / "tried"
    where = ("--root", str(folder / "images"), "--runroot", str(folder / "run"))
    tried = as_root(str(program(Kind.BUILDAH)), *where, "--storage-driver", "overlay", "info")
    done = subprocess.run(tried, capture_output=True, check=False)
    _run(*as_root("rm", "-rf", str(folder)))
    return "overlay" if done.returncode == 0 else "vfs"


def _run(*command: str) -> str:
    env = os.environ | {"PATH": search_path()}
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}{done.stderr}"
    return done.stdout.strip()
