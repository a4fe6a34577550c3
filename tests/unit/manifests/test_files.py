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
        (["https://x/a.yaml"], "https://x/a.yaml: manifests are not fetched from URLs"),
        (["HTTP://x"], "HTTP://x: manifests are not fetched from URLs"),
        (["file:///etc/passwd"], "file:///etc/passwd: manifests are not fetched from URLs"),
        (["/dev/zero"], "/dev/zero: is a device, not a file"),
    ],
)
@pytest.mark.contract("B218")
def test_what_is_not_there_is_one_line(paths: list[str], message: str) -> None:
    """The line names the path as given, escaped where it does not print."""
    assert refusal(*paths).message == message


@pytest.mark.contract("B218")
def test_what_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the system's reason; root, who may run this, is denied nothing."""
    file = tmp_path / "a.yaml"
    file.touch()

    def denied(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", denied)
    monkeypatch.setattr(Path, "iterdir", denied)
    for path in (file, tmp_path):
        assert refusal(path).message == f"{path}: cannot be read: Permission denied"
    closed = io.BytesIO()
    closed.close()
    with pytest.raises(UsageError, match=r"^<stdin>: cannot be read: I/O operation on closed file"):
        load(["-"], stdin=closed)


@pytest.mark.contract("B218")
@pytest.mark.parametrize("where", ["secret.yaml", "deploy-secret/x.yaml"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, where: str) -> None:
    """A repository cannot make the gate apply, or show, a file from elsewhere."""
    folder, elsewhere = tmp_path / "deploy", tmp_path / where
    folder.mkdir()
    elsewhere.parent.mkdir(exist_ok=True)
    elsewhere.write_text(config_map("stolen"))
    (folder / "a.yaml").write_text(config_map("a"))
    (folder / "b.yaml").symlink_to(f"../{where}")
    error = refusal(folder)
    assert error.message == f"{folder}/b.yaml: a link that leads out of {folder}"
    assert "stolen" not in error.hint
    assert load([str(folder / "b.yaml")]).objects[0].name == "stolen", "who names it means it"


def test_links_within_a_folder_are_followed(tmp_path: Path) -> None:
    """A mounted ConfigMap is made of such links, and the folder may be one itself."""
    data = tmp_path / "mount" / "..2024"
    data.mkdir(parents=True)
    (data / "a.yaml").write_text(config_map("a"))
    (tmp_path / "mount" / "..data").symlink_to("..2024")
    (tmp_path / "mount" / "a.yaml").symlink_to("..data/a.yaml")
    (tmp_path / "alias").symlink_to("mount")
    assert load([str(tmp_path / "alias")]).objects[0].name == "a"


@pytest.mark.contract("B218")
def test_a_pipe_without_a_writer_does_not_hang(tmp_path: Path) -> None:
    """Only regular files are opened, by name as well as in a folder."""
    error = refusal(tmp_path)
    assert error.message == f"{tmp_path}: no *.yaml, *.yml or *.json file in it"
    assert error.hint == "subfolders are not searched: name each with -f"
    os.mkfifo(tmp_path / "a.yaml")
    for path in (tmp_path / "a.yaml", tmp_path):
        error = refusal(path)
        assert error.message == f"{tmp_path}/a.yaml: is a pipe, not a file"
        assert error.hint == "pipe the manifest into -f -"
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
