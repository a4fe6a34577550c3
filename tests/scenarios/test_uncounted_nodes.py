"""DaemonSets whose nodes nobody had counted before the write: whether any of them was lost."""

from __future__ import annotations

import pytest

from gate.report.formats.text import verdict_text
from gate.report.style.style import Style
from tests.bed.expectations import assert_ended, assert_verified
from tests.cluster.kubelet.api import JSON
from tests.scenarios.agents import LONG_SECONDS, Agents, said
from tests.scenarios.killing import recover
from tests.scenarios.versions import one_line

ELSEWHERE = "elsewhere"
LINGERS = "slow-termination=20s"


@pytest.mark.contract("B1683")
def test_a_new_daemon_set_that_loses_all_its_nodes_is_not_verified(agents: Agents) -> None:
    """Its controller has counted three after the write: that none is left shows nothing."""
    with agents.scene.applying(agents.version(1, behaviour="never-ready")) as running:
        running.wait_for_line("progress +daemonset/agent: 0 of 3 nodes")
        agents.nodes.move(ELSEWHERE)
        result = running.wait(LONG_SECONDS)
    assert_ended(result, 7, "inconclusive", "NoNode", running="none")
    assert said(result) == "no node is to run a pod any more; 3 were to"
    text = one_line(verdict_text(result.document, Style(width=200)))
    assert "daemonset/agent has no node any more on which it could be judged" in text, text


@pytest.mark.contract("B1683")
def test_a_recovery_counts_no_pods_that_were_going_before_the_attempt(agents: Agents) -> None:
    """No node was to run it any more when that began; its last pods took long to end."""
    agents.serve(behaviour=LINGERS)
    agents.nodes.move(ELSEWHERE)
    agents.scene.objects.wait_for("daemonsets", "agent", _has_no_node, LONG_SECONDS)
    assert agents.images()
    with agents.scene.applying(agents.version(2)) as running:
        running.wait_for_line("applied +daemonset/agent")
        running.kill()
    agents.scene.objects.wait("pods", lambda pods: not pods)
    result = recover(agents.scene, "daemonset/agent")
    assert_verified(result, "Vacuous", running="none")
    assert said(result) == "no node is to run a pod, and none does"


def _has_no_node(body: JSON) -> bool:
    return bool(body["status"]["desiredNumberScheduled"] == 0)
