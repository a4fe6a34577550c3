"""Resource quantities: parsing, comparison and the canonical text that the server stores.

The rules are those of apimachinery `pkg/api/resource`: nothing below a nano is kept, and a text
keeps its family of suffixes (`Mi`, `M`, `e6`) where it can.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from fractions import Fraction
from functools import lru_cache
from math import ceil

NANO = 10**9
MOST_LETTERS = 300
MOST_EXPONENT = 300
"""What is looked at of a quantity: a number beyond is a mistake, and costs time without end."""

PATTERN = "^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$"

_PARTS = re.compile(r"([+-]?)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_BINARY_SUFFIXES = ("", *_BINARY)
_EXPONENT = re.compile(r"[eE]([-+]?[0-9]+)")
_CAP = (2**63 - 1) * NANO
_LARGEST_EXPONENT = 18
_SMALLEST_EXPONENT = -9
_DECIMAL_DIGITS = 18
_BINARY_DIGITS = 14
_KIBI = 1024


class QuantityError(ValueError):
    """A text that is no quantity, in the server's words."""


class Family(Enum):
    """Which suffixes a quantity is written with."""

    DECIMAL = auto()
    BINARY = auto()
    EXPONENT = auto()


@dataclass(frozen=True, slots=True)
class Quantity:
    """An exact amount, in nanos."""

    nanos: int
    family: Family = Family.DECIMAL

    def __str__(self) -> str:
        """Return the canonical text."""
        if self.nanos == 0:
            return "0"
        is_large_integer = self.nanos % NANO == 0 and abs(self.nanos) >= _KIBI * NANO
        if self.family is Family.BINARY and is_large_integer:
            return _with_suffix(self.nanos // NANO)
        number, exponent = _normal(self.nanos)
        if self.family is Family.EXPONENT:
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_DECIMAL_SUFFIXES[exponent]}"

    def rounded_up(self) -> Quantity:
        """Return it without anything below a milli, away from zero."""
        step = 10**6
        millis = -(-self.nanos // step) if self.nanos > 0 else self.nanos // step
        return Quantity(millis * step, self.family)


def _with_suffix(number: int) -> str:
    power = 0
    while number % _KIBI == 0 and power < len(_BINARY):
        number //= _KIBI
        power += 1
    return f"{number}{_BINARY_SUFFIXES[power]}"


def _normal(nanos: int) -> tuple[int, int]:
    """Return a mantissa and the largest exponent of ten, a multiple of three, that it takes."""
    exponent = -9
    while nanos % 1000 == 0 and exponent < _LARGEST_EXPONENT:
        nanos //= 1000
        exponent += 3
    return nanos, exponent


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Quantity:
    """Return the quantity that a text means; raises `QuantityError`."""
    match = _PARTS.fullmatch(text)
    if not text or match is None:
        raise QuantityError(f"quantities must match the regular expression '{PATTERN}'")
    sign, whole, fraction, suffix = match.groups()
    if len(text) > MOST_LETTERS:
        raise QuantityError("quantities must not have that many digits")
    base, family = _meaning(suffix)
    digits = f"{whole}{fraction or ''}"
    exact = Fraction(int(digits or 0), 10 ** len(fraction or "")) * base * NANO
    nanos = ceil(exact)
    if family is Family.BINARY:
        nanos = min(nanos, _CAP)
        if nanos < NANO:
            family = Family.DECIMAL
    return Quantity(-nanos if sign == "-" else nanos, family)


def _meaning(suffix: str) -> tuple[Fraction, Family]:
    if suffix in _DECIMAL:
        return Fraction(10) ** _DECIMAL[suffix], Family.DECIMAL
    if suffix in _BINARY:
        return Fraction(_KIBI ** _BINARY[suffix]), Family.BINARY
    if (match := _EXPONENT.fullmatch(suffix)) and abs(int(match[1])) <= MOST_EXPONENT:
        return Fraction(10) ** int(match[1]), Family.EXPONENT
    raise QuantityError("unable to parse quantity's suffix")


@lru_cache(maxsize=4096)
def canonical(text: str) -> str:
    """Return the text that the server stores for a quantity; raises `QuantityError`.

    A text that looks canonical to the server's quick check is kept as it is (`010`, `1.500`).
    """
    amount = parse_quantity(text)
    return text if _looks_canonical(text) else str(amount)


@lru_cache(maxsize=4096)
def canonical_resource(text: str) -> str:
    """Return the stored text of an entry of a ResourceList, which has nothing below a milli."""
    amount = parse_quantity(text)
    rounded = amount.rounded_up()
    return canonical(text) if rounded == amount else str(rounded)


def _looks_canonical(text: str) -> bool:
    """Whether the server's fast path keeps the text: no factor left that a suffix could take."""
    match = _PARTS.fullmatch(text)
    if text == "0" or match is None:
        return text == "0"
    _, whole, fraction, suffix = match.groups()
    number = whole.lstrip("0") or "0"
    digits, places = f"{number}{fraction or ''}", len(fraction or "")
    base, family = _meaning(suffix)
    if family is Family.BINARY:
        bits = base.numerator.bit_length() - 1
        room = _BINARY_DIGITS - len(number) - bits * 3 // 10
        return not places and room >= 0 and int(digits) & 7 != 0
    exponent = _DECIMAL[suffix] if family is Family.DECIMAL else int(suffix[1:])
    scale = exponent - places
    fits = len(digits) <= _DECIMAL_DIGITS and scale >= _SMALLEST_EXPONENT
    return fits and scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
