"""Virtual time is the same each time: a run is repeated to the byte, whatever the machine does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.bed.scene import settings, web
from tests.cluster.audit import Trail
from tests.long import longer
from tests.played.bed import sandbox_bed, scene_through

pytestmark = pytest.mark.sandbox_only("real time is never the same twice")

ATTEMPT = re.compile(r'"attempt": "\w+"')


def played(folder: Path, behaviour: str, flags: tuple[str, ...]) -> tuple[str, list[object]]:
    """Return what a run in a sandbox of its own says, and everything that it asks the server."""
    with sandbox_bed(folder) as bed:
        scene = scene_through(bed)
        scene.serve(web(replicas=4))
        assert bed.audit is not None
        trail = Trail(bed.audit, bed.audit.mark())
        result = scene.apply(web(2, replicas=4, behaviour=behaviour), settings(), flags=flags)
        requests: list[object] = [
            # The attempt's own name, which is another each time, stands in its Lease.
            (each.at, each.uri, each.code, None if each.is_own else each.body)
            for each in trail.requests("")
        ]
    for manifest in folder.iterdir():
        manifest.unlink()
    return ATTEMPT.sub("", result.stdout + result.stderr), requests


@pytest.mark.contract("B312")
@pytest.mark.parametrize(
    ("behaviour", "flags"),
    [
        longer("ready=1.5", ()),
        ("crash=0.1", ()),
        longer("never-ready", ("--timeout", "1h", "--log-format", "json", "--log-level", "debug")),
        longer("image-pull;only=2", ("--tolerate", "2")),
    ],
)
def test_the_same_run_is_the_same_again(
    tmp_path: Path, behaviour: str, flags: tuple[str, ...]
) -> None:
    """Output and requests are equal: every name, every time, every order."""
    first = played(tmp_path, behaviour, flags)
    assert len(first[1]) > 10
    assert played(tmp_path, behaviour, flags) == first
