"""What a job has cost: its rates times the time in which they counted. Pure, and exact.

Amounts are decimal and times are whole microseconds, so that sums are right to the cent however
many there are. They are rounded where they are shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from trainway.engine.attempt_runs import Runs, seconds_of
from trainway.engine.costs.rate import Rate
from trainway.jobset.status import moment

_MICROSECOND: Final = timedelta(microseconds=1)
_HOUR: Final = Decimal(3_600_000_000)
_SHOWN: Final = Decimal("0.000001")
_ZERO: Final = Decimal(0)


@dataclass(frozen=True)
class Cost:
    """An amount of money, and what the same would have been on demand."""

    spent: Decimal = _ZERO
    on_demand: Decimal = _ZERO

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.spent + other.spent, self.on_demand + other.on_demand)

    @property
    def saved(self) -> Decimal:
        """What it was cheaper than machines on demand."""
        return self.on_demand - self.spent


@dataclass(frozen=True)
class Piece:
    """A time in which one rate counted, in one attempt."""

    start: datetime
    end: datetime
    attempt: int
    rate: Rate
    share: Decimal = Decimal(1)
    """How much of that time counts: of runs that were joined, not the pauses between them."""

    def cost(self, start: datetime | None = None, end: datetime | None = None) -> Cost:
        """What it cost, or the part of it between two moments."""
        first = self.start if start is None else max(self.start, start)
        last = self.end if end is None else min(self.end, end)
        if last <= first:
            return Cost()
        hours = Decimal((last - first) // _MICROSECOND) * self.share / _HOUR
        full = self.rate.hourly if self.rate.on_demand is None else self.rate.on_demand
        return Cost(self.rate.hourly * hours, full * hours)

    def days(self) -> Iterator[tuple[str, datetime, datetime]]:
        """The days of UTC that it touches, each with its beginning and end."""
        day = datetime(self.start.year, self.start.month, self.start.day, tzinfo=UTC)
        while day < self.end:
            after = day + timedelta(days=1)
            yield day.date().isoformat(), day, after
            day = after


def pieces(rates: Sequence[Rate], runs: Runs, until: str) -> list[Piece]:
    """The times that cost something, until a job ended or until now."""
    found: list[Piece] = []
    for index, rate in enumerate(rates):
        end = _time(rates[index + 1].since if index + 1 < len(rates) else until)
        start = _time(rate.since)
        if rate.is_rented:
            found.append(Piece(start, end, rate.attempt, rate))
            continue
        # Clocks of machines differ: what ran before the first rate costs what that says.
        begin = datetime.min.replace(tzinfo=UTC) if index == 0 else start
        found += [piece for run in runs if (piece := _within(run, begin, end, rate, until))]
    return [piece for piece in found if piece.start < piece.end]


def _within(
    run: dict[str, object], begin: datetime, end: datetime, rate: Rate, until: str
) -> Piece | None:
    """The part of a run in which a rate held; None: none of it."""
    first, last = _time(str(run["start"])), _time(str(run.get("end") or until))
    if max(first, begin) >= min(last, end):
        return None
    share = Decimal(1)
    if "seconds" in run:
        whole = Decimal((last - first) // _MICROSECOND)
        share = min(Decimal(str(seconds_of(run, until))) * 1_000_000 / whole, share)
    return Piece(max(first, begin), min(last, end), int(str(run["attempt"])), rate, share)


def total(found: Sequence[Piece], start: datetime | None = None) -> Cost:
    """What they cost in all, or since a moment."""
    return sum((piece.cost(start) for piece in found), start=Cost())


def by_attempt(found: Sequence[Piece]) -> dict[int, Cost]:
    """What each attempt cost."""
    sums: dict[int, Cost] = {}
    for piece in found:
        sums[piece.attempt] = sums.get(piece.attempt, Cost()) + piece.cost()
    return sums


def shown(amount: Decimal) -> float:
    """An amount as the API shows it: to a ten-thousandth of a cent."""
    return float(amount.quantize(_SHOWN, ROUND_HALF_EVEN))


def _time(text: str) -> datetime:
    return moment(text).astimezone(UTC)
