"""What to do next is something that works: `undo` is advised only where it would not be refused."""

from __future__ import annotations

import shlex

import pytest

from tests.bed.expectations import assert_refused, assert_runs, assert_verified
from tests.bed.scene import Scene, secret, settings, web
from tests.cluster.command import Result
from tests.scenarios.test_target_set import CRASH, DOCUMENT, KEEP

DOUBT = ("--smoke-test", "sh -c 'exit 75'")
KEPT = "--keep-verified-secrets"


def advised(scene: Scene, result: Result) -> tuple[str, list[str]]:
    """Return what a person reads of a result, and the words of the undo that it advises."""
    (scene.folder / "result.json").write_text(result.stdout)
    shown = scene.gate("report", "result.json").stdout
    lines = [shlex.split(line) for line in shown.splitlines() if line.startswith(" " * 14)]
    (words,) = [words for words in lines if words[:2] == ["rollout-gate", "undo"]]
    return shown, words[1:]


def verify_two(scene: Scene, *flags: str) -> str:
    """Verify two versions with their Secrets; return the manifest of the second."""
    assert_verified(scene.apply(secret("b25l"), web(), flags=flags))
    second = scene.manifest(secret("dHdv"), web(2))
    assert_verified(scene.gate("apply", "-f", second, *flags, *DOCUMENT))
    return str(second)


@pytest.mark.contract("B766")
@pytest.mark.parametrize(("flags", "code"), [(DOUBT, 7), (KEEP, 6)], ids=["doubt", "keep"])
def test_an_undo_that_would_be_refused_is_not_advised(
    scene: Scene, flags: tuple[str, ...], code: int
) -> None:
    """The Secret changed with the version, and what it was is not kept: both other ways work."""
    second = verify_two(scene)
    behaviour = CRASH if code == 6 else "ready=0"
    result = scene.apply(secret("dGhyZWU="), web(3, behaviour=behaviour), flags=flags)
    assert result.exit_code == code, str(result)
    shown, words = advised(scene, result)
    assert "apply its manifest: what secret/keys was then is not kept" in " ".join(shown.split())
    assert KEPT in shown
    assert "--deployment-only" in words
    plain = [word for word in words if word != "--deployment-only"]
    refused = scene.gate(*plain, *DOCUMENT)
    assert_refused(refused, "SetIncomplete", "secret/keys has changed since", "is not kept")
    assert "somebody else" not in refused.stderr
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:2")
    again = scene.gate("apply", "-f", second, *DOCUMENT)
    assert again.exit_code == 0, str(again)


@pytest.mark.contract("B766")
@pytest.mark.parametrize("flags", [(KEPT,), ()], ids=["kept", "not changed"])
def test_an_undo_that_works_is_advised(scene: Scene, flags: tuple[str, ...]) -> None:
    """The Secret is kept beside the lock, or did not change."""
    verify_two(scene, *flags)
    value = "dGhyZWU=" if flags else "dHdv"
    result = scene.apply(secret(value), web(3, behaviour=CRASH), flags=[*KEEP, *flags])
    _, words = advised(scene, result)
    assert "--deployment-only" not in words
    assert_verified(scene.gate(*words, *DOCUMENT))
    assert_runs(scene.objects, "shop/web:2")


@pytest.mark.contract("B766")
def test_verify_advises_no_undo_that_would_be_refused(scene: Scene) -> None:
    """It reads what stands by now."""
    verify_two(scene)
    kept = scene.apply(secret("dGhyZWU="), web(3, behaviour=CRASH), flags=KEEP)
    assert kept.exit_code == 6, str(kept)
    _, words = advised(scene, scene.gate("verify", "web", *DOCUMENT))
    assert "--deployment-only" in words
    assert_verified(scene.gate(*words, *DOCUMENT))


@pytest.mark.contract("B766", "B703")
def test_a_refusal_blames_somebody_else_for_their_change_alone(scene: Scene) -> None:
    """The Secret is our own apply's, the ConfigMap is not."""
    assert_verified(scene.apply(settings("one"), secret("b25l"), web()))
    assert_verified(scene.apply(settings("two"), secret("dHdv"), web(2)))
    scene.apply_as("kubectl", settings("hot"))
    result = scene.gate("undo", "web", *DOCUMENT)
    assert_refused(result, "SetIncomplete")
    (line,) = [one for one in result.stderr.splitlines() if one.startswith("error: ")]
    assert "secret/keys has changed since, and what it was then is not kept" in line
    assert "configmap/settings was changed since by somebody else" in line
