"""Where a run's metrics go: an endpoint while it lasts, a file and a Pushgateway at its end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from gate.app.runtime.console import Console
from gate.app.runtime.world import World
from gate.config import Settings
from gate.config.metrics_settings import gateway_access
from gate.core.attempt.state import Attempt
from gate.core.model.outcome import Reason
from gate.errors import GateError
from gate.metrics.families import PLACE, Sample
from gate.metrics.gateway_url import GatewayUrl
from gate.metrics.pushgateway import PUSH_SECONDS, Groups, Pushed
from gate.metrics.run import Place, RunMetrics
from gate.metrics.samples import samples_of
from gate.metrics.stale import Existing
from gate.report.kinds.registry import DEFAULT
from gate.wire.files import put

AFTER_SIGNAL_SECONDS: Final = 5.0
"""How long a run may go on after a signal (the contract, "Failing: clocks and limits")."""
NOTE: Final = "metrics"
TEXTFILE_SUFFIX: Final = ".prom"
"""The textfile collector reads only files with this suffix (node_exporter, `textfile.go`)."""


class Delivery:
    """Where the metrics of one run go."""

    def __init__(self, world: World, settings: Settings, console: Console, run: RunMetrics) -> None:
        self._clock = world.clock
        self._environ = world.environ
        self._secrets = world.secrets
        self._settings = settings
        self._console = console
        self._run = run
        self._existing: Existing | None = None

    def listen(self, stack: ExitStack) -> None:
        """Start to serve the metrics, if that is asked for."""
        address = self._settings.metrics_listen
        if address is None:
            return
        from gate.metrics.endpoint import listening

        try:
            url = stack.enter_context(listening(address.host, address.port, self._read))
        except OSError as error:
            where = f"{address.host}:{address.port}"
            self._console.warn(f"nothing listens on {where} for metrics: {error.strerror or error}")
            return
        self._console.note(NOTE, url)

    def _read(self) -> Iterator[Sample]:
        """Return the current samples; a manifest's workloads are known before its attempt."""
        self._run.concerns(self._console.run().places)
        return self._samples()

    def _samples(self) -> Iterator[Sample]:
        """Yield the current samples, masked."""
        return self._mask_samples(samples_of(self._run))

    def _mask_samples(self, samples: Iterable[Sample]) -> Iterator[Sample]:
        """Yield samples with the secrets in their labels masked."""
        for sample in samples:
            labels = tuple(self._secrets.mask(label) for label in sample.labels)
            yield replace(sample, labels=labels)

    def on_step(self, attempt: Attempt) -> None:
        """Take a step; at the first one, start a thread that lists the cluster's workloads."""
        first = self._run.latest is None
        if first and not self._run.ended:
            self._run.cluster.uid = self._console.run().cluster.uid
        self._run.on_step(attempt)
        if first and self._settings.pushgateway is not None and self._existing is None:
            self._clock.start(self._look, "metrics")

    def deliver(self) -> None:
        """Write the file, then push."""
        self._run.cluster.uid = self._console.run().cluster.uid
        if self._settings.metrics_textfile is not None:
            self._write(Path(self._settings.metrics_textfile))
        if self._settings.pushgateway is not None:
            self._push(self._settings.pushgateway)

    def _look(self) -> None:
        look, at = self._run.cluster.look, self._clock.wall().timestamp()
        if look is None:
            return
        found = {}
        places = self._run.places
        for namespace, kind in {(one.namespace, one.kind or DEFAULT.name) for one in places}:
            try:
                names = look(namespace, kind)
            except GateError:  # then nobody knows what exists, and no group counts as stale
                return
            if names is not None:
                found[namespace, kind] = names
        self._existing = Existing(self._run.cluster.uid, at, found)

    def _write(self, path: Path) -> None:
        from gate.metrics.exposition import text_of

        if path.suffix != TEXTFILE_SUFFIX:
            self._console.warn(f"metrics: {path}: the node exporter reads *{TEXTFILE_SUFFIX} alone")
        try:
            put(path, text_of(self._samples()))
        except OSError as error:
            why = error.strerror or error
            self._console.warn(f"the metrics {path} could not be written: {why}")

    def _push(self, where: GatewayUrl) -> None:
        from gate.metrics.pushgateway import Pushgateway
        from gate.metrics.sending import Sender

        access = gateway_access(self._environ, allow_plain_http=self._settings.allow_insecure)
        access = replace(access, learned=self._secrets.add)
        sender = Sender(where.base, access, self._clock)
        gateway = Pushgateway(where, sender, self._clock)
        try:
            self._tell(gateway.push(Groups(self._texts(), self._existing), self._seconds()))
        finally:
            sender.close()

    def _texts(self) -> dict[Place, bytes | None]:
        """Return the text of each group, None for a workload that somebody deleted."""
        from gate.metrics.exposition import text_of

        samples = [*samples_of(self._run)]
        last = {one.place: one.reason for one in self._run.ended}
        return {
            place: None
            if reason is Reason.DELETED
            else text_of(self._mask_samples(filter(partial(_is_of, place), samples)))
            for place, reason in last.items()
        }

    def _seconds(self) -> float:
        """Return how long a push may take; after a signal there is less time."""
        ends_at = self._run.interrupted_at + AFTER_SIGNAL_SECONDS
        return min(PUSH_SECONDS, ends_at - self._clock.now())

    def _tell(self, pushed: Pushed) -> None:
        if pushed.problem:
            self._console.warn(f"the metrics were not pushed: {pushed.problem}")
        if pushed.unswept:
            self._console.warn(f"stale groups may stand in the Pushgateway: {pushed.unswept}")
        for place in pushed.removed:
            called = f"{place.kind.lower()}/{place.name}"
            gone = f"{called} of {place.namespace} is gone, and so is its group"
            self._console.note(NOTE, f"{gone} in the Pushgateway")


def _is_of(place: Place, sample: Sample) -> bool:
    return sample.labels[: len(PLACE)] == place.labels
