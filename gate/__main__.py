"""The first lines of the process; `python -m gate` is `rollout-gate`.

Signals are answered before the imports: those take 50 ms, in which Python would end a process that
is interrupted with a traceback of its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
from types import FrameType
from typing import NoReturn


def main() -> NoReturn:
    """Run the command of this process, and end it with the exit code."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)
    from gate.cli.main import main as run_command

    run_command()


def _end(number: int, _frame: FrameType | None) -> None:
    """End the process at once: it has done nothing yet."""
    with contextlib.suppress(OSError):
        os.write(2, f"{signal.Signals(number).name} ended it at once: nothing was done\n".encode())
    os._exit(128 + number)


if __name__ == "__main__":
    main()
