"""The trees of the document: what belonged to a Deployment when it was judged, and at the end."""

from __future__ import annotations

from gate.report.schema.result import DeploymentResult
from tests.unit.report.results import told


def web(name: str) -> DeploymentResult:
    """Return the Deployment web of an ending."""
    return next(d for d in told(name)["deployments"] if d["name"] == "web")


def test_after_a_way_back_there_are_two() -> None:
    """The failed pods are in the first, which is of the moment of the verdict."""
    verdict, end = web("rolled-back")["trees"]
    assert [verdict["moment"], end["moment"]] == ["verdict", "end"]
    new, old = verdict["replicasets"]
    assert (new["name"], new["role"], new["ready"]) == ("web-2", "new", 0)
    assert all("CrashLoopBackOff" in line for line in new["pods"])
    assert (old["name"], old["role"], old["ready"]) == ("web-1", "old", 3)
    assert [(one["name"], one["ready"]) for one in end["replicasets"]] == [
        ("web-2", 0),
        ("web-1", 4),
    ]


def test_without_a_way_back_there_is_one() -> None:
    """The new version alone, where the old one has no pods any more."""
    (tree,) = web("verified")["trees"]
    assert [one["role"] for one in tree["replicasets"]] == ["new"]
    assert tree["replicasets"][0]["pods"] == ["4 pods ready"]
