"""A command that is advised leads to its cluster from any shell."""

from __future__ import annotations

import pytest

from gate.cluster_name import ClusterName


@pytest.mark.contract("B653")
def test_a_command_names_namespace_context_and_kubeconfig() -> None:
    """Quoted: names are somebody else's text."""
    there = ClusterName("prod eu", "/etc/k; x")
    command = there.command("rollout-gate", "status", "web", namespace="shop")
    assert command == (
        "rollout-gate status web -n shop --context 'prod eu' --kubeconfig '/etc/k; x'"
    )


def test_what_was_not_named_is_not_repeated() -> None:
    """In a Pod there is not even a context, and a node has no namespace."""
    assert ClusterName().command("kubectl", "get", "nodes") == "kubectl get nodes"
