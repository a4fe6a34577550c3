"""What holds for every run of the gate, whatever its test is about.

S1: `verified` is true of the cluster at the end. S2: a rollback is written only over what the gate
itself had written. S3: there is at most one for each object. S5: no secret is in any output.
S6: only what the manifest names is written. S7: nothing is written after what a verdict asks for.
L1: it ends within the budgets that it was given and 10 s.

And each write says which uid and version it is meant for, takes nothing by force unasked, and goes
by the gate's own field manager. What the document says of an object at the end is true of it.
"""

from __future__ import annotations

import base64
import functools
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from jsonschema import Draft202012Validator

from gate.duration import parse_seconds
from tests.bed.history import KEPT, History, version_of
from tests.bed.replaced_pods import replacement_faults, replaces_pod
from tests.cluster.audit import Request, Requests
from tests.cluster.command import Result
from tests.cluster.kubelet.api import JSON
from tests.cluster.objects import Objects
from tests.cluster.rollouts import DONE, unfinished

CANARY = "sesame-8d1f2c7a90"
"""What every secret that a test plants has in it; base64 of it is told apart, too."""

RESULT_SCHEMA = Path(__file__).parents[2] / "docs" / "result.schema.json"
ANY_NAME = "*"
"""Stands at the end of a name that the gate chooses (`generateName`)."""

_DOCUMENT = "rollout-gate/result/v1"

RESTART_MANAGER = "rollout-gate-restart"
FIELD_MANAGERS = ("rollout-gate", RESTART_MANAGER)
WRITING_COMMANDS = frozenset({"apply", "undo", "pause", "resume", "restart", "recover"})
_JUDGING_COMMANDS = frozenset({"apply", "verify", "undo", "resume", "restart", "recover"})
BUDGETS = ("--timeout", "--bake", "--rollback-timeout", "--connect-timeout", "--lock-wait")
GRACE_SECONDS, CONNECT_SECONDS = 10.0, 15.0
_UNTOUCHED = frozenset({2, 3})
_FORWARD_ONLY = frozenset({"verified", "inconclusive", "failed"})
_BESIDE_ALL_PODS = ("--require", "--tolerate", "--observe", "--dry-run")


@dataclass(frozen=True, slots=True)
class Key:
    """An object as the API's paths name it."""

    resource: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Run:
    """One run of the gate that has ended: what it was given, what it said, what it asked for.

    `manifest` are the objects that it was given, with their namespace filled in; `requests` is
    None where the cluster's audit log cannot be read; `written` are the files that it wrote.
    """

    arguments: tuple[str, ...]
    manifest: tuple[JSON, ...]
    namespace: str
    result: Result
    document: JSON | None
    requests: Requests | None
    written: tuple[Path, ...]
    secrets: tuple[str, ...]

    @property
    def command(self) -> str:
        """The subcommand."""
        return next((word for word in self.arguments if not word.startswith("-")), "")

    @property
    def targets(self) -> set[Key]:
        """What the command names: the manifest's objects, or a Deployment by its name.

        `undo` restores what its Deployment was verified with, which its document names; so does
        the way back of `resume` and `restart`.
        """
        named = {key_of(item, self.namespace) for item in self.manifest}
        if self.document and self.command == "recover":
            return {_key_told(item) for item in self.document["objects"]}
        restores = self.command in ("undo", "resume", "restart")
        if self.document and restores and self.document["objects"]:
            return {_key_told(item) for item in self.document["objects"]}
        if self.manifest or self.command not in WRITING_COMMANDS:
            return named
        words = [word for word in self.arguments if not word.startswith("-")][1:2]
        return {_key_called(word, self.namespace) for word in words}

    @property
    def changes(self) -> list[Request]:
        """Its successful writes of objects, in their order; what it keeps for itself aside."""
        writes = self.requests.writes() if self.requests else ()
        return [each for each in writes if each.succeeded and not each.is_own]

    @property
    def attempt(self) -> list[Request]:
        """Its successful writes in the attempt that it is about.

        One that was left unfinished is finished first: that ends where its record is struck out.
        """
        sent = self.requests.writes() if self.requests else ()
        writes = [each for each in sent if each.succeeded]
        ends = [number for number, each in enumerate(writes) if _strikes_out(each)]
        rest = (writes[number + 1 :] for number in reversed(ends))
        later = ([each for each in those if not each.is_own] for those in rest)
        return next(filter(None, later), self.changes)


def _strikes_out(request: Request) -> bool:
    metadata = request.body.get("metadata", {}) if isinstance(request.body, dict) else {}
    return metadata.get("annotations", {}).get("rollout-gate/attempt", "") is None


_CLUSTER_SCOPED = ("CustomResourceDefinition",)
"""Kinds of the tests without a namespace."""


def key_of(item: JSON, namespace: str) -> Key:
    """Return where an object of a manifest is found."""
    kind = str(item["kind"]).lower()
    plural = (
        f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}{'es' if kind[-1] == 's' else 's'}"
    )
    metadata = item["metadata"]
    name = metadata.get("name") or f"{metadata['generateName']}{ANY_NAME}"
    place = "" if item["kind"] in _CLUSTER_SCOPED else metadata.get("namespace") or namespace
    return Key(plural, place, name)


def _key_called(word: str, namespace: str) -> Key:
    """Return where the workload of a command line is found, as `statefulset/db` or `web`."""
    kind, _, name = word.rpartition("/")
    return key_of({"kind": kind or "Deployment", "metadata": {"name": name}}, namespace)


def _key_told(item: JSON) -> Key:
    """Return where an object of a result document is found."""
    named = {"name": item["name"], "namespace": item["namespace"]}
    return key_of({"kind": item["kind"], "metadata": named}, item["namespace"])


def hold(run: Run, objects: Objects, history: History) -> None:
    """Raise `AssertionError` with everything that is wrong with the run."""
    wrong = [*_said(run), *_verified(run, objects), *_in_time(run), *_at_end(run, objects)]
    if run.requests is not None:
        wrong += [*_allowed(run), *_guarded(run), *_way_back(run, history)]
    assert not wrong, "\n".join([*wrong, str(run.result)])


def _said(run: Run) -> Iterator[str]:
    """S5, and a document that is of the published schema and tells the exit code."""
    outputs = {"stdout": run.result.stdout, "stderr": run.result.stderr}
    outputs |= {path.name: path.read_text(errors="replace") for path in run.written}
    for secret in (CANARY, *run.secrets):
        for form in (secret, base64.b64encode(secret.encode()).decode()):
            yield from (
                f"S5: a secret is in {name}" for name, text in outputs.items() if form in text
            )
    if "Traceback (most recent call last)" in run.result.stderr:
        yield "a traceback is no message"
    if run.document and run.document.get("schema") == _DOCUMENT:
        yield from (f"the document: {each.message}" for each in _schema().iter_errors(run.document))
        if run.document["exit_code"] != run.result.exit_code:
            yield "the document's exit code is not the process's"


@functools.cache
def _schema() -> Draft202012Validator:
    return Draft202012Validator(json.loads(RESULT_SCHEMA.read_text()))


def _verified(run: Run, objects: Objects) -> Iterator[str]:
    """S1: exit 0 of a command that judges means that everything runs, now."""
    unasked = any(word.startswith(_BESIDE_ALL_PODS) for word in run.arguments)
    if run.result.exit_code or run.command not in _JUDGING_COMMANDS or unasked:
        return
    for key in run.targets:
        if key.resource in DONE and not key.name.endswith(ANY_NAME):
            yield from _complete(objects, key)


def _complete(objects: Objects, key: Key) -> Iterator[str]:
    live = objects.find(key.resource, key.name)
    if live is None:
        if key.resource != "jobs":  # which may be gone by its time to live
            yield f"S1: {key.name} is not there"
        return
    if missing := unfinished(objects, key.resource, live):
        yield f"S1: {key.name} is not complete: {missing}"


def _at_end(run: Run, objects: Objects) -> Iterator[str]:
    """Hold what the document says of each object of the namespace to what there is."""
    for item in run.document.get("objects", []) if run.document else []:
        at_end, key = item.get("at_end"), _key_told(item)
        if at_end is None or at_end["state"] == "unread" or key.namespace != objects.namespace:
            continue
        live, state = objects.find(key.resource, key.name), at_end["state"]
        if live is None and (state == "being-deleted" or _is_namespace_going(objects)):
            continue  # it has come to its end since
        if (live is None) != (state == "deleted"):
            there = "is not" if live is None else "is"
            yield f"it says of {key.name} {state}, and it {there} there"
        elif live is not None and ("deletionTimestamp" in live["metadata"]) != (
            state == "being-deleted"
        ):
            yield f"it says of {key.name} {state}: {live['metadata']}"


def _is_namespace_going(objects: Objects) -> bool:
    """Tell whether the namespace is deleted, by which each object in it goes at any time."""
    namespace = objects.find("namespaces", objects.namespace)
    return namespace is None or "deletionTimestamp" in namespace["metadata"]


def _in_time(run: Run) -> Iterator[str]:
    """L1, where the budgets are flags: checks ask for a bake window of their own."""
    given = dict(itertools.pairwise(run.arguments))
    has_checks = bool(run.document and run.document.get("checks"))
    if has_checks or not {"--timeout", "--rollback-timeout"} <= given.keys():
        return
    most = GRACE_SECONDS + CONNECT_SECONDS
    most += sum(parse_seconds(given[flag]) for flag in BUDGETS if flag in given)
    if run.result.duration_seconds > most:
        yield f"L1: it took {run.result.duration_seconds:.1f} s of {most:.0f} s"


def _allowed(run: Run) -> Iterator[str]:
    """S6, and no write at all of what only looks or refuses."""
    assert run.requests is not None
    may = run.command in WRITING_COMMANDS and "--dry-run" not in run.arguments
    for request in run.requests.writes():
        if _is_own_refused(request):
            continue
        if not request.is_own and not (may and _is_named(request, run.targets)):
            yield f"S6: it wrote {_told(request)}"
    if run.result.exit_code in _UNTOUCHED:
        yield from (f"exit {run.result.exit_code} after {_told(each)}" for each in run.changes)


def _is_named(request: Request, targets: set[Key]) -> bool:
    """Whether a write is about an object that the command names, or a pod that it replaces."""
    key = Key(request.resource, request.namespace, request.name)
    if key in targets or any(_fits(key, target) for target in targets):
        return True
    workload, _, last = request.name.rpartition("-")
    stateful_set = Key("statefulsets", request.namespace, workload)
    is_ordinal = last.isdecimal() and stateful_set in targets
    is_of_a_node = Key("daemonsets", request.namespace, workload) in targets
    return replaces_pod(request) and (is_ordinal or is_of_a_node)


def _fits(key: Key, target: Key) -> bool:
    """Whether a name is one that the gate was to choose."""
    prefix = target.name.removesuffix(ANY_NAME)
    same_place = (key.resource, key.namespace) == (target.resource, target.namespace)
    return same_place and prefix != target.name and key.name.startswith(prefix)


def _is_own_refused(request: Request) -> bool:
    """Whether the gate was not allowed to create what it keeps for itself.

    The audit log has no name of a creation that the authorizer refuses.
    """
    kept = request.resource in ("leases", "secrets")
    return kept and request.code == HTTPStatus.FORBIDDEN and not request.name


def _guarded(run: Run) -> Iterator[str]:
    for request in run.changes:
        if replaces_pod(request):
            yield from (f"{fault}: {_told(request)}" for fault in replacement_faults(request))
            continue
        if request.code == 200 and not _has_precondition(request):
            yield f"no uid or resource version guards {_told(request)}"
        manager = request.uri.partition("fieldManager=")[2].partition("&")[0]
        if request.verb == "patch" and manager not in FIELD_MANAGERS:
            yield f"field manager {manager!r} of {_told(request)}"
        imposes = ("--replicas", "apply") in itertools.pairwise(run.arguments)
        may_force = manager == RESTART_MANAGER or "--force-conflicts" in run.arguments or imposes
        if "force=true" in request.uri and not may_force:
            yield f"unasked force of {_told(request)}"


def _has_precondition(request: Request) -> bool:
    if isinstance(request.body, list):
        paths = {operation["path"] for operation in request.body}
        return {"/metadata/uid", "/metadata/resourceVersion"} <= paths
    body = request.body or {}
    guard = body.get("preconditions" if request.verb == "delete" else "metadata", {})
    return bool(guard.get("uid") and guard.get("resourceVersion"))


def _way_back(run: Run, history: History) -> Iterator[str]:
    """S2, S3 and S7, object by object."""
    for key in run.targets:
        sent = [each for each in _bodies(run) if _is_about(each, key)]
        back = sent[1:]
        if len(back) > 1:
            yield f"S3: {len(back)} ways back of {key.name}: {', '.join(map(_told, back))}"
        outcome = _outcome(run, key)
        if back and outcome in _FORWARD_ONLY:
            yield f"S7: {key.name} is {outcome}, and yet: {_told(back[0])}"
        if key.resource in KEPT and sent:
            yield from _over_strangers(key, sent, history)


def _bodies(run: Run) -> Iterator[Request]:
    """Iterate the writes that say how an object should be: applies, and applies of what was.

    What is sent again after a lost answer, and changes nothing, is left out.
    """
    for request in run.attempt:
        is_whole = request.resource not in KEPT or request.sends_template
        is_said = isinstance(request.body, dict) and request.verb != "delete" and is_whole
        is_said = is_said and not request.subresource
        if is_said and not _did_nothing(request):
            yield request


def _did_nothing(request: Request) -> bool:
    """Whether the version that a write was meant for is the one that it left."""
    if not isinstance(request.body, dict) or request.answer is None:
        return False
    meant_for = request.body["metadata"].get("resourceVersion")
    return bool(meant_for == request.answer["metadata"]["resourceVersion"])


def _is_about(request: Request, key: Key) -> bool:
    return (request.resource, request.namespace, request.name) == (
        key.resource,
        key.namespace,
        key.name,
    )


def _outcome(run: Run, key: Key) -> str:
    """Return a workload's own outcome, or "" where the document does not tell."""
    document = run.document or {}
    ended = document.get("workloads") or document.get("deployments") or []
    return next((str(each["outcome"]) for each in ended if _key_ended(each) == key), "")


def _key_ended(entry: JSON) -> Key:
    metadata = {"name": entry["name"], "namespace": entry["namespace"]}
    kind = entry.get("kind", "Deployment")
    return key_of({"kind": kind, "metadata": metadata}, entry["namespace"])


def _over_strangers(key: Key, sent: list[Request], history: History) -> Iterator[str]:
    """S2: find what stood before each later write; it has to hold all that we sent before."""
    first, *later = sent
    for request in later:
        assert isinstance(first.body, dict)
        assert request.answer is not None
        written = version_of(request.answer)
        versions = history.versions(key.namespace, key.name, written, key.resource)
        before = [each for each in versions if version_of(each) < written][-1:]
        if before and not _still_ours(first, before[0]):
            yield f"S2: {_told(request)} went over somebody else's change"


def _still_ours(first: Request, live: JSON) -> bool:
    assert isinstance(first.body, dict)
    assert first.answer is not None
    same = first.answer["metadata"]["uid"] == live["metadata"]["uid"]
    return same and holds(first.body["spec"]["template"], live["spec"]["template"])


def holds(sent: object, live: object) -> bool:
    """Whether all that was sent stands in `live`; lists of named things are matched by name."""
    if isinstance(sent, dict) and isinstance(live, dict):
        return all(key in live and holds(value, live[key]) for key, value in sent.items())
    if isinstance(sent, list) and isinstance(live, list):
        if all(isinstance(each, dict) and "name" in each for each in (*sent, *live)):
            by_name = {each["name"]: each for each in live}
            return all(
                each["name"] in by_name and holds(each, by_name[each["name"]]) for each in sent
            )
        return len(sent) <= len(live) and all(map(holds, sent, live))
    return sent == live


def _told(request: Request) -> str:
    return f"{request.verb} {request.resource}/{request.name} ({request.code}, {request.uri})"
