"""The example of docs/comparisons.md for a second Deployment as canary, on a real engine."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.bed.expectations import assert_verified
from tests.bed.scene import web
from tests.e2e.checks.conftest import TrialOf
from tests.e2e.checks.trial import BRISK, assert_failed_by_a_check, row
from tests.engines.engine import Engine
from tests.engines.traffic import Load

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "comparisons.md").read_text(encoding="utf-8")
WINDOW = "6s"


def example() -> dict[str, Any]:
    """Return the check that the page shows, asked as often as a test can wait."""
    (text,) = re.findall(r"```yaml\n(checks:\n  - name: canary errors.*?)```", PAGE, re.DOTALL)
    (check,) = yaml.safe_load(text)["checks"]
    return {**check, **BRISK, "window": WINDOW}


@pytest.mark.contract("B1295")
@pytest.mark.parametrize("error_share", [0.2, 0.3])
def test_a_canary_is_judged_beside_the_deployment_that_serves(
    prometheus: Engine, trial_of: TrialOf, error_share: float
) -> None:
    """One request in five of `web` fails: a canary that is as bad passes, a worse one does not."""
    trial = trial_of(prometheus.url)
    namespace = trial.scene.objects.namespace
    for image, share in (("shop/web:1", 0.2), ("shop/web-canary:2", error_share)):
        load = Load(error_share=share, requests_per_second=100)
        trial.application.direct(namespace, image, load)
    trial.scene.serve(web())
    trial.scene.serve(web(name="web-canary"))
    trial.configure(example())
    with trial.scene.applying(web(2, name="web-canary")) as running:
        result = running.wait()
    if error_share == 0.2:
        assert_verified(result)
        assert row(result, "canary errors beside web")["last_value"] == pytest.approx(0, abs=0.02)
    else:
        assert_failed_by_a_check(result, r"canary errors beside web: 0\.\d+ is not <= 0\.02")
