"""The flags with which `rollout-gate checks` asks what a run was asked to check."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.config import Settings
from gate.core.checks.spec import Check, Command, Http, Metric


def check_flags(settings: Settings) -> tuple[str, ...] | None:
    """Return the run's configuration files and the checks of its flags, as flags.

    None where they cannot be told: what stands behind the `?` of a URL may be a secret, and a query
    of several lines is no command to copy.
    """
    by_flag = (*settings.check, *settings.http_check, *settings.smoke_test)
    if any(not _is_tellable(check) for check in by_flag):
        return None
    return (*_surroundings(settings, by_flag), *(word for one in by_flag for word in _flag(one)))


def _surroundings(settings: Settings, by_flag: tuple[Check, ...]) -> Iterator[str]:
    for path in settings.config:
        yield from ("--config", path)
    probes = {type(check.probe) for check in by_flag}
    if Metric in probes and settings.prometheus_url:
        yield from ("--prometheus-url", settings.prometheus_url)
    if Command in probes:
        for name in settings.smoke_test_env:
            yield from ("--smoke-test-env", name)
    if probes & {Metric, Http} and settings.allow_link_local:
        yield "--allow-link-local"


def _is_tellable(check: Check) -> bool:
    match check.probe:
        case Http(question=question):
            return "?" not in question.url
        case Metric(query=query):
            return "\n" not in query.text
        case Command(arguments=arguments):
            return not any("\n" in word for word in arguments)


def _flag(check: Check) -> tuple[str, str]:
    match check.probe:
        case Http(question=question):
            return "--http-check", question.url
        case Metric(query=query, bounds=bounds):
            return "--check", f"{check.name}: {query.text} {bounds}"
        case Command(arguments=arguments):
            return "--smoke-test", shlex.join(arguments)
