"""Files, folders and stdin: what is read, in which order, and what is refused without harm."""

from __future__ import annotations

import io
import os
import socket
import tracemalloc
from pathlib import Path

import pytest

from gate.errors import UsageError
from gate.manifests.bounds import Budget, Limits
from gate.manifests.files import read_all
from gate.manifests.load import load


def config_map(name: str) -> str:
    """Return a small object."""
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"


def refusal(*paths: str | Path) -> UsageError:
    """Load what cannot be read, and return the error."""
    with pytest.raises(UsageError) as refused:
        load([str(path) for path in paths])
    return refused.value


@pytest.mark.contract("B210")
def test_a_folder_is_its_yaml_and_json_files_by_name(tmp_path: Path) -> None:
    """As `kubectl apply -f DIR`: sorted, three suffixes, no subfolders, nothing else."""
    for name in ("b.yml", "a.yaml", "c.json", "notes.txt", "d.yaml.bak"):
        (tmp_path / name).write_text(config_map(f"from-{name[0]}"))
    (tmp_path / "deeper.yaml").mkdir()
    (tmp_path / "deeper.yaml" / "x.yaml").write_text(config_map("deep"))
    assert [item.name for item in load([str(tmp_path)]).objects] == ["from-a", "from-b", "from-c"]


@pytest.mark.contract("B211")
@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.yml", "Kustomization"])
def test_a_folder_for_kustomize_is_to_be_built(tmp_path: Path, name: str) -> None:
    """The command is named; Flux has a kind of that name, which is an object like others."""
    folder = tmp_path / "over lay"
    folder.mkdir()
    (folder / "a.yaml").write_text(config_map("a"))
    (folder / name).write_text("resources: [a.yaml]\n")
    error = refusal(folder)
    assert f"{name} is for kustomize" in error.message
    assert error.hint == f"kustomize build '{folder}' | rollout-gate ... -f -"
    flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: a}\n"
    (folder / name).write_text(flux)
    assert "a" in [item.name for item in load([str(folder)]).objects]


@pytest.mark.contract("B211")
def test_subfolders_with_manifests_are_told_of(tmp_path: Path) -> None:
    """Those without any are not, and one that is named itself is read."""
    (tmp_path / "a.yaml").write_text(config_map("a"))
    for folder, file in (("base", "b.yml"), ("docs", "notes.txt"), ("empty", None)):
        (tmp_path / folder).mkdir()
        if file:
            (tmp_path / folder / file).write_text(config_map("b"))
    assert load([str(tmp_path)]).unread == (str(tmp_path / "base"),)
    assert load([str(tmp_path), str(tmp_path / "base")]).unread == ()
    assert load([str(tmp_path / "a.yaml")]).unread == ()


@pytest.mark.contract("B210")
def test_several_paths_and_stdin_are_one_manifest(tmp_path: Path) -> None:
    """Each `-f` adds its objects; their places name the file they stand in."""
    file = tmp_path / "a.yaml"
    file.write_text(f"# first\n---\n{config_map('a')}")
    manifest = load([str(file), "-"], stdin=io.BytesIO(config_map("b").encode()))
    assert [(item.name, str(item.source)) for item in manifest.objects] == [
        ("a", f"{file}:3"),
        ("b", "<stdin>:1"),
    ]


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ([], "no manifest"),
        (["-", "-"], "stdin can be read only once"),
        (["-"], "<stdin>: there is no stdin to read from"),
        (["nowhere.yaml"], "nowhere.yaml: no such file or folder"),
        ([""], ": no such file or folder"),
        (["a\0b"], r"a\u0000b: cannot be read: a null byte in its name"),
        (["x" * 300], f"{'x' * 200}...: cannot be read: File name too long"),
        (["\x1b[31m::error::.yaml"], r"\u001b[31m::error::.yaml: no such file or folder"),
    ],
)
@pytest.mark.contract("B218")
def test_what_is_not_there_is_one_line(paths: list[str], message: str) -> None:
    """The line names the path as given, escaped where it does not print."""
    assert refusal(*paths).message == message


@pytest.mark.contract("B218")
@pytest.mark.parametrize("url", ["https://example.com/a.yaml", "HTTP://x", "file:///etc/passwd"])
def test_urls_are_refused(url: str) -> None:
    """Nothing is fetched: the hint says what to do instead."""
    error = refusal(url)
    assert error.message == f"{url}: manifests are not fetched from URLs"
    assert error.hint == "download it, look at it, and give the file"


@pytest.mark.contract("B218")
def test_a_file_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's reason stands in the line; root, who may run this, is denied nothing."""
    file = tmp_path / "a.yaml"
    file.touch()

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    assert refusal(file).message == f"{file}: cannot be read: Permission denied"


@pytest.mark.contract("B218")
def test_a_folder_without_permission_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Listing it can fail as opening a file can."""

    def denied(_: Path) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    assert refusal(tmp_path).message == f"{tmp_path}: cannot be read: Permission denied"


def test_a_stdin_that_is_closed_is_one_line() -> None:
    """A parent may close it, as in `rollout-gate ... -f - <&-`."""
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(UsageError, match=r"^<stdin>: cannot be read: I/O operation on closed file"):
        load(["-"], stdin=closed)


def test_an_empty_folder_says_what_it_looked_for(tmp_path: Path) -> None:
    """A folder of subfolders alone is a likely slip."""
    (tmp_path / "sub").mkdir()
    error = refusal(tmp_path)
    assert error.message == f"{tmp_path}: no *.yaml, *.yml or *.json file in it"
    assert error.hint == "subfolders are not searched: name each with -f"


@pytest.mark.contract("B218")
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    """A repository cannot make the gate apply, or show, a file from elsewhere."""
    folder = tmp_path / "deploy"
    folder.mkdir()
    (tmp_path / "secret.yaml").write_text(config_map("stolen"))
    (folder / "a.yaml").write_text(config_map("a"))
    (folder / "b.yaml").symlink_to("../secret.yaml")
    error = refusal(folder)
    assert error.message == f"{folder}/b.yaml: a link that leads out of {folder}"
    assert "stolen" not in error.hint


def test_a_link_out_through_a_sibling_with_the_same_prefix_is_refused(tmp_path: Path) -> None:
    """`deploy-secret` is not inside `deploy`."""
    (tmp_path / "deploy").mkdir()
    (tmp_path / "deploy-secret").mkdir()
    (tmp_path / "deploy-secret" / "x.yaml").write_text(config_map("stolen"))
    (tmp_path / "deploy" / "x.yaml").symlink_to("../deploy-secret/x.yaml")
    assert "leads out of" in refusal(tmp_path / "deploy").message


def test_links_within_a_folder_are_followed(tmp_path: Path) -> None:
    """A mounted ConfigMap is made of such links, and the folder may be one itself."""
    data = tmp_path / "mount" / "..2024"
    data.mkdir(parents=True)
    (data / "a.yaml").write_text(config_map("a"))
    (tmp_path / "mount" / "..data").symlink_to("..2024")
    (tmp_path / "mount" / "a.yaml").symlink_to("..data/a.yaml")
    (tmp_path / "alias").symlink_to("mount")
    assert load([str(tmp_path / "alias")]).objects[0].name == "a"


def test_a_file_given_by_name_may_be_a_link(tmp_path: Path) -> None:
    """Who names a path means it."""
    (tmp_path / "real").write_text(config_map("a"))
    (tmp_path / "link.yaml").symlink_to("real")
    assert load([str(tmp_path / "link.yaml")]).objects[0].name == "a"


@pytest.mark.contract("B218")
def test_a_pipe_without_a_writer_does_not_hang(tmp_path: Path) -> None:
    """Only regular files are opened, by name as well as in a folder."""
    os.mkfifo(tmp_path / "a.yaml")
    for path in (tmp_path / "a.yaml", tmp_path):
        error = refusal(path)
        assert error.message == f"{tmp_path}/a.yaml: is a pipe, not a file"
        assert error.hint == "pipe the manifest into -f -"


def test_devices_and_sockets_are_no_files(tmp_path: Path) -> None:
    """`/dev/zero` has no end."""
    assert refusal("/dev/zero").message == "/dev/zero: is a device, not a file"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        assert refusal(tmp_path / "s").message.startswith(f"{tmp_path}/s: cannot be read: ")


@pytest.mark.contract("B215")
def test_a_file_of_100_megabytes_is_refused_unread(tmp_path: Path) -> None:
    """Its size is looked at before its bytes: the refusal costs no memory."""
    file = tmp_path / "big.yaml"
    with file.open("wb") as stream:
        stream.truncate(100 * 2**20)
    tracemalloc.start()
    try:
        error = refusal(file)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert error.message == f"{file}: larger than 16 MiB"
    assert peak < 2**20


@pytest.mark.contract("B215")
@pytest.mark.parametrize(
    ("limits", "problem"),
    [
        (Limits(file_bytes=3 * 2**20), "larger than 3 MiB"),
        (Limits(total_bytes=3 * 2**20), "the manifests are larger than 3 MiB together"),
    ],
)
def test_a_stream_is_read_no_further_than_its_limit(limits: Limits, problem: str) -> None:
    """One byte more than the limit is enough to refuse."""

    class Endless(io.BytesIO):
        given = 0

        def read(self, size: int | None = -1) -> bytes:
            assert size is not None
            self.given += size
            return b"#" * size

    stream = Endless()
    with pytest.raises(UsageError, match=rf"^<stdin>: {problem}$"):
        list(read_all(["-"], stdin=stream, budget=Budget(limits)))
    assert stream.given == 3 * 2**20 + 1


def test_all_files_share_one_limit(tmp_path: Path) -> None:
    """Many files below their own limit are too much together."""
    for name in "abc":
        (tmp_path / f"{name}.yaml").write_text("#" * 400 * 1024)
    with pytest.raises(UsageError) as refused:
        load([str(tmp_path)], limits=Limits(file_bytes=2**20, total_bytes=2**20))
    assert refused.value.message == (
        f"{tmp_path}/c.yaml: the manifests are larger than 1 MiB together"
    )
