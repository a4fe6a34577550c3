"""Reports a run's end to the CI host; no fault here changes a verdict."""

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
    """A result already written to the host's files; the lines for its log still have to be."""

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
        """Write the host's files; `reports` are the report files written before."""
        try:
            sink = sink_of(world.environ, console.clock.wall())
            for warning in publish(sink.additions(result, reports)):
                console.warn(warning)
            return cls(world, settings, console, sink, sink.remarks(result, reports))
        except Exception as error:  # noqa: BLE001 - no fault of a report may change the verdict
            bug = f"{place_of(error)}; this is a bug in rollout-gate"
            console.warn(f"could not report to the CI host: {bug}")
            return cls(world, settings, console, Plain(), "")

    def frame_text(self, text: str) -> str:
        """Return text for people, framed for the host's log."""
        return self.sink.frame_text(text)

    def remark(self) -> None:
        """Write what goes below the verdict: to stdout, or stderr if stdout has the document."""
        if self.settings.output == "json":
            write_safely(self.world.streams.stderr, self.remarks)
        else:
            self.console.write(self.remarks)
