"""A skip may not hide a fault: only a cluster that somebody has given may lack anything."""

from __future__ import annotations

import pytest

from tests.bed.lacking import GIVEN, lacks


def test_on_a_cluster_of_our_own_what_lacks_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a broken bed would make the run green."""
    monkeypatch.delenv(GIVEN, raising=False)
    with pytest.raises(pytest.fail.Exception, match="of our own: no audit log"):
        lacks("no audit log")


def test_a_given_cluster_may_lack_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the reason beside the skip."""
    monkeypatch.setenv(GIVEN, "kubeconfig")
    with pytest.raises(pytest.skip.Exception, match="no audit log"):
        lacks("no audit log")
