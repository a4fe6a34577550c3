"""What holds for all tests: the contract's rows as marks."""

from __future__ import annotations

pytest_plugins = ("tests.contract",)
