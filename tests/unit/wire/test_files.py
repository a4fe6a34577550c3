"""What can be known of a file before anything is put there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from gate.wire.files import is_stream, obstacle, open_new, put


@pytest.mark.contract("B204")
def test_nothing_stands_in_the_way_of_a_file_that_can_be_put(tmp_path: Path) -> None:
    """Whether it is there or not, and of devices and pipes, without opening them."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "new", Path("new"), Path("/dev/null"), tmp_path / "pipe"):
        assert obstacle(path) is None
    put(tmp_path / "new", b"x")
    assert obstacle(tmp_path / "new") is None


@pytest.mark.contract("B204")
def test_what_is_no_place_for_a_file_is_told(tmp_path: Path) -> None:
    """A folder, a folder that is not there, one that is a file, a name that is too long."""
    (tmp_path / "file").touch()
    assert obstacle(tmp_path) == "is a folder"
    assert obstacle(tmp_path / "no" / "a.json") == f"there is no folder {tmp_path / 'no'}"
    assert obstacle(tmp_path / "file" / "a.json") == f"there is no folder {tmp_path / 'file'}"
    assert obstacle(tmp_path / ("a" * 300)) == "File name too long"


@pytest.mark.contract("B204")
def test_a_folder_that_cannot_be_written_to_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the system says it: root may write nearly everywhere."""
    asked = []

    def access(path: Path, mode: int) -> bool:
        asked.append((path, mode))
        return False

    monkeypatch.setattr(os, "access", access)
    assert obstacle(tmp_path / "a.json") == f"the folder {tmp_path} cannot be written to"
    assert obstacle(Path("/dev/null")) == "Permission denied"
    assert asked == [(tmp_path, os.W_OK | os.X_OK), (Path("/dev/null"), os.W_OK)]


@pytest.fixture
def shared_memory() -> Iterator[Path]:
    """Return a new folder in /dev/shm, which everybody may write to; only Linux has one."""
    folder = Path("/dev/shm")  # noqa: S108 - it is what is tested
    if not os.access(folder, os.W_OK):
        pytest.skip("this machine has no /dev/shm")
    with tempfile.TemporaryDirectory(dir=folder) as made:
        yield Path(made)


@pytest.mark.contract("B178")
def test_a_file_in_dev_shm_is_replaced_as_anywhere(shared_memory: Path) -> None:
    """Two reports of one name are not one behind the other."""
    path = shared_memory / "r.json"
    for text in (b"one", b"two"):
        put(path, text)
        assert path.read_bytes() == text
    with open_new(path) as file:
        file.write(b"three")
    assert path.read_bytes() == b"three"
    assert [one.name for one in shared_memory.iterdir()] == ["r.json"]


@pytest.mark.contract("B178")
@pytest.mark.parametrize("how", ["put", "open_new"])
def test_a_link_in_dev_shm_is_not_followed(shared_memory: Path, tmp_path: Path, how: str) -> None:
    """Anybody may have planted it."""
    ours, link = tmp_path / "ours", shared_memory / "r.json"
    ours.write_bytes(b"precious")
    link.symlink_to(ours)
    if how == "put":
        put(link, b"new")
    else:
        with open_new(link) as file:
            file.write(b"new")
    assert (link.is_symlink(), link.read_bytes(), ours.read_bytes()) == (False, b"new", b"precious")


@pytest.mark.contract("B178")
def test_a_link_beside_a_folder_that_proc_leads_to_is_no_open_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`/proc/self/cwd` is where the gate runs: what stands there is judged by where it stands."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "ours")
    assert not is_stream(Path("/proc/self/cwd/link"))


@pytest.mark.contract("B178")
def test_an_open_file_is_written_to_by_its_name(tmp_path: Path) -> None:
    """As `--report json=/dev/fd/3 3>report.json` of a shell asks for: what is open stays open."""
    with (tmp_path / "r.json").open("wb") as file:
        put(Path(f"/dev/fd/{file.fileno()}"), b"new")
        assert os.fstat(file.fileno()).st_size == len(b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
