"""One run's connection to a cluster: the client, its inbox of events, and what was said of it."""

from __future__ import annotations

from dataclasses import dataclass
from queue import SimpleQueue

from gate.clock import Clock
from gate.config import Settings
from gate.core.events import AttemptEvent
from gate.kube.client import Client, Limits
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

    def close(self) -> None:
        """Nothing is left open that outlives the process; connections close with it."""


def open_session(settings: Settings, clock: Clock) -> Session:
    """Connect as the settings say; raises the errors of `gate.kube.connection`."""
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
    client = Client(connection, clock, limits=limits, contact=contact)
    namespace = settings.namespace or connection.namespace
    return Session(clock, connection, client, Resources(client), inbox, namespace)
