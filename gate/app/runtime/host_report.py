"""What the CI host is told of a run's end; no fault of it changes a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gate.app.runtime.console import Console, write_safely
from gate.app.runtime.world import World
from gate.ci.publishing import publish, sink_of
from gate.ci.sink import Plain, Sink, Written
from gate.config import Settings
from gate.errors import place_of
from gate.report.schema.result import Result


@dataclass(frozen=True, slots=True)
class Hosting:
    """A result that its host has in its files; the lines of its log are to come."""

    world: World
    settings: Settings
    console: Console
    sink: Sink
    remarks: str

    @classmethod
    def of(
        cls,
        world: World,
        settings: Settings,
        console: Console,
        result: Result,
        reports: Sequence[Written],
    ) -> Hosting:
        """Write the host's files; `reports` are the files that were written before."""
        try:
            sink = sink_of(world.environ, console.clock.wall())
            for warning in publish(sink.additions(result, reports)):
                console.warn(warning)
            return cls(world, settings, console, sink, sink.remarks(result, reports))
        except Exception as error:  # noqa: BLE001 - no fault of a report may change the verdict
            bug = f"{place_of(error)}; this is a bug of rollout-gate"
            console.warn(f"the CI host could not be told: {bug}")
            return cls(world, settings, console, Plain(), "")

    def frame_text(self, text: str) -> str:
        """Return text for people as the host's log takes it."""
        return self.sink.frame_text(text)

    def remark(self) -> None:
        """Write what stands below the verdict, on stdout unless a document stands there."""
        if self.settings.output == "json":
            write_safely(self.world.stderr, self.remarks)
        else:
            self.console.write(self.remarks)
