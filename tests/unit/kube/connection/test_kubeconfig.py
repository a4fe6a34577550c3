"""Kubeconfig files are found, merged and chosen from as kubectl does; faults name their place."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.kube.connection import kubeconfig

ONE = """
current-context: one
clusters: [{name: c, cluster: {server: "https://one", certificate-authority: ca.crt}}]
users: [{name: u, user: {token: a}}]
contexts: [{name: one, context: {cluster: c, user: u, namespace: shop}}]
"""
TWO = """
current-context: two
clusters: [{name: c, cluster: {server: "https://other"}}, {name: d, cluster: {server: "https://d"}}]
contexts: [{name: two, context: {cluster: d, user: u}}, {name: lost, context: {cluster: e}}]
"""

NOT_CURRENT = ONE.replace("current-context: one", "")


def _load(tmp_path: Path, *texts: str) -> kubeconfig.Kubeconfig:
    files = []
    for number, text in enumerate(texts):
        folder = tmp_path / str(number)
        folder.mkdir(parents=True)
        files.append(folder / "config")
        files[-1].write_text(text)
    return kubeconfig.load(tuple(files))


@pytest.mark.contract("B240")
def test_the_first_file_wins(tmp_path: Path) -> None:
    """The first that names an entry or the current context; paths are those of their file."""
    config = _load(tmp_path, TWO.replace("name: c,", "name: x,"), ONE)
    assert config.current == "two"
    assert set(config.contexts) == {"one", "two", "lost"}
    assert config.clusters["c"].path("certificate-authority") == str(tmp_path / "1" / "ca.crt")
    assert _load(tmp_path / "again", ONE, TWO).clusters["c"].text("server") == "https://one"


def test_a_context_is_chosen(tmp_path: Path) -> None:
    """The named context is chosen, the current one without a name; users cross files."""
    config = _load(tmp_path, ONE, TWO)
    assert kubeconfig.choose(config, "").namespace == "shop"
    chosen = kubeconfig.choose(config, "two")
    assert (chosen.cluster.name, chosen.user and chosen.user.name) == ("d", "u")


@pytest.mark.contract("B240")
@pytest.mark.parametrize(
    ("texts", "context", "said", "hint"),
    [
        ((ONE, TWO), "three", "no context 'three'; the contexts are: lost, one, two", ""),
        ((ONE, TWO), "lost", "context 'lost' names no cluster that exists", ""),
        (
            (NOT_CURRENT,),
            "",
            "no context is current; the contexts are: one",
            "use --context",
        ),
        (("",), "", r"no context in the kubeconfig /.*config", "--kubeconfig"),
        (("",), "one", r"no context in the kubeconfig /.*config", "--kubeconfig"),
    ],
)
def test_a_wrong_context_lists_those_that_exist(
    tmp_path: Path, texts: tuple[str, ...], context: str, said: str, hint: str
) -> None:
    """One that does not exist, names no cluster or was not chosen is a usage error that helps."""
    config = _load(tmp_path, *texts)
    with pytest.raises(UsageError, match=said) as caught:
        kubeconfig.choose(config, context)
    assert hint in caught.value.hint


@pytest.mark.parametrize("namespace", ["../../x", "a\x1b[31m", "Shop", "x" * 64])
def test_a_namespace_that_is_none(tmp_path: Path, namespace: str) -> None:
    """What cannot be a namespace is said before anything is asked for in it."""
    config = _load(tmp_path, ONE.replace("namespace: shop", f"namespace: {json.dumps(namespace)}"))
    with pytest.raises(UsageError, match="which cannot be a namespace"):
        kubeconfig.choose(config, "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: b: c", "config:1: not a kubeconfig: not YAML: mapping values are not allowed"),
        ("a: b\n---\nc: d", "YAML: expected a single document in the stream, but found another"),
        ("clusters:\n- {name: [\n", r"config:\d: not a kubeconfig: not YAML"),
        ("- a", "not a kubeconfig"),
        ("kind: Deployment", "not a kubeconfig: its kind is .Deployment."),
        ("clusters: 3", "clusters is not a list"),
        ("users: [{user: {}}]", r"users\[0\] has no name"),
        ("users: [{name: a, user: 3}]", "user of 'a' is no mapping"),
        ("x: !!python/object/apply:os.getcwd []", "config:1: not a kubeconfig: not YAML"),
        ("x: 2024-99-99", "config: not a kubeconfig: not YAML: a value cannot be read"),
        ("x: !!int a", "config: not a kubeconfig: not YAML: a value cannot be read"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, text: str, said: str) -> None:
    """What cannot be read is a usage error with the file, and the line where there is one."""
    with pytest.raises(UsageError, match=said):
        _load(tmp_path, text)


@pytest.mark.contract("B216", "B240")
def test_the_explicit_file_comes_first(tmp_path: Path) -> None:
    """Before KUBECONFIG, that before the home's file; what was named has to be there."""
    for name in ("flag", "env", ".kube/config"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    environ = {"HOME": str(tmp_path), "KUBECONFIG": f"{tmp_path / 'env'}:{tmp_path / 'missing'}"}
    assert kubeconfig.find(str(tmp_path / "flag"), environ) == (tmp_path / "flag",)
    assert kubeconfig.find("", environ) == (tmp_path / "env",)
    assert kubeconfig.find("", {"HOME": str(tmp_path)}) == (tmp_path / ".kube" / "config",)
    assert kubeconfig.find("", {}) == ()
    with pytest.raises(UsageError, match=r"kubeconfig .*: is a folder, not a file"):
        kubeconfig.find(str(tmp_path), {})
    with pytest.raises(UsageError, match=r"KUBECONFIG=/dev/null: is no file that holds"):
        kubeconfig.find("", {"KUBECONFIG": "/dev/null"})
    for explicit, where in (("missing", {}), ("", {"KUBECONFIG": "missing:gone"})):
        with pytest.raises(UsageError, match=r"missing.*no such file"):
            kubeconfig.find(explicit, where)
