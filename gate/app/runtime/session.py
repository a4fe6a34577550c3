"""One run's connections: to a cluster and to the sources of its checks, and its inbox of events."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from functools import partial
from queue import SimpleQueue
from typing import Any

from gate.app.runtime import check_sources
from gate.app.runtime.console import Console
from gate.app.runtime.world import Connect, World
from gate.clock import Clock
from gate.config import Settings
from gate.core.frozen import dataclass
from gate.engine import Inbox
from gate.kube.client.client import Client, OnAnswer, Query
from gate.kube.client.contact import Contact
from gate.kube.client.repetition import Limits
from gate.kube.connection.connection import Connection, Options
from gate.kube.paths.resources import Resources
from gate.kube.reads.lists import workload_names
from gate.sources.source import Sources
from gate.wire.secret_values import SecretValues


@dataclass(frozen=True, slots=True)
class Session:
    """What every command that talks to a cluster needs; making one sends nothing.

    `at_end` takes a callback to run before the connections are closed. `secrets` are kept out of
    every output.
    """

    clock: Clock
    connection: Connection
    client: Client
    resources: Resources
    sources: Sources
    inbox: Inbox
    namespace: str
    at_end: Callable[[Callable[[], None]], object]
    secrets: SecretValues = field(default_factory=SecretValues)


@contextmanager
def connect_session(
    settings: Settings,
    clock: Clock,
    connect: Connect,
    sources: Sources,
    on_answer: OnAnswer | None = None,
    plugin_named: Callable[[str], None] | None = None,
) -> Iterator[Session]:
    """Connect as the settings say, for the block; raises what `connect` raises.

    `on_answer` is called with each response of the server, for recordings; `plugin_named` with the
    name of the credential plugin, before it runs. The end does not wait for anything: requests
    under way in other threads end by themselves.
    """
    connection = connect(_options(settings, plugin_named), clock)
    if settings.namespace:
        connection = replace(connection, namespace=settings.namespace)
    inbox: Inbox = SimpleQueue()
    stopping = threading.Event()
    client = Client(
        connection,
        clock,
        # Also during a run: what could not be read in this time is unknown, and is read again.
        limits=Limits(retry_seconds=settings.connect_timeout),
        contact=Contact(clock, inbox.put),
        stopping=stopping,
        on_answer=on_answer,
    )
    with ExitStack() as stack:
        stack.callback(connection.close)
        stack.callback(stopping.set)
        resources = Resources(client)
        yield Session(
            clock,
            connection,
            client,
            resources,
            sources,
            inbox,
            connection.namespace,
            stack.callback,
        )


def open_session(
    world: World,
    settings: Settings,
    stack: ExitStack,
    console: Console,
    on_answer: OnAnswer | None = None,
) -> Session:
    """Connect to the world's cluster for as long as the stack is open."""

    def note_plugin(plugin: str) -> None:
        console.note("cluster", f"credentials come from the program {plugin}")

    sources = check_sources.open_sources(world.answering, settings, world.clock, stack)
    session = stack.enter_context(
        connect_learning_secrets(world, settings, sources, on_answer, note_plugin)
    )
    world.secrets.spare([session.namespace, session.connection.context])
    if world.metrics is not None:
        world.metrics.cluster.look = partial(workload_names, session.client)
    return session


@contextmanager
def connect_learning_secrets(
    world: World,
    settings: Settings,
    sources: Sources,
    on_answer: OnAnswer | None = None,
    plugin_named: Callable[[str], None] | None = None,
) -> Iterator[Session]:
    """Connect as `connect_session` does; learn credentials and Secrets that are read."""

    def connect(options: Options, clock: Clock) -> Connection:
        connection = world.connect(options, clock)
        connection.credentials.tell(world.secrets.add)
        return connection

    learning = partial(_on_answer, world.secrets, on_answer)
    with connect_session(
        settings, world.clock, connect, sources, learning, plugin_named
    ) as session:
        yield replace(session, secrets=world.secrets)


def _on_answer(
    secrets: SecretValues,
    on_answer: OnAnswer | None,
    method: str,
    path: str,
    query: Query,
    body: bytes,
) -> None:
    """Learn the values of Secrets that were read or written, then pass the response on."""
    if "/secrets" in path:
        for secret in _secrets_in(body):
            secrets.add_secret(secret)
    if on_answer is not None:
        on_answer(method, path, query, body)


def _secrets_in(body: bytes) -> Iterator[Mapping[str, Any]]:
    """Yield the objects of a response, one or a list; the caller reports an unreadable one."""
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return
    items = found.get("items") if isinstance(found, dict) else found
    for each in items if isinstance(items, list) else [found]:
        if isinstance(each, dict):
            yield each


def _options(settings: Settings, plugin_named: Callable[[str], None] | None) -> Options:
    return Options(
        kubeconfig=settings.kubeconfig or "",
        context=settings.context or "",
        allow_insecure=settings.allow_insecure,
        exec_plugins=tuple(settings.allow_exec_plugin) or None,
        plugin_named=plugin_named,
    )
