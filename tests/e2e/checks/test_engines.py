"""The bed of the checks: what the application tells of its pods is what the engines know."""

from __future__ import annotations

import pytest

from tests.bed.scene import Scene, web
from tests.engines.application import Application
from tests.engines.engine import Engine
from tests.engines.traffic import METRIC, Load


def test_the_engines_see_what_a_test_asks_of_the_pods(
    scene: Scene, application: Application, engine: Engine
) -> None:
    """Rate, share of errors and latency of a version's pods are those that the test set."""
    namespace = scene.objects.namespace
    application.direct(namespace, "shop/web:1", Load(0.2, 0.3, 500.0))
    scene.serve(web())
    of_pods = f'{{namespace="{namespace}"}}[4s]'
    every = f"sum(rate({METRIC}_count{of_pods}))"
    failed = every.replace("}[", ',http_response_status_code=~"5.."}[')
    engine.wait_for(f"{every} > 900")
    assert engine.wait_for(every) == pytest.approx(1000, rel=0.2)
    assert engine.wait_for(f"{failed} / {every}") == pytest.approx(0.2, rel=0.1)
    slow = f"histogram_quantile(0.99, sum by (le) (rate({METRIC}_bucket{of_pods})))"
    assert 0.25 < engine.wait_for(slow) <= 0.5


def test_an_engine_that_was_stopped_still_knows_what_it_scraped(
    scene: Scene, application: Application, engine: Engine
) -> None:
    """Stopped and started again, an engine answers at the same address, with its data."""
    namespace = scene.objects.namespace
    application.direct(namespace, "shop/web:1", Load())
    scene.serve(web())
    count = f'{METRIC}_count{{namespace="{namespace}"}}'
    engine.wait_for(count)
    engine.process.stop()
    scene.objects.delete("deployments", "web")
    scene.objects.wait("pods", lambda pods: not pods)
    engine.restart()
    assert engine.wait_for(f"count(count_over_time({count}[1m]))") == 2
