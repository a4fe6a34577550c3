"""Takes the live tree of the demo into README.md."""

from __future__ import annotations

from tests.capture.tree import put, taken

if __name__ == "__main__":
    put(taken())
