"""What can be known of a file before anything is put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gate.wire.files import obstacle, put


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
