"""Real engines, the application that they scrape, and a Deployment whose traffic a test directs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Protocol

import pytest

from tests.bed.scene import Scene
from tests.cluster.cluster import Cluster
from tests.e2e.checks.trial import Trial
from tests.engines.application import Application
from tests.engines.engine import Engine
from tests.engines.front import Answer, Front
from tests.engines.programs import Kind

TrialOf = Callable[[str], Trial]
EngineOf = Callable[[Kind], Engine]


class FrontBefore(Protocol):
    """Makes fronts before an engine's URL, with answers of their own."""

    def __call__(self, engine: str = "", answer: Answer = lambda _: None) -> Front:
        """Without an engine, every query needs an answer."""


@pytest.fixture(scope="session")
def application(cluster: Cluster) -> Iterator[Application]:
    """Return the application whose pods are the cluster's."""
    application = Application(cluster.api)
    with application.running():
        yield application


@pytest.fixture(scope="session")
def engines(
    application: Application, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[EngineOf]:
    """Return what gives an engine that scrapes, whatever the tests before did to it."""
    started: dict[Kind, Engine] = {}
    with ExitStack() as stack:

        def scraping(kind: Kind) -> Engine:
            if kind not in started:
                made = Engine(kind, application.target, tmp_path_factory.mktemp(str(kind)))
                started[kind] = stack.enter_context(made)
            if started[kind].process.pid is None:
                started[kind].restart()
            return started[kind]

        yield scraping


@pytest.fixture
def prometheus(engines: EngineOf) -> Engine:
    """Return Prometheus, scraping the application."""
    return engines(Kind.PROMETHEUS)


@pytest.fixture(params=[*Kind], ids=str)
def engine(request: pytest.FixtureRequest, engines: EngineOf) -> Engine:
    """Return each engine in turn, scraping the application."""
    return engines(request.param)


@pytest.fixture
def trial_of(scene: Scene, application: Application) -> TrialOf:
    """Return a maker of trials whose Prometheus is where the test says."""
    return lambda url: Trial(scene, application, url)


@pytest.fixture
def trial(trial_of: TrialOf, engine: Engine) -> Trial:
    """Return a Deployment on trial, with each engine in turn."""
    return trial_of(engine.url)


@pytest.fixture
def front() -> Iterator[FrontBefore]:
    """Return a maker of fronts, which serve to the end of the test."""
    with ExitStack() as stack:

        def make(engine: str = "", answer: Answer = lambda _: None) -> Front:
            made = Front(engine, answer)
            stack.enter_context(made.running())
            return made

        yield make
