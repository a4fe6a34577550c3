"""The door of the sandbox: one HTTP request in, one answer out, without sockets.

In the order of the API server: size, who asks, whether they may, where the path leads, the verb.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sandbox.access.authorizer import Authorizer, Identity, Target, Tokens, user
from sandbox.access.authorizer import answer as review
from sandbox.api.api import Api
from sandbox.failure import ApiError, not_served
from sandbox.json import JSON
from sandbox.kinds import BY_KEY, Resource
from sandbox.schema import server_version
from sandbox.serving import discovery
from sandbox.serving.discovery import is_group, openapi_answer
from sandbox.serving.options import check_size, check_write, decoded_object, is_dry_run
from sandbox.serving.rendering import answer, refusal, wants_aggregated_discovery
from sandbox.serving.request import Answer, Request, text_answer
from sandbox.serving.routing import no_such_method, resolve_kind, target_of
from sandbox.serving.verbs import VERBS, Call, ReadLog

WRITES = ("create", "update", "patch", "delete", "deletecollection")


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One request and its outcome; `at` is the sandbox's time in seconds.

    `request_body` and `answer_body` are raw; those of a watch or of a followed log stay empty.
    """

    at: float
    user: str
    user_agent: str
    uri: str
    target: Target
    status: int
    dry_run: bool
    content_type: str
    request_body: bytes
    answer_body: bytes

    @property
    def is_write(self) -> bool:
        """Whether it asked for a change that is kept, whatever came of it."""
        return self.target.verb in WRITES and not self.dry_run


Heard = Callable[[AuditEntry], None]


def unheard(_entry: AuditEntry) -> None:
    """Keep no audit."""


USER = "impersonate-user"
GROUPS = "impersonate-group"


def identify_caller(request: Request, tokens: Tokens, authorizer: Authorizer) -> Identity:
    """Return who asks; 401 for an unknown token, 403 where one may not speak for another."""
    who = tokens.identify(request.headers)
    name = request.headers.get(USER, "")
    if not name:
        return who
    groups = [group.strip() for group in request.headers.get(GROUPS, "").split(",")]
    groups = [group for group in groups if group]
    for resource, spoken_for in (("users", name), *(("groups", group) for group in groups)):
        asked = Target("impersonate", "", resource=resource, name=spoken_for)
        authorizer.check(who, asked)
    return user(name, *groups)


def answer_review(
    authorizer: Authorizer, identity: Identity, request: Request, resource: Resource, now: str
) -> Answer:
    """Answer a review; `now` is the time on the wall."""
    check_write(request)
    body = decoded_object(request, resource.api_version, resource.kind)
    found = review(authorizer, resource.kind, body, identity, now)
    return answer(201, found)


_STANDING = {"cache-control": "no-cache, private"}


class Door:
    """The API over HTTP; `heard` is told of every request after it is answered."""

    def __init__(self, api: Api, tokens: Tokens, read_log: ReadLog, heard: Heard = unheard) -> None:
        self._api = api
        self._tokens = tokens
        self._authorizer = Authorizer(api.store)
        self._read_log = read_log
        self.heard = heard

    def handle(self, request: Request) -> Answer:
        """Answer a request; what is refused is a Status, never an exception."""
        target = target_of(request)
        warnings: list[str] = []
        user = ""
        try:
            identity = identify_caller(request, self._tokens, self._authorizer)
            user = identity.user
            answer = self._answer(request, target, identity, warnings)
        except ApiError as error:
            answer = refusal(error)
        answer = Answer(answer.status, answer.body, _headers(answer, warnings))
        self.heard(self._entry(request, target, user, answer))
        return answer

    def _answer(
        self, request: Request, target: Target, identity: Identity, warnings: list[str]
    ) -> Answer:
        self._authorizer.check(identity, target)
        if not target.resource:
            return fixed_answer(request)
        if not is_group(target.group):
            return not_found_page()
        resource = resolve_kind(target, request.method)
        check_size(request)
        if resource.key not in BY_KEY:
            now = self._api.timers.wall()
            return answer_review(self._authorizer, identity, request, resource, now)
        call = Call(
            api=self._api,
            read_log=self._read_log,
            request=request,
            target=target,
            resource=resource,
            user=identity.user,
            warn=warnings.append,
        )
        return VERBS[target.verb](call)

    def _entry(self, request: Request, target: Target, user: str, answer: Answer) -> AuditEntry:
        return AuditEntry(
            at=self._api.timers.now(),
            user=user,
            user_agent=request.headers.get("user-agent", ""),
            uri=request.uri,
            target=target,
            status=answer.status,
            dry_run=is_dry_run(request),
            content_type=request.headers.get("content-type", ""),
            request_body=request.body,
            answer_body=answer.body if isinstance(answer.body, bytes) else b"",
        )


def _headers(answer: Answer, warnings: list[str]) -> dict[str, str]:
    headers = {**_STANDING, **answer.headers}
    if warnings:
        headers["warning"] = ", ".join(
            f"299 - {_quote_warning(text)}" for text in dict.fromkeys(warnings)
        )
    return headers


def _quote_warning(text: str) -> str:
    line = " ".join(text.split())
    escaped = line.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


HEALTH = ("/healthz", "/livez", "/readyz")
BUILD = "rollout-sandbox"


def fixed_answer(request: Request) -> Answer:
    """Answer a path that names no resource; what is unknown gets the server's plain 404."""
    path = request.path.rstrip("/") or "/"
    if request.method not in ("GET", "HEAD"):
        raise no_such_method()
    if path in HEALTH:
        return text_answer(200, "ok")
    match path.strip("/").split("/"):
        case ["version"]:
            return answer(200, version())
        case ["api" | "apis", *_] as parts:
            return _answer_discovery(request, parts)
        case ["openapi", "v3", *_]:
            return openapi_answer(request)
        case _:
            return not_found_page()


def not_found_page() -> Answer:
    """Return what the server says of a path that nothing is registered for."""
    return text_answer(404, "404 page not found\n")


def version() -> JSON:
    """Return the answer of `/version`: the server that is played, marked as played."""
    played = server_version()
    major, minor = played.removeprefix("v").split(".")[:2]
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"{played}+{BUILD}",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "",
    }


def _answer_discovery(request: Request, parts: list[str]) -> Answer:
    match parts:
        case [root] if wants_aggregated_discovery(request.headers.get("accept", "")):
            return _answer_aggregated(root)
        case [_, group, _] if not discovery.is_group(group):
            return not_found_page()
        case [_, _, _, _, *_]:
            return not_found_page()
        case _:
            raise not_served("discovery in parts: ask for the aggregated document")


def _answer_aggregated(root: str) -> Answer:
    document = discovery.aggregate_groups([""] if root == "api" else discovery.GROUPS)
    return answer(200, document, {"content-type": discovery.AGGREGATED_TYPE, "vary": "Accept"})
