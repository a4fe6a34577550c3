"""A kubeconfig that leads nowhere: one clear line, exit 2 or 3, nothing written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from tests.bed.checked_gate import CheckedGate
from tests.bed.expectations import assert_refused, assert_usage
from tests.bed.scene import Scene, web
from tests.cluster.access import GATE


@pytest.mark.contract("B240")
def test_a_context_that_does_not_exist_is_refused(scene: Scene) -> None:
    """The contexts that there are, are named."""
    result = scene.apply(web(), flags=["--context", "production"])
    assert_usage(result, "production", "test")


@pytest.mark.fault(1)
@pytest.mark.contract("B243")
def test_a_server_that_cannot_be_reached_is_refused(
    scene: Scene, gate_with: Callable[[Path], CheckedGate], write_kubeconfig: Callable[..., Path]
) -> None:
    """A server that nobody runs is Unreachable, within the connect budget."""
    nobody = "https://127.0.0.1:9"
    gate = gate_with(write_kubeconfig(GATE, server=nobody))
    result = gate("apply", "-f", scene.manifest(web()), "--connect-timeout", "2s")
    assert_refused(result, "Unreachable", nobody)


@pytest.mark.contract("B242", "B256")
def test_a_token_that_expired_is_refused(
    scene: Scene, gate_with: Callable[[Path], CheckedGate], write_kubeconfig: Callable[..., Path]
) -> None:
    """A token that the server does not accept is Unauthorized."""
    kubeconfig = write_kubeconfig()
    kubeconfig.write_text(re.sub(r"token: \S+", "token: expired-long-ago", kubeconfig.read_text()))
    result = gate_with(kubeconfig)("apply", "-f", scene.manifest(web()))
    assert_refused(result, "Unauthorized")


@pytest.mark.contract("B242")
def test_without_credentials_nothing_is_asked(
    scene: Scene, gate_with: Callable[[Path], CheckedGate], write_kubeconfig: Callable[..., Path]
) -> None:
    """A user without credentials is refused, and never asks anonymously."""
    kubeconfig = write_kubeconfig()
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"] = [{"name": "test", "user": {}}]
    kubeconfig.write_text(yaml.safe_dump(document))
    result = gate_with(kubeconfig)("apply", "-f", scene.manifest(web()))
    assert_refused(result, "Unauthorized", "credentials")
