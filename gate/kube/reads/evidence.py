"""Evidence: the last lines that a container wrote, now and before its last restart."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial

from gate.clock import Clock
from gate.core.model.objects import CleanText
from gate.core.protocol.effects import Collect
from gate.core.protocol.events import Collected, Evidence
from gate.kube.answers.failures import ApiError
from gate.kube.client.client import Client, Query
from gate.kube.kinds.pod import PODS
from gate.wire.untrusted import clean

BOUND_SECONDS = 2.0
_LINES = 20
_CHARACTERS = 4096
_READ_BYTES = 1 << 16
"""More is asked for than is kept: `limitBytes` cuts the end of the tail, and that tells most."""
_CUT = "…"
"""The end of a text that was cut."""


class Collector:
    """Collects logs, within a bound whatever the server does."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        bound_seconds: float = BOUND_SECONDS,
        mask: Callable[[str], str] = str,
    ) -> None:
        """Share the client's connections.

        `mask` takes secrets out of a log before it is cut: the end of a secret alone would not be
        found.
        """
        self._client = client
        self._clock = clock
        self._mask = mask
        self._bound_seconds = bound_seconds

    def perform(self, effect: Collect) -> Collected:
        """Read the tails in parallel, return the previous run's first; what is late is left out."""
        wanted = (True, False) if effect.previous else (False,)
        found: dict[bool, Evidence] = {}
        finished: list[bool] = []
        complete = threading.Event()

        def read(previous: bool) -> None:  # noqa: FBT001 - one of two readers
            try:
                self._read(effect, found, previous=previous)
            finally:
                finished.append(previous)
                if len(finished) == len(wanted):
                    complete.set()

        for previous in wanted:
            self._clock.start(partial(read, previous), f"log of {effect.pod}")
        self._clock.wait(self._bound_seconds, complete)
        evidence = tuple(found[previous] for previous in wanted if previous in found)
        return Collected(self._clock.now(), effect.effect_id, evidence)

    def _read(self, effect: Collect, found: dict[bool, Evidence], *, previous: bool) -> None:
        path = PODS.path(effect.ref.namespace, effect.pod, "log")
        query: Query = (("tailLines", str(_LINES)), ("limitBytes", str(_READ_BYTES)))
        if effect.container:
            query += (("container", effect.container),)
        if previous:
            query += (("previous", "true"),)
        try:
            log = self._client.get(path, query, seconds=self._bound_seconds, once=True)
        except ApiError:
            return
        text = self._clean_log(log)
        if text:
            found[previous] = Evidence("log", effect.pod, effect.container, text, "", previous)

    def _clean_log(self, log: bytes) -> CleanText:
        """Return the end of a log, clean.

        It is masked before and after cleaning, which may remove characters from the middle of a
        secret.
        """
        written = log.decode("utf-8", "replace")
        if len(log) >= _READ_BYTES:
            written += _CUT  # the server cut it, perhaps in a secret, whose beginning is masked too
        text = self._mask(clean(self._mask(written), len(written))).strip()
        return clean(text[-_CHARACTERS:])
