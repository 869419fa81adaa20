"""Traces of a cheap place, replayed: what a policy pays, and what one who knows the future would.

Everything is counted in whole units of time, of which a tick of the trace, the work, the deadline
and the changeover are multiples; so the optimum is exact, and nothing is rounded. A changeover is
paid at the price of the place that it leads to.
"""

import gzip
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from trainway.engine.recovery.uniform_progress import Place, Standing, Terms, next_place

HOUR: Final = 3600
Policy = Callable[[Terms, Standing], Place]
Numbers = Any
"""An array of numpy, whose types mypy is not given."""


@dataclass(frozen=True)
class Bargain:
    """A job with a deadline, and what its places cost for an hour; times in seconds."""

    work: int
    deadline: int
    changeover: int
    cheap: float
    sure: float = 1.0

    def price(self, place: Place) -> float:
        """What an hour there costs."""
        return {Place.IDLE: 0.0, Place.CHEAP: self.cheap, Place.SURE: self.sure}[place]


@dataclass(frozen=True)
class Trace:
    """Whether the cheap place could be had, tick by tick."""

    tick: int
    """Seconds."""
    there: Sequence[bool]

    def windows(self, length: int, stride: int) -> "list[Trace]":
        """What a job sees that begins then, every `stride` seconds, as long as there is trace."""
        ticks = -(-length // self.tick)
        step = max(stride // self.tick, 1)
        starts = range(0, len(self.there) - ticks + 1, step)
        return [Trace(self.tick, self.there[start : start + ticks]) for start in starts]


def read_trace(path: Path, at_least: int = 1) -> Trace:
    """A recorded trace; the cheap place is there when so many nodes can be had."""
    with gzip.open(path, "rt") as file:
        recorded = json.load(file)
    there = [count >= at_least for count in recorded["data"]]
    return Trace(recorded["metadata"]["gap_seconds"], there)


def random_trace(seed: int, tick: int, length: int) -> Trace:
    """A place that comes and goes: two states, how often and for how long drawn for each trace."""
    chance = random.Random(seed)  # noqa: S311 - a trace, not a secret
    is_there = chance.random() < 0.5
    stays = HOUR * 10 ** chance.uniform(-0.5, 1.2)  # 20 minutes to 16 hours
    away = HOUR * 10 ** chance.uniform(-0.5, 1.2)
    there = []
    for _ in range(-(-length // tick)):
        there.append(is_there)
        if chance.random() < tick / (stays if is_there else away):
            is_there = not is_there
    return Trace(tick, there)


@dataclass(frozen=True)
class Replayed:
    """How a policy did."""

    cost: float
    """In hours of the sure place."""
    ended: int | None
    """Seconds after the beginning; none if the deadline was missed."""
    starts: int


def replay(bargain: Bargain, trace: Trace, policy: Policy = next_place) -> Replayed:
    """Let a policy decide at every tick; it is told what is, never what will be."""
    terms = Terms(bargain.work, bargain.deadline, bargain.changeover, trace.tick)
    place, starting, done, cost, starts = Place.IDLE, 0, 0, 0.0, 0
    for number, is_there in enumerate(trace.there):
        elapsed = number * trace.tick
        if place is Place.CHEAP and not is_there:
            place, starting = Place.IDLE, 0
        chosen = policy(terms, Standing(elapsed, done, place, is_there, starting))
        if chosen is Place.CHEAP and not is_there:
            raise AssertionError("a policy has chosen a place that is not there")
        if chosen is not place:
            place, starting = chosen, 0 if chosen is Place.IDLE else bargain.changeover
            starts += chosen is not Place.IDLE
        if place is Place.IDLE:
            continue
        left = starting + bargain.work - done
        spent = min(trace.tick, left)
        cost += spent * bargain.price(place) / HOUR
        if spent == left:
            ended = elapsed + spent
            return Replayed(cost, ended if ended <= bargain.deadline else None, starts)
        done += max(spent - starting, 0)
        starting = max(starting - spent, 0)
    return Replayed(cost, None, starts)


def greedy(terms: Terms, now: Standing) -> Place:
    """The cheap place or none, until only the sure one is in time."""
    slack = (terms.deadline - now.elapsed) - (terms.work - now.progress)
    if now.place is Place.SURE:
        return Place.SURE
    if now.place is Place.CHEAP and now.is_cheap_there:
        return Place.CHEAP
    if slack < 2 * terms.changeover + terms.pace:
        return Place.SURE
    return Place.CHEAP if now.is_cheap_there else Place.IDLE


def always_sure(_terms: Terms, _now: Standing) -> Place:
    """The sure place from the beginning to the end."""
    return Place.SURE


def optimum(bargain: Bargain, trace: Trace) -> float:
    """The least that somebody who knows the whole trace would pay, in time.

    Dynamic programming, tick by tick: `costs[place, starting][lost]` is the least that has been
    paid by a job there, `starting` units before it computes, that has lost so much of its time.
    What is lost says how far it is, and more than deadline less work cannot be lost.
    """
    unit = math.gcd(trace.tick, bargain.work, bargain.deadline, bargain.changeover)
    tick, work = trace.tick // unit, bargain.work // unit
    slack, changeover = bargain.deadline // unit - work, bargain.changeover // unit
    prices = {place: bargain.price(place) * unit / HOUR for place in Place}
    nowhere = np.full(slack + 1, np.inf)
    costs: dict[tuple[Place, int], Numbers] = {(Place.IDLE, 0): nowhere.copy()}
    costs[Place.IDLE, 0][0] = 0.0
    best = math.inf
    for number, is_there in enumerate(trace.there):
        following: dict[tuple[Place, int], Numbers] = {}
        idle = np.minimum.reduce(list(costs.values()))
        _offer(following, (Place.IDLE, 0), _later(idle, tick))
        for place in (Place.CHEAP, Place.SURE) if is_there else (Place.SURE,):
            others = [cost for (other, _), cost in costs.items() if other is not place]
            begun = {left: cost for (other, left), cost in costs.items() if other is place}
            begun[changeover] = np.minimum.reduce([*others, begun.get(changeover, nowhere)])
            for starting, cost in begun.items():
                lost = min(starting, tick)
                _offer(
                    following,
                    (place, starting - lost),
                    _later(cost, lost) + tick * prices[place],
                )
                ended = _ended(cost, starting, work - number * tick, tick, prices[place])
                best = min(best, ended)
        costs = following
    return best


def _offer(
    costs: dict[tuple[Place, int], Numbers], state: tuple[Place, int], cost: Numbers
) -> None:
    costs[state] = np.minimum(costs[state], cost) if state in costs else cost


def _later(cost: Numbers, lost: int) -> Numbers:
    """The same, with so much more time lost; what is lost beyond the slack is not followed."""
    if lost == 0:
        return cost
    shifted = np.full(len(cost), np.inf)
    if lost < len(cost):
        shifted[lost:] = cost[:-lost]
    return shifted


def _ended(cost: Numbers, starting: int, left: int, tick: int, price: float) -> float:
    """The least that a job has paid which ends within this tick, and in time.

    `left` is the work that would be left if nothing had been lost.
    """
    least = left + starting
    if least > tick or starting >= len(cost):
        return math.inf
    lost = np.arange(max(-least + 1, 0), min(tick - least, len(cost) - 1 - starting) + 1)
    paid = cost[lost] + (least + lost) * price
    return float(np.min(paid, initial=math.inf))
