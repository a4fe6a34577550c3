"""Prometheus fails after the preflight: what it says is evidence, what it does not say is none."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
import yaml

from tests.bed.expectations import assert_ended, assert_runs
from tests.bed.scene import Scene, web
from tests.cluster.command import Result
from tests.engines.front import Asked, Front, Reply

CHECK = {"name": "errors", "query": "sum(errors)", "max": 0.5, "interval": "1s"}
PIECE = b" " * (1 << 16)
ENDLESS_PIECES = (1 << 30) // len(PIECE)


def vector(*values: str) -> Reply:
    """Return the answer of an instant query with these values."""
    series = [{"metric": {}, "value": [1, value]} for value in values]
    data = {"resultType": "vector", "result": series}
    return Reply(200, [json.dumps({"status": "success", "data": data}).encode()])


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer for every query but the preflight's; None hangs."""

    reply: Reply | None
    asked_before: int = 1

    @contextmanager
    def front(self) -> Iterator[Front]:
        """Serve: a good value first, then this."""
        numbers = itertools.count()

        def answer(_: Asked) -> Reply | None:
            return vector("0") if next(numbers) < self.asked_before else self.reply

        front = Front(answer=answer)
        if self.reply is None:
            front.hold("", after=self.asked_before)
        with front.running():
            yield front


SAYS_NOTHING = {
    "empty": Turn(vector()),
    "NaN": Turn(vector("NaN")),
    "422": Turn(Reply(422, [b'{"status":"error","errorType":"execution","error":"too much"}'])),
    "503": Turn(Reply(503, [b"<html>Service Unavailable</html>"], {"Content-Type": "text/html"})),
    "redirect": Turn(Reply(302, [], {"Location": "http://127.0.0.1:9/login"})),
    "html": Turn(Reply(200, [b"<html>Sign in</html>"], {"Content-Type": "text/html"})),
    "1 GiB": Turn(Reply(200, [b'{"data":', *itertools.repeat(PIECE, ENDLESS_PIECES)])),
    "hang": Turn(None),
}
SAYS_BAD = {"Inf": Turn(vector("+Inf")), "1e308": Turn(vector("1e308"))}


def judged(scene: Scene, turn: Turn) -> Result:
    """Apply a version whose pods are fine, under a check that is asked of this Prometheus."""
    scene.serve(web())
    with turn.front() as front:
        document = {"prometheus": {"url": front.url}, "checks": [CHECK], "bake": "4s"}
        (scene.folder / "rollout-gate.yaml").write_text(yaml.safe_dump(document))
        return scene.apply(web(2))


@pytest.mark.fault(41)
@pytest.mark.contract("B484")
@pytest.mark.parametrize("turn", SAYS_NOTHING.values(), ids=SAYS_NOTHING.keys())
def test_what_says_nothing_decides_nothing(scene: Scene, turn: Turn) -> None:
    """Neither verified nor rolled back: 7, and the new version stays."""
    result = judged(scene, turn)
    found = (result.exit_code, result.document["outcome"])
    assert found == (7, "inconclusive"), str(result)
    assert result.document["rollback"] is None
    assert_runs(scene.objects, "shop/web:2", revision=2)


@pytest.mark.fault(41)
@pytest.mark.contract("B480")
@pytest.mark.parametrize("turn", SAYS_BAD.values(), ids=SAYS_BAD.keys())
def test_a_number_beyond_the_bound_goes_back(scene: Scene, turn: Turn) -> None:
    """However large, and infinite too."""
    result = judged(scene, turn)
    assert_ended(result, 4, "rolled-back", "CheckFailed", running="baseline")
    assert_runs(scene.objects, "shop/web:1", revision=3)
