"""What a run without metrics does not pay for."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
from gate.app.entry import apply
from gate.app.rehearsal.virtual_world import Played
from gate.config import load
from sandbox.face import Cluster
from tests.cluster import manifests
Path("web.yaml").write_text(manifests.yaml_text(manifests.deployment()))
words = {{"file": ["web.yaml"], **dict(word.split("=") for word in sys.argv[1:])}}
settings = load("apply", words, environ={{}})
played = Played.of(Cluster())
running = played.start(lambda world: apply(world, settings))
assert running.wait(600.0) == 0, running.stderr.getvalue()
played.clock.end()
print("prometheus_client" in sys.modules)
"""


@pytest.mark.long
@pytest.mark.contract("B619")
@pytest.mark.parametrize(("words", "loaded"), [([], False), (["metrics_textfile=a.prom"], True)])
def test_the_client_of_prometheus_is_loaded_where_it_is_asked_for(
    words: list[str], loaded: bool, tmp_path: Path
) -> None:
    """A whole run, in a sandbox, with and without metrics."""
    command = [sys.executable, "-c", PROGRAM, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == f"{loaded}\n", done.stderr
    assert (tmp_path / "a.prom").exists() == loaded
