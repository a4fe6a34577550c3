"""Mann-Whitney against SciPy, and what the test of new against old has to hold."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable

import pytest

from gate.core.statistics.mann_whitney import probability_of_larger
from tests.table import each

Sizes = tuple[int, int]
Pair = tuple[list[float], list[float]]
Draw = Callable[[random.Random, Sizes], Pair]

PAIRS = 550
"""Of each size: over 10,000 in all."""


def untied(source: random.Random, sizes: Sizes) -> Pair:
    """Draw two samples in which no value comes twice."""
    new, old = ([source.random() for _ in range(size)] for size in sizes)
    return new, old


def tied(source: random.Random, sizes: Sizes) -> Pair:
    """Draw two samples with at least one tie, and not all of one value."""
    levels = source.randint(2, 20)
    new, old = ([float(source.randint(0, levels)) for _ in range(size)] for size in sizes)
    new[:2] = old[:2] = [0.0, 1.0]
    return new, old


METHODS: dict[Draw, str] = {untied: "exact", tied: "asymptotic"}
"""Which of SciPy's is held against the gate's."""

SCIPYS: list[tuple[Draw, Sizes, tuple[float, ...]]] = [
    (untied, (1, 1), (1.0, 1.0, 0.5, 0.5)),
    (untied, (1, 9), (0.9, 0.1, 0.6, 0.8)),
    (untied, (2, 7), (0.25, 0.5555555556, 0.9444444444, 0.6666666667)),
    (untied, (5, 5), (0.5793650794, 0.5, 0.7896825397, 0.8452380952)),
    (untied, (8, 8), (0.1641025641, 0.018958819, 0.4795648796, 0.2209013209)),
    (untied, (8, 12), (0.9510597761, 0.9920695404, 0.6039612606, 0.3392156863)),
    (untied, (12, 8), (0.5746844487, 0.7865682305, 0.1715725966, 0.5746844487)),
    (untied, (11, 3), (0.1840659341, 0.5, 0.9148351648, 0.5)),
    (untied, (14, 14), (0.9032105911, 0.5981936156, 0.4550129373, 0.9530659378)),
    (untied, (20, 9), (0.8414338285, 0.8049232127, 0.7639187399, 0.2219297943)),
    (untied, (8, 40), (0.1595424738, 0.1953289691, 0.3076301642, 0.653086437)),
    (untied, (30, 30), (0.1179428822, 0.3271701281, 0.3166335557, 0.9328981726)),
    (untied, (40, 40), (0.0126709067, 0.3851923021, 0.750201869, 0.6472991873)),
    (tied, (8, 8), (0.542224498, 0.9376415921, 0.6460986728, 0.7962316963)),
    (tied, (8, 60), (0.5228854107, 0.861806655, 0.4809318705, 0.8157995147)),
    (tied, (9, 33), (0.9381029404, 0.3848004634, 0.2978296658, 0.7651223462)),
    (tied, (20, 20), (0.2899138095, 0.623659853, 0.2982320112, 0.2069639116)),
    (tied, (30, 30), (0.7889512876, 0.1798442169, 0.5550101148, 0.7923601737)),
    (tied, (41, 12), (0.5889676952, 0.1083379151, 0.2312035173, 0.521242077)),
    (tied, (50, 50), (0.9350479594, 0.7690765333, 0.9502738947, 0.3322491062)),
    (tied, (60, 8), (0.336781614, 0.4317299941, 0.1490324021, 0.7448862024)),
    (tied, (12, 12), (0.2616441724, 0.6163998446, 0.6589217165, 0.4652058198)),
]
"""SciPy's probabilities of the first pairs of each size, the largest that is exact among them."""

each_size = each(
    ("draw", "sizes", "recorded"), SCIPYS, ids=lambda case: f"{case[0].__name__} {case[1]}"
)


def pairs(draw: Draw, sizes: Sizes, count: int) -> list[Pair]:
    """Return the first pairs of these sizes."""
    source = random.Random(str(sizes))
    return [draw(source, sizes) for _ in range(count)]


def agrees(drawn: list[Pair], wanted: Iterable[float]) -> None:
    """Assert that each pair's probability is the wanted one, to 1e-9."""
    for (new, old), probability in zip(drawn, wanted, strict=True):
        found = probability_of_larger(new, old)
        assert math.isclose(found, probability, rel_tol=0, abs_tol=1e-9), (new, old)


@each_size
def test_probabilities_are_scipys(draw: Draw, sizes: Sizes, recorded: tuple[float, ...]) -> None:
    """On a few random pairs, exact without ties, normal with them."""
    agrees(pairs(draw, sizes, len(recorded)), recorded)


@pytest.mark.long
@each_size
def test_many_probabilities_are_scipys(
    draw: Draw, sizes: Sizes, recorded: tuple[float, ...]
) -> None:
    """On many random pairs, those among them whose probabilities are recorded."""
    from scipy.stats import mannwhitneyu

    drawn = pairs(draw, sizes, PAIRS)
    new, old = zip(*drawn, strict=True)
    wanted = mannwhitneyu(new, old, alternative="greater", method=METHODS[draw], axis=1).pvalue
    agrees(drawn, wanted)
    assert recorded == pytest.approx(wanted[: len(recorded)], rel=0, abs=1e-9)


def test_equal_values_prove_nothing() -> None:
    """Not even on many samples."""
    assert probability_of_larger([3.0] * 50, [3.0] * 50) == 1.0
