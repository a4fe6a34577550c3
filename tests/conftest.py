"""What holds for all tests: the contract's rows as marks, and the beds of scenarios."""

from __future__ import annotations

pytest_plugins = ("tests.contract", "tests.bed.fixtures")
