"""How late a test acts on what it has waited for: not at once on a machine that is busy."""

from __future__ import annotations

import os
import time
from typing import Final

LATE_SECONDS: Final = float(os.environ.get("LATE_SECONDS", "0"))


def be_late() -> None:
    """Let `LATE_SECONDS` pass: a test that fails then counts on being quick."""
    time.sleep(LATE_SECONDS)
