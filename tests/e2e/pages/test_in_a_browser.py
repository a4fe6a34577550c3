"""The HTML report in a headless Chromium: nothing runs, nothing is asked for, nothing overflows."""

from __future__ import annotations

from pathlib import Path

import pytest

from gate.report.html import html
from gate.report.schema.result import Result
from tests.browser.browser import Look, Seen, see
from tests.unit.report.results import HOSTILE, example, spoilt, with_checks

LOOKS = (Look(), Look(dark=True), Look(width=390), Look(styles=False))
LONG = "https://registry.example/" + "shop-" * 60 + "web@sha256:" + "0" * 64


def seen(result: Result, folder: Path, *looks: Look) -> list[Seen]:
    """Return what a browser makes of a result's page."""
    page = folder / "page.html"
    page.write_text(html(result), encoding="utf-8")
    return see(page, *looks)


@pytest.mark.contract("B564", "B561")
@pytest.mark.parametrize(
    "result",
    [
        with_checks("rolled-back"),
        example("verified"),
        spoilt(with_checks("rolled-back"), "\n".join(HOSTILE)),
        spoilt(with_checks("rolled-back"), LONG),
    ],
    ids=["rolled-back", "verified", "hostile", "long"],
)
def test_the_page_is_still(result: Result, tmp_path: Path) -> None:
    """Light, dark, narrow and without styles: as wide as its window, and silent."""
    for look, page in zip(LOOKS, seen(result, tmp_path, *LOOKS), strict=True):
        assert page.scripts == page.handlers == 0
        assert page.complaints == []
        assert page.asked == [(tmp_path / "page.html").as_uri()]
        assert (page.width <= page.room and not page.cut) or not look.styles


@pytest.mark.contract("B564")
def test_it_is_read_without_its_styles(tmp_path: Path) -> None:
    """All that is said is there, in the same order."""
    styled, bare = seen(with_checks("rolled-back"), tmp_path, Look(), Look(styles=False))
    assert bare.text.split() == styled.text.split()
    assert "ROLLED BACK" in bare.text


@pytest.mark.contract("B564")
def test_light_and_dark_differ_and_paper_is_white(tmp_path: Path) -> None:
    """It follows the reader; what is printed does not."""
    light, dark = seen(example("rolled-back"), tmp_path, Look(), Look(dark=True))
    assert light.picture != dark.picture
    assert len(light.printed) == len(dark.printed) > 1000
