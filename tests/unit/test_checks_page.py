"""The pages about checks say what the code does: examples load, tables are complete."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gate.config import load
from gate.config.checks.keys import FORMS, keys_of
from gate.config.limits import all_checks
from gate.core.checks.spec import Schedule, Tolerances
from gate.core.kinds.check_variables import BUILT_IN
from gate.sources.ready_made import READY_MADE

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE = (DOCS / "checks.md").read_text(encoding="utf-8")
COMPARISONS = (DOCS / "comparisons.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE + COMPARISONS, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_a_configuration(example: str, tmp_path: Path) -> None:
    """What is copied from the pages works, but for files that only exist elsewhere."""
    document: dict[str, Any] = yaml.safe_load(example)
    server = document.get("prometheus", {})
    server.pop("ca-file", None)
    if "token-file" in server:
        server["token-file"] = str(tmp_path / "token")
        (tmp_path / "token").write_text("t", encoding="utf-8")
    file = tmp_path / "rollout-gate.yaml"
    file.write_text(yaml.safe_dump(document), encoding="utf-8")
    settings = load("apply", {}, environ={"TENANT": "a"}, folder=tmp_path)
    assert len(all_checks(settings)) == len(document.get("checks", ()))


def test_every_key_has_its_row() -> None:
    """A key that is added is told of."""
    keys = {key for form in FORMS.values() for key in keys_of(form)}
    missing = {key for key in keys if f"`{key}`" not in PAGE}
    assert not missing


def test_every_variable_has_its_row() -> None:
    """What a query can name."""
    assert not {name for name in BUILT_IN if f"${{{name}}}" not in PAGE}


def test_every_ready_made_check_has_its_row() -> None:
    """With all kinds of metrics that it is made for."""
    rows = {
        made.name: re.findall(rf"^\| `{made.name}` .*$", PAGE, re.MULTILINE) for made in READY_MADE
    }
    same = " ".join(rows["slow-share"])
    for made in READY_MADE:
        (row,) = rows[made.name]
        assert f"`{made.metrics}`" in row.replace("the same", same)
    assert PAGE.count(f"`{READY_MADE[0].metrics}` (the first in the row)") == 1


def test_the_defaults_are_those_of_the_code() -> None:
    """The figures of the table."""
    schedule, bears = Schedule(), Tolerances()
    for key, default in (
        ("interval", f"{schedule.interval_seconds:g}s"),
        ("initial-delay", f"{schedule.initial_delay_seconds:g}s"),
        ("during", schedule.during.value),
        ("allowed-failures", str(bears.allowed_failures)),
        ("allowed-consecutive-errors", str(bears.allowed_consecutive_errors)),
        ("min-passes", str(bears.min_passes)),
    ):
        (cell,) = re.findall(rf"^\| `{key}` \| ([^|]*) \|", PAGE, re.MULTILINE)
        assert default in cell, key
