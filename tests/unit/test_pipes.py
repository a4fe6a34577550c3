"""Pipes that have a name: readers that never come, stop, or are slow."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gate.output import PATIENCE_SECONDS
from gate.pipes import append, open_nonblocking
from tests.unit.test_output import Hands


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """Return a pipe with a name, which nobody has opened."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def reader(pipe: Path) -> int:
    """Open a pipe to read from it."""
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    os.set_blocking(descriptor, True)
    return descriptor


@pytest.mark.contract("B171")
def test_a_pipe_that_nobody_reads_is_waited_for_two_seconds(pipe: Path) -> None:
    """Then it is an error that says so."""
    clock = Hands()
    with pytest.raises(OSError, match="nobody reads this pipe"):
        append(pipe, b"text", clock)
    assert PATIENCE_SECONDS <= clock.seconds < PATIENCE_SECONDS + 0.1


@pytest.mark.contract("B171")
def test_a_reader_may_come_late(pipe: Path) -> None:
    """As one that a shell starts beside it."""
    clock, readers = Hands(), list[int]()

    def come() -> None:
        if clock.seconds > 1.0 and not readers:
            readers.append(reader(pipe))

    clock.meanwhile = come
    append(pipe, b"text", clock)
    assert os.read(readers[0], 100) == b"text"
    os.close(readers[0])


@pytest.mark.contract("B171")
def test_a_reader_that_stops_reading_is_waited_for_two_seconds(pipe: Path) -> None:
    """What is missing is said."""
    clock, ours = Hands(), reader(pipe)
    with pytest.raises(TimeoutError, match=r"takes nothing, .* of 1000000 bytes are missing"):
        append(pipe, b"x" * 1_000_000, clock)
    assert PATIENCE_SECONDS <= clock.seconds < PATIENCE_SECONDS + 0.1
    os.close(ours)


@pytest.mark.contract("B171")
def test_a_slow_reader_gets_all_of_it(pipe: Path) -> None:
    """However long that takes."""
    clock, ours, read = Hands(), reader(pipe), bytearray()

    def take() -> None:
        if clock.seconds // 1.0 > len(read) // 16384:
            read.extend(os.read(ours, 16384))

    clock.meanwhile = take
    data = b"0123456789" * 30_000
    append(pipe, data, clock)
    while len(read) < len(data):
        read.extend(os.read(ours, 65536))
    assert bytes(read) == data
    assert clock.seconds > 2 * PATIENCE_SECONDS
    os.close(ours)


def test_a_file_is_appended_to_or_truncated(tmp_path: Path) -> None:
    """As it is asked for."""
    path = tmp_path / "file"
    append(path, b"one")
    append(path, b"two")
    assert path.read_bytes() == b"onetwo"
    os.close(open_nonblocking(path, os.O_TRUNC))
    assert path.read_bytes() == b""
