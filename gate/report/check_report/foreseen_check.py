"""What a comparison by counts could show, and whence the figures for that came."""

from __future__ import annotations

from gate.core.checks.power import Power
from gate.core.checks.running_traffic import MeasuredTraffic
from gate.core.frozen import dataclass


@dataclass(frozen=True, slots=True)
class ForeseenCheck:
    """One check before a deploy.

    `about` is the workload as people call it, "" for none.
    `measured` is what runs counted, None if nobody was asked; `gave_traffic`, `gave_rate` and
    `gave_phase` say which figures were given instead.
    """

    power: Power
    about: str
    measured: MeasuredTraffic | None
    gave_traffic: bool
    gave_rate: bool
    gave_phase: bool
