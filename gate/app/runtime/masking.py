"""Masks a run's output: its streams and its log, without the secrets that it knows."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, TextIO, cast

from gate import log
from gate.app.runtime.terminal import TerminalStream
from gate.app.runtime.world import World
from gate.manifests.containers import containers
from gate.manifests.manifest import Manifest
from gate.wire.secret_values import SecretValues

Mask = Callable[[str], str]


class MaskedStream(io.TextIOBase):
    """A text stream without secrets; a secret split between two writes is not found."""

    def __init__(self, stream: TextIO, mask: Mask) -> None:
        self._stream = stream
        self._mask = mask

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the stream."""
        return self._stream.encoding or "utf-8"

    def isatty(self) -> bool:
        """Return whether the stream is a terminal."""
        return self._stream.isatty()

    def writable(self) -> bool:
        """Return True: it can be written to."""
        return True

    def fileno(self) -> int:
        """Return the descriptor of the stream."""
        return self._stream.fileno()

    def flush(self) -> None:
        """Send what was written."""
        self._stream.flush()

    def write(self, text: str, /) -> int:
        """Write the text without secrets."""
        self._stream.write(self._mask(text))
        return len(text)


@contextmanager
def mask_streams(world: World) -> Iterator[World]:
    """Yield a world with masked streams, and mask the log; both hide the world's secrets."""
    mask = world.secrets.mask
    stdout, stderr = (
        _mask_stream(stream, mask) for stream in (world.streams.stdout, world.streams.stderr)
    )
    with log.masked_by(mask):
        yield replace(world, streams=replace(world.streams, stdout=stdout, stderr=stderr))


def _mask_stream(stream: TextIO, mask: Mask) -> TextIO:
    """Return a masking stream; a terminal's also masks its picture."""
    if isinstance(stream, TerminalStream):
        stream.terminal.mask = mask
        return cast("TextIO", stream)
    return cast("TextIO", MaskedStream(stream, mask))


def learn(secrets: SecretValues, manifest: Manifest) -> None:
    """Learn the values of a manifest's Secrets, except those that it also uses as names."""
    for item in manifest.objects:
        secrets.spare([item.name, item.namespace or "", item.kind])
        for container in containers(item):
            secrets.spare(_names_of(container))
    for item in manifest.objects:
        if item.kind == "Secret":
            secrets.add_secret(item.body)


def _names_of(container: Mapping[str, Any]) -> Iterator[str]:
    """Yield the name of a container, and each part of the reference to its image."""
    yield str(container.get("name"))
    image = str(container.get("image"))
    yield image
    yield from image.replace(":", "/").replace("@", "/").split("/")
