"""The two legs of an attempt: forward, and back."""

from __future__ import annotations

import enum


class Leg(enum.StrEnum):
    """The way out and the way back."""

    FORWARD = "forward"
    BACK = "back"
