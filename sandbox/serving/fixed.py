"""The paths that are no resources: health, version, discovery, OpenAPI."""

from __future__ import annotations

from sandbox.failure import not_served
from sandbox.json import JSON
from sandbox.schema.types import server_version
from sandbox.serving import discovery
from sandbox.serving.discovery import openapi_answer
from sandbox.serving.rendering import answer, wants_aggregated_discovery
from sandbox.serving.request import Answer, Request, text_answer
from sandbox.serving.routing import no_such_method

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
