"""Credentials that the server does not take any more, and plugins that give no others."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.bed.bed import Bed
from tests.bed.control_plane import ClusterUsers
from tests.bed.expectations import assert_ended, images
from tests.bed.scene import Scene, web
from tests.e2e.faults.conftest import Play
from tests.e2e.faults.ends import BUDGETS, Version, judged
from tests.faults import answers, streams
from tests.faults.proxy import Proxy
from tests.faults.request import ANYTHING, APPLIES, WATCHES
from tests.faults.script import Rule

SHORT = ("--timeout", "6s", "--rollback-timeout", "3s")
API_VERSION = "client.authentication.k8s.io/v1"
GIVES = "cat credential"
FAILS, HANGS = "echo no session >&2; exit 1", "exec sleep 60"

Plugged = Callable[[str], Path]


@pytest.fixture
def plugged(kubeconfig: Path) -> Plugged:
    """Return a maker of kubeconfigs whose plugin gives a token once, and then does as it is told.

    Each call is a line of the file `calls`.
    """
    folder = kubeconfig.parent
    text = kubeconfig.read_text()
    (token,) = re.findall(r"token: (\S+)", text)
    credential = {"kind": "ExecCredential", "apiVersion": API_VERSION, "status": {"token": token}}
    (folder / "credential").write_text(json.dumps(credential))
    (folder / "calls").touch()

    def make(then: str) -> Path:
        plugin, path = folder / "plugin", folder / "plugged"
        plugin.write_text(
            f"#!/bin/sh\ncd {folder}\necho call >>calls\n"
            f"[ $(wc -l <calls) = 1 ] && exec {GIVES}\n{then}\n"
        )
        plugin.chmod(0o700)
        how = {"apiVersion": API_VERSION, "command": str(plugin), "interactiveMode": "Never"}
        document = yaml.safe_load(text)
        document["users"] = [{"name": "test", "user": {"exec": how}}]
        path.touch(mode=0o600)
        path.write_text(yaml.safe_dump(document))
        return path

    return make


@pytest.mark.fault(36)
@pytest.mark.contract("B160", "B513")
@judged
def test_a_token_that_ran_out_is_fetched_again(
    scene: Scene,
    bed: Bed,
    users: ClusterUsers,
    play: Play,
    plugged: Plugged,
    version: Version,
) -> None:
    """One 401 after the apply: the plugin is asked once more, and the run goes on."""
    scene.serve(web())
    play(
        Rule(WATCHES, streams.CutAfter(seconds=1.0), count=4),
        Rule(ANYTHING, answers.UNAUTHORIZED, after=APPLIES, count=1),
    )
    gate = users.gate(bed, plugged(GIVES))
    path = scene.manifest(version.manifest)
    result = gate("apply", "-f", path, *BUDGETS, "--output", "json")
    version.assert_judged(scene, result)
    assert len((scene.folder / "calls").read_text().splitlines()) == 2


@pytest.mark.fault(36)
@pytest.mark.contract("B513")
@pytest.mark.parametrize("then", [GIVES, FAILS, HANGS], ids=["refused", "fails", "hangs"])
def test_without_fresh_credentials_contact_is_lost(
    scene: Scene,
    bed: Bed,
    users: ClusterUsers,
    play: Play,
    plugged: Plugged,
    then: str,
) -> None:
    """401 for good: 9, whatever the plugin does, and no rollback is claimed."""
    scene.serve(web())
    play(
        Rule(WATCHES, streams.CutAfter(seconds=1.0), count=4),
        Rule(ANYTHING, answers.UNAUTHORIZED, after=APPLIES),
    )
    gate = users.gate(bed, plugged(then))
    path = scene.manifest(web(2, behaviour="crash=0.1"))
    result = gate("apply", "-f", path, *SHORT, "--output", "json")
    document = result.document
    assert (result.exit_code, document["outcome"]) == (9, "lost-contact"), str(result)
    assert document["rollback"] is None, str(result)
    assert images(scene.objects.get("deployments", "web")) == ["shop/web:2"]


@pytest.mark.fault(36)
@pytest.mark.contract("B513")
def test_a_token_that_stays_refused_ends_with_the_budget(
    scene: Scene, play: Play, proxy: Proxy
) -> None:
    """A static token that is refused in mid-flight is tried again, with pauses that grow."""
    scene.serve(web())
    play(
        Rule(WATCHES, streams.CutAfter(seconds=1.0), count=4),
        Rule(ANYTHING, answers.UNAUTHORIZED, after=APPLIES),
    )
    result = scene.apply(web(2, behaviour="crash=0.1"), flags=SHORT)
    assert_ended(result, 9, "lost-contact", "Unauthorized", running="unknown")
    assert len(proxy.log.like(ANYTHING, "Says")) <= 60
