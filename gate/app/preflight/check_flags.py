"""The flags that make `rollout-gate checks` ask the same checks as a run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from gate.config import Settings
from gate.config.limits import all_checks
from gate.core.checks.spec import Check, Command, Counts, Http, Metric
from gate.sources.access import Access, Secret, SecretFile, SecretVariable


def check_flags(settings: Settings) -> tuple[str, ...] | None:
    """Return the run's configuration files and the checks of its flags, as flags.

    None if they cannot be printed: what follows the `?` of a URL may be a secret, and a query of
    several lines is no command to copy.
    """
    by_flag = (*settings.check, *settings.http_check, *settings.smoke_test)
    if any(not _is_tellable(check) for check in by_flag):
        return None
    return (*_surroundings(settings, by_flag), *(word for one in by_flag for word in _flag(one)))


def secret_variables(settings: Settings) -> tuple[str, ...]:
    """Return the names of environment variables with the checks' credentials; never the values."""
    checks = all_checks(settings)
    urls = [check.probe.question.url for check in checks if isinstance(check.probe, Http)]
    accesses = [settings.http_access(url) for url in urls]
    if settings.prometheus_url and any(check.queries for check in checks):
        accesses.append(settings.access())
    named = (secret for access in accesses for secret in _secrets(access))
    return tuple(dict.fromkeys(one.name for one in named if isinstance(one, SecretVariable)))


def _secrets(access: Access) -> Iterator[Secret]:
    if access.token is not None:
        yield access.token
    yield from access.user or ()
    for _, secret in access.headers:
        yield secret


def _surroundings(settings: Settings, by_flag: tuple[Check, ...]) -> Iterator[str]:
    for path in settings.config:
        yield from ("--config", path)
    checks = all_checks(settings)
    probes = {type(check.probe) for check in checks}
    asks_prometheus = any(check.queries for check in checks)
    if asks_prometheus and settings.prometheus_url:
        yield from ("--prometheus-url", settings.prometheus_url)
        yield from _credentials(settings)
    if Command in {type(check.probe) for check in by_flag}:
        for name in settings.smoke_test_env:
            yield from ("--smoke-test-env", name)
    if (asks_prometheus or Http in probes) and settings.allow_link_local:
        yield "--allow-link-local"


def _credentials(settings: Settings) -> Iterator[str]:
    """Yield the flags for Prometheus credentials: the names of files, never their contents."""
    named = (
        ("--prometheus-token-file", settings.prometheus_token_file),
        ("--prometheus-ca-file", settings.prometheus_ca_file),
        ("--prometheus-cert-file", settings.prometheus_cert_file),
        ("--prometheus-key-file", settings.prometheus_key_file),
    )
    for flag, path in named:
        if path:
            yield from (flag, path)
    for header, secret in settings.prometheus_header:
        if isinstance(secret, SecretFile):
            yield from ("--prometheus-header", f"{header}={secret.path}")


def _is_tellable(check: Check) -> bool:
    match check.probe:
        case Http(question=question):
            return "?" not in question.url
        case Metric(query=query):
            return "\n" not in query.text
        case Counts():
            return False
        case Command(arguments=arguments):
            return not any("\n" in word for word in arguments)


def _flag(check: Check) -> tuple[str, str]:
    match check.probe:
        case Http(question=question):
            return "--http-check", question.url
        case Metric(query=query, bounds=bounds):
            return "--check", f"{check.name}: {query.text} {bounds}"
        case Counts():
            raise TypeError(f"no flag makes {check.name}, a comparison by counts")
        case Command(arguments=arguments):
            return "--smoke-test", shlex.join(arguments)
