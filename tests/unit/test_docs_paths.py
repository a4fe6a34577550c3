"""The pages name files of this repository that are there, and the versions that are tested."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cluster.build import kubernetes_version

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("tests/**/README.md")])
NAMED = re.compile(r"`((?:gate|tests|docs|examples)/[\w./-]+?)/?(?:::\w+)?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    """A move leaves no page behind."""
    gone = [name for name in NAMED.findall(page.read_text()) if not (ROOT / name).exists()]
    assert not gone


def test_the_pages_name_files() -> None:
    """The pattern finds what it is to look at."""
    found = [name for page in PAGES for name in NAMED.findall(page.read_text())]
    assert "gate/core/steps/step.py" in found


@pytest.mark.contract("B1594")
def test_the_readme_names_each_kubernetes_that_is_tested() -> None:
    """Those for which a control plane is built, and no others."""
    modules = [ROOT / "tests/cluster", *ROOT.glob("tests/cluster/v1.*")]
    tested = {kubernetes_version(one).removeprefix("v").rpartition(".")[0] for one in modules}
    lines = (ROOT / "README.md").read_text().splitlines()
    (line,) = (one for one in lines if one.startswith("Each change is tested on"))
    assert set(re.findall(r"\b1\.\d+\b", line)) == tested
