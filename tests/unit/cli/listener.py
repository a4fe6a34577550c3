"""What stands in for `gate.app.entry`: it hears what the command line calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gate.config import Settings


@dataclass
class App:
    """What was called, and what the calls answer."""

    calls: list[tuple[str, Settings, tuple[Any, ...]]] = field(default_factory=list)
    code: int = 0
    error: BaseException | None = None

    def function(self, name: str) -> Callable[..., int]:
        """Return the command that is called by that name."""

        def command(_world: object, settings: Settings, *arguments: Any) -> int:
            self.calls.append((name, settings, arguments))
            if self.error is not None:
                raise self.error
            return self.code

        return command

    @property
    def settings(self) -> Settings:
        """The settings of the only call."""
        ((_, settings, _),) = self.calls
        return settings
