"""Kubeconfig files: found, read and merged as kubectl does, and one context chosen.

Of several files the first that names an entry or the current context wins, and relative paths start
at the folder of the file that holds them (client-go, clientcmd loading rules).
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from gate.core.frozen import dataclass
from gate.core.model.objects import LABEL
from gate.errors import UsageError

_FILE_BYTES = 4 << 20


@dataclass(frozen=True, slots=True)
class Entry:
    """A named cluster, user or context, with the file that holds it."""

    name: str
    values: Mapping[str, Any]
    file: Path

    def text(self, key: str) -> str:
        """Return a string, "" if there is none; UsageError if it is something else."""
        value = self.values.get(key)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise UsageError(f"{self.file}: {key} of {self.name!r} is not a string")
        return value

    def path(self, key: str) -> str:
        """Return a path, relative ones taken from the file's folder; "" if there is none."""
        text = self.text(key)
        return str(self.file.parent / Path(text).expanduser()) if text else ""


@dataclass(frozen=True, slots=True)
class Kubeconfig:
    """All files merged."""

    files: tuple[Path, ...]
    current: str
    clusters: Mapping[str, Entry]
    users: Mapping[str, Entry]
    contexts: Mapping[str, Entry]


@dataclass(frozen=True, slots=True)
class Choice:
    """One context with what it names; `user` is None if nobody is named."""

    context: str
    namespace: str
    cluster: Entry
    user: Entry | None


def find(explicit: str, environ: Mapping[str, str]) -> tuple[Path, ...]:
    """Return the files to read: the explicit one, those of `KUBECONFIG`, or the home's.

    None at all means that nothing was configured; UsageError if none of the files that were asked
    for exists.
    """
    if explicit:
        return _existing([explicit], f"kubeconfig {explicit}")
    named = [name for name in environ.get("KUBECONFIG", "").split(os.pathsep) if name]
    if named:
        return _existing(named, f"KUBECONFIG={os.pathsep.join(named)}")
    home = environ.get("HOME", "")
    standard = Path(home) / ".kube" / "config"
    return (standard,) if home and standard.is_file() else ()


def _existing(names: list[str], what: str) -> tuple[Path, ...]:
    named = [Path(name).expanduser() for name in names]
    paths = tuple(path for path in named if path.is_file())
    if not paths:
        is_folder = any(path.is_dir() for path in named)
        there = "is a folder, not a file" if is_folder else "is no file that holds a kubeconfig"
        raise UsageError(f"{what}: {there if any(map(Path.exists, named)) else 'no such file'}")
    return paths


def load(files: tuple[Path, ...]) -> Kubeconfig:
    """Read and merge; UsageError names the file, and the line if there is one."""
    current = ""
    merged: dict[str, dict[str, Entry]] = {"clusters": {}, "users": {}, "contexts": {}}
    for file in files:
        document = _document(file)
        current = current or str(document.get("current-context") or "")
        for section, entries in merged.items():
            for entry in _entries(file, section, document.get(section)):
                entries.setdefault(entry.name, entry)
    return Kubeconfig(files, current, merged["clusters"], merged["users"], merged["contexts"])


def _document(file: Path) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            text = stream.read(_FILE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error
    if len(text) > _FILE_BYTES:
        raise UsageError(f"{file}: larger than {_FILE_BYTES >> 20} MiB")
    try:
        document = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else str(file)
        problem = getattr(error, "problem", None) or "unreadable"
        if problem.startswith("but "):  # the second half of a sentence of PyYAML's
            problem = f"{getattr(error, 'context', '')}, {problem}"
        raise UsageError(f"{where}: not a kubeconfig: not YAML: {problem}") from error
    except (ValueError, RecursionError) as error:  # of a date, a number, too many brackets
        raise UsageError(f"{file}: not a kubeconfig: not YAML: a value cannot be read") from error
    if document is None:
        return {}
    if not isinstance(document, dict):
        raise UsageError(f"{file}: not a kubeconfig: it is not a mapping")
    kind = document.get("kind")
    if kind not in (None, "", "Config"):
        raise UsageError(f"{file}: not a kubeconfig: its kind is {kind!r:.60}")
    return document


def _entries(file: Path, section: str, listed: Any) -> list[Entry]:
    """Read `clusters: [{name, cluster: {...}}]` and its two siblings."""
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise UsageError(f"{file}: {section} is not a list")
    entries = []
    for index, item in enumerate(listed):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(name, str) or not name:
            raise UsageError(f"{file}: {section}[{index}] has no name")
        values = item.get(section.removesuffix("s")) or {}
        if not isinstance(values, dict):
            raise UsageError(f"{file}: {section[:-1]} of {name!r} is no mapping")
        entries.append(Entry(name, values, file))
    return entries


def choose(config: Kubeconfig, context: str) -> Choice:
    """Return the named context, or the current one; UsageError lists those that exist."""
    if not config.contexts:
        files = ", ".join(map(str, config.files))
        hint = "KUBECONFIG and --kubeconfig name the files that are read"
        raise UsageError(f"no context in the kubeconfig {files}", hint=hint)
    wanted = context or config.current
    names = ", ".join(sorted(config.contexts))
    if not wanted:
        raise UsageError(f"no context is current; the contexts are: {names}", hint="use --context")
    found = config.contexts.get(wanted)
    if found is None:
        raise UsageError(f"no context {wanted!r}; the contexts are: {names}")
    cluster = config.clusters.get(found.text("cluster"))
    if cluster is None:
        raise UsageError(f"context {wanted!r} names no cluster that exists", hint=str(found.file))
    user_name = found.text("user")
    user = config.users.get(user_name)
    if user_name and user is None:
        raise UsageError(f"context {wanted!r} names the user {user_name!r}, which does not exist")
    namespace = found.text("namespace")
    if namespace and not LABEL.fullmatch(namespace):
        raise UsageError(f"context {wanted!r} names {namespace!r}, which cannot be a namespace")
    return Choice(wanted, namespace, cluster, user)


def writable_by_others(file: Path) -> bool:
    """Tell whether anybody on this machine may change the file."""
    return bool(file.stat().st_mode & stat.S_IWOTH)
