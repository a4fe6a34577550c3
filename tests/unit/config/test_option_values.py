"""Values of options: read as they are declared, immutable, and changed in a copy."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gate.config import Settings
from gate.config.option_values import BadValuesError
from gate.core.rollout.policy import OnFailure

ROOT = Path(__file__).resolve().parents[3]


def test_a_value_is_read_and_the_others_have_their_defaults() -> None:
    """Only what was given counts as given."""
    settings = Settings.of({"on_failure": "keep", "observe": "yes"})
    assert (settings.on_failure, settings.observe, settings.bake) == (OnFailure.KEEP, True, None)
    assert settings.given == {"on_failure", "observe"}
    assert "on_failure=<OnFailure.KEEP" in repr(settings)


def test_all_that_is_wrong_is_named_at_once() -> None:
    """By the name of each option."""
    with pytest.raises(BadValuesError) as caught:
        Settings.of({"observe": 2, "on_failure": "none", "bake": "1m"})
    said = {name: str(error) for name, error in caught.value.wrong.items()}
    assert said == {
        "on_failure": "not one of 'rollback', 'pause' or 'keep': 'none'",
        "observe": "neither true nor false: '2'",
    }


@pytest.mark.parametrize("option", ["bake", "observe", "on_failure"])
def test_a_number_that_python_cannot_write_is_a_wrong_value(option: str) -> None:
    """YAML has such numbers, in hexadecimal."""
    with pytest.raises(BadValuesError, match="digits"):
        Settings.of({option: 16**5000})


def test_an_unknown_option_is_a_mistake_of_ours() -> None:
    """A typo in code does not go unnoticed."""
    with pytest.raises(TypeError, match="no such option: on_failur"):
        Settings.of({"on_failur": "keep"})


def test_settings_are_changed_in_a_copy_alone() -> None:
    """The copy counts the change as given; the original cannot be changed."""
    settings = Settings.of({"observe": True})
    changed = settings.with_values(bake=5.0)
    assert (changed.observe, changed.bake, sorted(changed.given)) == (
        True,
        5.0,
        ["bake", "observe"],
    )
    assert settings.bake is None
    assert settings.given == {"observe"}
    with pytest.raises(AttributeError, match="bake cannot be set"):
        settings.bake = 1.0  # type: ignore[misc]


@pytest.mark.contract("B203")
@pytest.mark.parametrize(("options", "loads"), [({}, False), ({"check": ["x: up <= 1"]}, True)])
def test_only_checks_and_servers_load_pydantic(options: dict[str, object], loads: bool) -> None:
    """It takes a fifth of an apply's start."""
    program = f"""
import sys
from gate.config import load
load("apply", {options!r}, environ={{}})
sys.exit("pydantic" in sys.modules)
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (int(loads), "")
