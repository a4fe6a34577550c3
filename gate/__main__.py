"""`python -m gate` is `rollout-gate`."""

from __future__ import annotations

from gate.cli.main import main

if __name__ == "__main__":
    main()
