"""The simulation behind docs/statistics.md: true to the gate, and able to find an error."""

from __future__ import annotations

import re

import pytest

from tests.statistics import page, plot
from tests.statistics.cells import Cell, cells, sections
from tests.statistics.measures import Plant, counts_of, measure
from tests.statistics.sample import differences
from tests.table import each


def cell_of(name: str) -> Cell:
    """Return the first cell of a name, the one with a bake window."""
    return next(cell for cell in cells() if cell.name == name)


@each("cell", [*cells()], ids=lambda cell: f"{cell.name}, {cell.rule.known_length}")
def test_the_arrays_decide_as_the_gate_does(cell: Cell) -> None:
    """At the same tick, in each cell; an hour is cut to a few rollouts by its length."""
    counts = counts_of(cell, runs=2)
    assert not [*differences(cell.own_rule, counts)]


def breaks(plant: Plant | None, name: str, runs: int) -> bool:
    """Tell whether a bound of a cell is broken in so many rollouts."""
    cell = cell_of(name)
    found = measure(cell, runs, plant)
    return any(not bound.holds(found.value(bound.measure)) for bound in cell.bounds)


@pytest.mark.contract("B1164")
@each(
    ("plant", "name"),
    [
        (Plant.OVERLAP, "10 requests/s"),
        (Plant.NO_LOOKS, "bursts (gamma variance 0.5 a tick), 10 requests/s"),
        (Plant.NO_SPLIT, "8 checks of equal versions"),
    ],
)
def test_a_planted_error_breaks_a_bound(plant: Plant, name: str) -> None:
    """In a part of the rollouts already, and nothing is broken without it."""
    assert breaks(plant, name, 1000)
    assert not breaks(None, name, 1000)


@pytest.mark.long
@pytest.mark.contract("B1164")
def test_lost_births_break_a_bound() -> None:
    """What `increase()` would leave out of new series is half of the power."""
    name = "twice as bad, 15 series born in the phase"
    assert breaks(Plant.NO_BIRTHS, name, 300)
    assert not breaks(None, name, 300)


@pytest.mark.contract("B1164")
def test_the_page_holds_every_cell_and_its_bounds() -> None:
    """With figures that keep the bounds: a bound that is changed needs `make statistics`."""
    text = page.PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+?) \| ([0-9.]+)% \| .* \| (.*?) ?\|$", text, re.MULTILINE)
    assert [(name, bounds) for name, _, bounds in rows] == [
        (cell.name, page.bounds_of(cell.bounds)) for cell in cells()
    ]
    assert all(f"### {section.title}\n" in text for section in sections())


def test_the_plot_has_a_panel_for_each_rule_and_end() -> None:
    """And a curve for each ratio."""
    drawn = plot.plot(runs=20)
    assert drawn.count("<polyline") == 16
    assert drawn.count("<g ") == 4


def test_seeds_are_fixed() -> None:
    """Two runs measure the same."""
    cell = cell_of("twice as bad")
    assert measure(cell, 50) == measure(cell, 50)


def test_an_unknown_measure_is_no_bound() -> None:
    """A misspelt bound would never be broken."""
    with pytest.raises(AttributeError):
        measure(cell_of("10 requests/s"), 5).value("fails")
