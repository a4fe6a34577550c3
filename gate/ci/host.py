"""Which CI host runs this, and which run of which pipeline it is, according to the environment.

Sources: GitHub's default environment variables, GitLab's predefined CI/CD variables, Jenkins'
Pipeline environment, Azure Pipelines' predefined variables.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final
from urllib.parse import quote

from gate.core.frozen import dataclass
from gate.core.model.origin import Origin
from gate.wire.origin import clean_origin
from gate.wire.untrusted import clean_line

Environment = Mapping[str, str]


class Host(enum.StrEnum):
    """Where a pipeline runs; `PLAIN` is any other place, such as a person's shell."""

    GITHUB = "github"
    GITLAB = "gitlab"
    JENKINS = "jenkins"
    AZURE = "azure"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """The run that this process belongs to; each text is one clean line, "" if not known.

    `url` is its web page, `actor` who started it, `commit` the hash that it runs for.
    `run`, `attempt` and `job` together name one job of one run: two processes with the same three
    are steps of the same job.
    """

    host: Host = Host.PLAIN
    url: str = ""
    run: str = ""
    attempt: str = ""
    job: str = ""
    actor: str = ""
    commit: str = ""

    @property
    def origin(self) -> Origin:
        """The part that is remembered with the versions that it applied."""
        return Origin(self.url, self.actor, self.commit)


def detect(environ: Environment) -> Host:
    """Return the host; if several match, the first one in `MARKS`."""
    for host, (variable, value) in MARKS.items():
        if environ.get(variable, "") and value in ("", environ[variable].lower()):
            return host
    return Host.PLAIN


MARKS: Final[Mapping[Host, tuple[str, str]]] = {
    Host.GITHUB: ("GITHUB_ACTIONS", "true"),
    Host.GITLAB: ("GITLAB_CI", "true"),
    Host.AZURE: ("TF_BUILD", "true"),
    Host.JENKINS: ("JENKINS_URL", ""),
}
"""The variable that identifies each host, and its value; "" is any."""


def pipeline_run(environ: Environment) -> PipelineRun:
    """Return the run that this is, as far as the host's variables say."""
    host = detect(environ)
    describe = _RUNS.get(host)
    if describe is None:
        return PipelineRun(host)
    said = _Said(environ)
    found = describe(said)
    actor, commit = (said.first(*names) for names in _ORIGINS[host])
    origin = clean_origin(found.url, actor, commit)
    return replace(found, host=host, url=origin.run_url, actor=origin.actor, commit=origin.commit)


class _Said:
    """The environment, cleaned; what is not set is ""."""

    def __init__(self, environ: Environment) -> None:
        self._environ = environ

    def __getitem__(self, name: str) -> str:
        return clean_line(self._environ.get(name, ""))

    def first(self, *names: str) -> str:
        """Return the first variable that is set, or ""."""
        return next(filter(None, (self[name] for name in names)), "")

    def join_values(self, separator: str, *names: str) -> str:
        """Join the variables that are set."""
        return separator.join(filter(None, (self[name] for name in names)))


def _github(said: _Said) -> PipelineRun:
    """The jobs of a matrix share one name; the runner's name tells them apart."""
    run, attempt = said["GITHUB_RUN_ID"], said["GITHUB_RUN_ATTEMPT"]
    url = ""
    if said["GITHUB_SERVER_URL"] and said["GITHUB_REPOSITORY"] and run:
        url = f"{said['GITHUB_SERVER_URL']}/{said['GITHUB_REPOSITORY']}/actions/runs/{run}"
        url += f"/attempts/{attempt}" if attempt else ""
    job = said.join_values("@", "GITHUB_JOB", "RUNNER_NAME")
    name = said.join_values("/", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")
    return PipelineRun(url=url, run=name if run else "", attempt=attempt, job=job)


def _gitlab(said: _Said) -> PipelineRun:
    """A job that is run again has another id, so there is no attempt number."""
    run = (
        said.join_values("/", "CI_PROJECT_PATH", "CI_PIPELINE_ID") if said["CI_PIPELINE_ID"] else ""
    )
    url = said["CI_JOB_URL"] or said["CI_PIPELINE_URL"]
    return PipelineRun(url=url, run=run, job=said["CI_JOB_ID"])


def _jenkins(said: _Said) -> PipelineRun:
    """A build that is run again is another build; parallel stages cannot be told apart."""
    return PipelineRun(url=said["BUILD_URL"], run=said["BUILD_TAG"] or said["BUILD_URL"])


def _azure(said: _Said) -> PipelineRun:
    run, collection = said["BUILD_BUILDID"], said["SYSTEM_COLLECTIONURI"]
    project = quote(said["SYSTEM_TEAMPROJECT"], safe="")
    url = ""
    if run and collection and project:
        url = f"{collection.rstrip('/')}/{project}/_build/results?buildId={quote(run, safe='')}"
    name = said.join_values("/", "SYSTEM_TEAMPROJECT", "BUILD_BUILDID") if run else ""
    attempt = said.join_values(".", "SYSTEM_STAGEATTEMPT", "SYSTEM_JOBATTEMPT")
    return PipelineRun(url=url, run=name, attempt=attempt, job=said["SYSTEM_JOBID"])


_RUNS: Final[Mapping[Host, Callable[[_Said], PipelineRun]]] = {
    Host.GITHUB: _github,
    Host.GITLAB: _gitlab,
    Host.JENKINS: _jenkins,
    Host.AZURE: _azure,
}
_ORIGINS: Final[Mapping[Host, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    Host.GITHUB: (("GITHUB_TRIGGERING_ACTOR", "GITHUB_ACTOR"), ("GITHUB_SHA",)),
    Host.GITLAB: (("GITLAB_USER_LOGIN",), ("CI_COMMIT_SHA",)),
    Host.JENKINS: (("BUILD_USER_ID",), ("GIT_COMMIT",)),
    Host.AZURE: (("BUILD_REQUESTEDFOR",), ("BUILD_SOURCEVERSION",)),
}
"""Who started a run, and its commit. If a GitHub run is run again, the actor is still whoever
pushed, and the triggering actor is who ran it again. Jenkins names a user only with the plugin
build-user-vars, and a commit only if Git was checked out."""
