"""A count or a share of a total: `3` or `25%`, as Kubernetes' IntOrString reads them."""

from __future__ import annotations

import re
from typing import Final

from gate.core.frozen import dataclass

_FORM: Final = re.compile(r"([0-9]{1,10})(%?)")
_MOST: Final = 2**31 - 1
"""Kubernetes counts pods in an int32."""


@dataclass(frozen=True, slots=True)
class Share:
    """`amount` pods, or `amount` percent of a total that is known later."""

    amount: int
    percent: bool = False

    @classmethod
    def parse(cls, value: int | str) -> Share:
        """Read `3`, `"3"` or `"25%"`; ValueError with one line for people otherwise.

        Reads `maxSurge` and `maxUnavailable` of a Deployment as well: the API server has already
        refused the text form of a plain number there, so accepting it does no harm.
        """
        match = _FORM.fullmatch(str(value).strip())
        if match is None or int(match[1]) > _MOST:
            raise ValueError(f"{value!r:.60} is neither a count (3) nor a share (25%)")
        return cls(int(match[1]), percent=bool(match[2]))

    def of(self, total: int, *, round_up: bool) -> int:
        """Return how many of `total` this is; a count is itself, whatever the total.

        The Deployment controller rounds maxSurge up and maxUnavailable down
        (`GetScaledValueFromIntOrPercent`); integers throughout, so that no float rounds first.
        """
        if not self.percent:
            return self.amount
        scaled = self.amount * total
        return -(-scaled // 100) if round_up else scaled // 100

    def __str__(self) -> str:
        """Return the form that `parse` reads."""
        return f"{self.amount}%" if self.percent else str(self.amount)
