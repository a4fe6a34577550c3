"""One run's connection to a cluster: the client, its inbox of events, and what was said of it."""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue

from gate.clock import Clock
from gate.config import Settings
from gate.core.events import AttemptEvent
from gate.kube.client import Client, Heard, Limits
from gate.kube.connection import Connection, Options, connect
from gate.kube.contact import Contact
from gate.kube.resources import Resources


@dataclass(frozen=True, slots=True)
class Session:
    """What every command that talks to a cluster needs; nothing was sent when it is made."""

    clock: Clock
    connection: Connection
    client: Client
    resources: Resources
    inbox: SimpleQueue[AttemptEvent]
    namespace: str


def open_session(settings: Settings, clock: Clock, heard: Heard | None = None) -> Session:
    """Connect as the settings say; raises the errors of `gate.kube.connection`.

    `heard` is told of each answer of the server, for recordings.
    """
    plugins = tuple(settings.allow_exec_plugin) or None
    options = Options(
        kubeconfig=settings.kubeconfig or "",
        context=settings.context or "",
        allow_insecure=settings.allow_insecure,
        exec_plugins=plugins,
    )
    connection = connect(options, clock=clock)
    inbox: SimpleQueue[AttemptEvent] = SimpleQueue()
    contact = Contact(clock, inbox.put)
    limits = Limits(retry_seconds=settings.connect_timeout)
    client = Client(connection, clock, limits=limits, contact=contact, heard=heard)
    namespace = settings.namespace or connection.namespace
    return Session(clock, connection, client, Resources(client), inbox, namespace)
