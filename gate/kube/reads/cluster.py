"""Facts about the cluster itself, one request each; what may not be read is Unknown."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from gate.core.model.fact import Absent, Fact, Known, Unknown
from gate.kube.answers.failures import Forbidden, NotFound
from gate.kube.client.client import Client
from gate.kube.paths.resources import NAMESPACES
from gate.wire.untrusted import clean_line

Value = TypeVar("Value")


class Cluster:
    """Asks the cluster about itself. Raises ApiError if the server is unreachable."""

    def __init__(self, client: Client) -> None:
        """Share the client's connections."""
        self._client = client

    def version(self) -> str:
        """Return the server's version, as in `v1.36.3`."""
        fact = self._read("/version", lambda body: clean_line(str(body["gitVersion"])))
        if isinstance(fact, Known):
            return fact.value
        raise NotFound("the server does not say its version: is it a Kubernetes API server?")

    def uid(self) -> Fact[str]:
        """Return what identifies the cluster: the uid of the namespace kube-system."""
        return self._read(NAMESPACES.path(name="kube-system"), _uid)

    def terminating(self, namespace: str) -> Fact[bool]:
        """Tell whether a namespace is being deleted; Absent if it does not exist."""
        return self._read(NAMESPACES.path(name=namespace), _terminating)

    def created_at(self, namespace: str) -> Fact[str]:
        """Return when a namespace was created (RFC 3339); Absent if it does not exist."""
        return self._read(NAMESPACES.path(name=namespace), _created_at)

    def _read(self, path: str, pick: Callable[[Any], Value]) -> Fact[Value]:
        try:
            return Known(pick(json.loads(self._client.get(path))))
        except NotFound:
            return Absent()
        except Forbidden as error:
            return Unknown(error.message)
        except (ValueError, KeyError, TypeError):
            return Unknown(f"the answer to {path} cannot be read")


def _uid(namespace: Any) -> str:
    return clean_line(str(namespace["metadata"]["uid"]))


def _created_at(namespace: Any) -> str:
    return clean_line(str(namespace["metadata"]["creationTimestamp"]))


def _terminating(namespace: Any) -> bool:
    return bool(namespace["metadata"].get("deletionTimestamp"))
