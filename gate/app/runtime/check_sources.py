"""The sources that answer a run's checks, one for each kind of question, and the lanes' worker.

Only the sources that a check needs are made: a run without checks does not load `requests` here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gate.clock import Clock
from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.checks import questions
from gate.core.checks.questions import CommandQuestion, HttpQuestion, MetricQuestion, Question
from gate.core.checks.spec import Check, Command, Http
from gate.core.checks.tick_grid import Tick
from gate.core.protocol.effects import Ask
from gate.core.protocol.events import Answered, Errored
from gate.sources.access import Access
from gate.sources.source import Source, Sources
from gate.wire.secret_values import SecretValues

if TYPE_CHECKING:
    from gate.sources.http import HttpCheck  # `requests`: a tenth of a second

Measured = Callable[[str, Tick, questions.Answers | questions.Errored], None]
"""Called with the answer to a tick of a check, in the thread of its lane."""


def sources(settings: Settings, clock: Clock, secrets: SecretValues | None = None) -> Sources:
    """Return the sources for the checks in the settings; nothing is sent.

    Credentials, and the values of variables passed to commands, are added to `secrets`.
    UsageError for a server, a URL or credentials that cannot be used.
    """
    secrets = secrets or SecretValues()
    checks = all_checks(settings)
    probes = {type(check.probe) for check in checks}
    made: dict[type[Question], Source[Any]] = {}
    if any(check.queries for check in checks) and settings.prometheus_url:
        from gate.sources.prometheus import Prometheus

        access = replace(settings.access(), learned=secrets.add)
        made[MetricQuestion] = Prometheus(settings.prometheus_url, access, clock)
    if Http in probes:
        made[HttpQuestion] = Services(_services(settings, checks, clock, secrets))
    if Command in probes:
        from gate.sources.command import Command as Commands

        for name in settings.smoke_test_env:
            secrets.add_value(os.environ.get(name, ""))
        made[CommandQuestion] = Commands(
            os.environ, clock, passed=settings.smoke_test_env, mask=secrets.mask
        )
    return Sources(made)


def open_sources(
    make: Callable[[Settings, Clock], Sources], settings: Settings, clock: Clock, stack: ExitStack
) -> Sources:
    """Return what `make` makes; the end of the stack cancels what is under way."""
    made = make(settings, clock)
    stack.callback(made.cancel)
    return made


def performer(
    made: Sources, clock: Clock, measured: Measured | None = None
) -> Callable[[Ask], Answered | Errored]:
    """Return what performs an `Ask`: it asks, calls `measured`, and stamps the answer's time."""

    def perform(ask: Ask) -> Answered | Errored:
        said = made.ask(ask.questions, ask.check)
        if measured is not None:
            measured(ask.check, ask.tick, said)
        if isinstance(said, questions.Errored):
            return Errored(clock.now(), ask.effect_id, said)
        return Answered(clock.now(), ask.effect_id, said)

    return perform


class Services:
    """The services that HTTP checks ask, each with its own access; answers `HttpQuestion`."""

    def __init__(self, by_url: Mapping[str, HttpCheck]) -> None:
        self._by_url = dict(by_url)

    def ask(self, question: HttpQuestion) -> questions.Answered | questions.Errored:
        """Send the question to the service of its URL; KeyError for one that no check names."""
        return self._by_url[question.url].ask(question)

    def reach(self, question: HttpQuestion) -> str:
        """Return why the service of a URL cannot be connected to, or ""."""
        return self._by_url[question.url].reach(question)

    def cancel(self) -> None:
        """End what is under way."""
        for service in self._by_url.values():
            service.cancel()


def _services(
    settings: Settings, checks: Iterable[Check], clock: Clock, secrets: SecretValues
) -> dict[str, HttpCheck]:
    from gate.sources.http import HttpCheck

    def access(url: str) -> Access:
        return replace(settings.http_access(url), learned=secrets.add)

    urls = [check.probe.question.url for check in checks if isinstance(check.probe, Http)]
    return {url: HttpCheck(url, access(url), clock) for url in dict.fromkeys(urls)}
