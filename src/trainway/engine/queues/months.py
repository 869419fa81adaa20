"""The months of UTC, by which GPU-hours are given. Pure."""

from datetime import UTC, datetime


def month_of(time: float) -> str:
    """The month of UTC that a time is in."""
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m")


def month_start(time: float) -> float:
    """When that month began."""
    day = datetime.fromtimestamp(time, UTC)
    return datetime(day.year, day.month, 1, tzinfo=UTC).timestamp()


def next_month(time: float) -> float:
    """When the month after it begins."""
    day = datetime.fromtimestamp(time, UTC)
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    return datetime(year, month, 1, tzinfo=UTC).timestamp()
