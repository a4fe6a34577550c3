"""What to do about objects that do not stand as the run left them."""

from __future__ import annotations

import pytest

from gate.core.model.outcome import Outcome, Reason
from gate.report.schema.result import AtEnd, ObjectResult
from gate.report.words.object_advice import object_advice
from tests.unit.report.results import deployment_result, object_result, result_of

LEFT = (
    "configmap/settings: still what this run wrote; apply again if yours is to win, or apply the"
    " configuration that theirs goes with"
)
CHANGED = "configmap/flags: find out who did that; apply again if this run's is to stand"


def at_end(name: str, state: str) -> ObjectResult:
    """Return a ConfigMap that the run changed, as it stood at the end."""
    found: AtEnd = {"state": state, "managers": [], "fields": [], "finalizers": []}  # type: ignore[typeddict-item]
    return object_result(name=name, at_end=found)


@pytest.mark.contract("B911")
def test_who_changed_an_object_is_named_as_what_an_apply_takes_over() -> None:
    """An apply without that would be refused; the gate's own fields are in nobody's way."""
    result = result_of(deployment_result(Outcome.SUPERSEDED, Reason.SUPERSEDED, "other"))
    changed = at_end("flags", "changed")
    assert changed["at_end"] is not None
    changed["at_end"]["managers"] = ["kubectl-edit", "rollout-gate", "my tool"]
    result["objects"] = [changed]
    with_flags = f"{CHANGED}, with --take-over kubectl-edit --take-over 'my tool'"
    assert list(object_advice(result)) == [(with_flags, "")]


@pytest.mark.contract("B145", "B175")
@pytest.mark.parametrize(
    ("states", "advice"),
    [
        ({"settings": "as-written"}, [LEFT]),
        ({"flags": "changed"}, [CHANGED]),
        ({"settings": "as-written", "flags": "changed"}, [LEFT]),
    ],
)
def test_beside_somebody_elses_deployment_one_advice_says_whose_is_to_win(
    states: dict[str, str], advice: list[str]
) -> None:
    """To apply again decides of all the objects: it is not said twice, with different reasons."""
    result = result_of(deployment_result(Outcome.SUPERSEDED, Reason.SUPERSEDED, "other"))
    result["objects"] = [at_end(name, state) for name, state in states.items()]
    assert list(object_advice(result)) == [(text, "") for text in advice]
