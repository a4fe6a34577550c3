"""Simulated traffic: the increases of both versions, tick by tick, for many rollouts at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

TICK_SECONDS = 10
PODS = 3

Numbers: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Alone:
    """Ticks of one version alone: old before new serves, new after old does no more.

    The rate of the one that serves is multiplied by `factor` then.
    """

    before: int = 0
    after: int = 0
    factor: float = 1


@dataclass(frozen=True, slots=True)
class Incident:
    """Ticks, from the first to before the end, in which both rates are multiplied by a factor."""

    first: int = 0
    end: int = 0
    factor: float = 1


@dataclass(frozen=True, slots=True)
class Moving:
    """New's share of the traffic goes evenly from one to another, and both rates grow meanwhile.

    At the end they are `factor` times what they were.
    """

    first_share: float = 0.5
    last_share: float = 0.5
    factor: float = 1


@dataclass(frozen=True, slots=True)
class Traffic:
    """What two versions serve; `ratio` is the new rate of bad requests to the old one.

    `burst_variance` is the variance of a gamma factor of each tick and version, `pod_effect` the
    standard deviation of a normal effect on the logarithm of each pod's rate. The rate at the first
    tick that the new version serves is multiplied by the first factor of `cold_factors`, and so on.
    """

    new_per_second: float = 10
    old_per_second: float = 10
    rate: float = 0.01
    ratio: float = 1
    ticks: int = 60
    burst_variance: float = 0
    pod_effect: float = 0
    moving: Moving = Moving()
    alone: Alone = Alone()
    incident: Incident = Incident()
    cold_factors: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts:
    """Increases as arrays of rollouts by ticks."""

    bad_new: Numbers
    total_new: Numbers
    bad_old: Numbers
    total_old: Numbers


def draw(traffic: Traffic, runs: int, source: np.random.Generator) -> Counts:
    """Return the counts of so many rollouts."""
    shape = (runs, traffic.ticks)
    moving = traffic.moving
    share = np.linspace(moving.first_share, moving.last_share, traffic.ticks)
    factor = np.linspace(1, moving.factor, traffic.ticks)
    total_new = source.poisson(traffic.new_per_second * TICK_SECONDS * 2 * share, shape)
    before, gone_at = traffic.alone.before, traffic.ticks - traffic.alone.after
    total_new[:, :before] = 0
    total_old = source.poisson(traffic.old_per_second * TICK_SECONDS * 2 * (1 - share), shape)
    total_old[:, gone_at:] = 0
    factor[traffic.incident.first : traffic.incident.end] *= traffic.incident.factor
    factor[:before] *= traffic.alone.factor
    factor[gone_at:] *= traffic.alone.factor
    rates = [
        traffic.rate * ratio * factor * _effects(traffic, shape, source)
        for ratio in (traffic.ratio, 1)
    ]
    served = slice(before, before + len(traffic.cold_factors))
    rates[0][:, served] *= traffic.cold_factors
    bad_new, bad_old = (
        source.binomial(total, np.minimum(1, rate))
        for total, rate in zip((total_new, total_old), rates, strict=True)
    )
    return Counts(*(np.asarray(side, float) for side in (bad_new, total_new, bad_old, total_old)))


def _effects(traffic: Traffic, shape: tuple[int, int], source: np.random.Generator) -> Numbers:
    """Return by what the rate of each tick is multiplied."""
    effects = np.ones(shape)
    if traffic.burst_variance:
        variance = traffic.burst_variance
        effects = effects * source.gamma(1 / variance, variance, shape)
    if traffic.pod_effect:
        pods = np.exp(source.normal(0, traffic.pod_effect, (shape[0], PODS)))
        effects = effects * pods.mean(axis=1, keepdims=True)
    return effects
