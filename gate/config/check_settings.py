"""The options of health checks: what is asked, whom, and what an unclear answer means."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Final

from gate.config.checks.options import (
    INTERVAL_SECONDS,
    ChecksByCommand,
    ChecksByQuery,
    ChecksByUrl,
    ChecksOfFile,
)
from gate.config.cluster_settings import ClusterSettings
from gate.config.kinds import (
    ExposureParts,
    HeaderFiles,
    HttpServices,
    Interval,
    PerSecond,
    PrometheusServer,
    PrometheusUrl,
    RateOfBad,
    Text,
    Texts,
)
from gate.config.option import NOT_IN_FILES, ONLY_IN_FILES, Group, Option
from gate.config.takers import ASKING, CHECKED, CHECKS, COUNTING, GATING, MEASURING, REHEARSE
from gate.core.checks.spec import OnInconclusive
from gate.sources.access import Access


def _of_prometheus(key: str, help_: str, metavar: str = "") -> Option:
    """Declare a part of the mapping `prometheus` as a flag."""
    key = f"prometheus: {key}"
    return Option(Group.CHECKS, MEASURING, help_, metavar, places=NOT_IN_FILES, file_key=key)


CHECK_OPTIONS: Final = frozenset({"checks", "check", "http_check", "smoke_test"})
"""The options that each bring health checks."""


class CheckSettings(ClusterSettings):
    """Abstract: the part of the settings that is about health checks."""

    check_interval: Annotated[
        Interval,
        Option(
            Group.CHECKS,
            ASKING,
            "how often a check measures, unless it sets its own interval",
            default="10s",
        ),
    ] = INTERVAL_SECONDS
    checks: Annotated[
        ChecksOfFile,
        Option(
            Group.CHECKS,
            ASKING,
            "the health checks",
            places=ONLY_IN_FILES,
        ),
    ] = ()
    check: Annotated[
        ChecksByQuery,
        Option(
            Group.CHECKS, ASKING, "a Prometheus query and its bound, as in 'errors: QUERY <= 0.5'"
        ),
    ] = ()
    http_check: Annotated[
        ChecksByUrl, Option(Group.CHECKS, ASKING, "request this URL; a 2xx status passes")
    ] = ()
    smoke_test: Annotated[
        ChecksByCommand,
        Option(Group.CHECKS, ASKING, "run this after completion; exit code 0 passes"),
    ] = ()
    smoke_test_env: Annotated[
        Texts,
        Option(
            Group.CHECKS,
            MEASURING,
            "pass this environment variable to the commands of checks",
            "NAME",
        ),
    ] = ()
    on_inconclusive: Annotated[
        OnInconclusive,
        Option(Group.CHECKS, CHECKED, "what to do when the checks cannot decide"),
    ] = OnInconclusive.KEEP
    strict_checks: Annotated[
        bool,
        Option(
            Group.CHECKS,
            GATING | REHEARSE,
            "refuse if a check gets no answer or no data of the running version, or an HTTP check"
            " fails on it",
        ),
    ] = False
    prometheus: Annotated[
        PrometheusServer,
        Option(
            Group.CHECKS,
            MEASURING,
            "the server, and how to reach it",
            places=ONLY_IN_FILES,
        ),
    ] = None
    services: Annotated[
        HttpServices,
        Option(
            Group.CHECKS,
            MEASURING,
            "how to reach the services of HTTP checks",
            places=ONLY_IN_FILES,
        ),
    ] = ()
    prometheus_url: Annotated[
        PrometheusUrl,
        _of_prometheus("url", "the server that answers queries", "URL"),
    ] = None
    prometheus_token_file: Annotated[
        Text,
        _of_prometheus("token-file", "a file with a bearer token", "FILE"),
    ] = None
    prometheus_header: Annotated[
        HeaderFiles,
        _of_prometheus(
            "headers", "a request header, such as a tenant, and the file with its value"
        ),
    ] = ()
    prometheus_ca_file: Annotated[
        Text,
        _of_prometheus("ca-file", "certificates to trust", "FILE"),
    ] = None
    prometheus_cert_file: Annotated[
        Text,
        _of_prometheus("cert-file", "a client certificate", "FILE"),
    ] = None
    prometheus_key_file: Annotated[
        Text,
        _of_prometheus("key-file", "the key of the client certificate", "FILE"),
    ] = None
    allow_link_local: Annotated[
        bool, Option(Group.CHECKS, MEASURING, "allow requests to link-local and metadata addresses")
    ] = False
    explain: Annotated[
        bool,
        Option(
            Group.CHECKS, CHECKS, "show how each number led to its verdict", places=NOT_IN_FILES
        ),
    ] = False
    show: Annotated[
        Text,
        Option(
            Group.CHECKS,
            CHECKS,
            "print a ready-made check as configuration",
            "NAME",
            places=NOT_IN_FILES,
        ),
    ] = None
    metrics: Annotated[
        Text,
        Option(
            Group.CHECKS,
            CHECKS,
            "with --show: for this kind of metrics",
            "KIND",
            places=NOT_IN_FILES,
        ),
    ] = None

    power: Annotated[
        bool,
        Option(
            Group.CHECKS,
            CHECKS,
            "say what the comparisons by counts could show, before a deploy",
            places=NOT_IN_FILES,
        ),
    ] = False
    traffic: Annotated[
        PerSecond,
        Option(
            Group.CHECKS,
            COUNTING,
            "to foresee (--power) or rehearse: events a second of both versions together",
            default="the last hour's; 200 in rehearse",
            places=NOT_IN_FILES,
        ),
    ] = None
    rate: Annotated[
        RateOfBad,
        Option(
            Group.CHECKS,
            COUNTING,
            "to foresee (--power) or rehearse: the old version's share of bad events",
            default="the last hour's; 1% in rehearse",
            places=NOT_IN_FILES,
        ),
    ] = None
    exposure: Annotated[
        ExposureParts,
        Option(
            Group.CHECKS,
            CHECKS,
            "with --power: the parts of the traffic that the new and the old version get",
            default="by the workload's partition",
            places=NOT_IN_FILES,
        ),
    ] = None

    def access(self, environ: Mapping[str, str] | None = None) -> Access:
        """Return the access to Prometheus; `environ` may hold secrets, None means the process's."""
        from gate.config.access import Flags, prometheus_access

        flags = Flags(
            self.prometheus_token_file,
            self.prometheus_header,
            self.prometheus_ca_file,
            self.prometheus_cert_file,
            self.prometheus_key_file,
        )
        surroundings = os.environ if environ is None else environ
        return self._with_allowances(prometheus_access(self.prometheus, flags, surroundings))

    def http_access(self, url: str, environ: Mapping[str, str] | None = None) -> Access:
        """Return the access to the service of a URL; `environ` as for `access`."""
        from gate.config.access import access_of, service_of

        surroundings = os.environ if environ is None else environ
        return self._with_allowances(access_of(service_of(url, self.services), surroundings))

    def _with_allowances(self, access: Access) -> Access:
        return replace(
            access,
            allow_plain_http=self.allow_insecure,
            allow_link_local=self.allow_link_local,
        )
