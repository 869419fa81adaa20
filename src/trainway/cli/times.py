"""Times and durations as people write and read them: `5m`, `1h30m`, `3d`."""

import math
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from trainway.errors import UsageError

_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION: Final = re.compile(r"(?:\d+(?:\.\d+)?[smhdw])+", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)([smhdw])", re.ASCII)


def parse_duration(text: str) -> float:
    """Seconds of `90`, `1.5m`, `1h30m`."""
    seconds = math.inf
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        seconds = float(text)
    elif _DURATION.fullmatch(text):
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    if math.isfinite(seconds):
        return seconds
    raise UsageError(f"not a duration: {text!r}", hint="write 90, 30s, 5m, 1h30m or 2d")


def parse_since(text: str, now: datetime) -> str:
    """The time that `10m` ago was, or a time that is written out."""
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        try:
            when = now - timedelta(seconds=parse_duration(text))
        except OverflowError:
            raise UsageError(f"this time is too long ago: {text!r}") from None
        except UsageError:
            raise UsageError(
                f"{text!r} is neither a duration nor a time",
                hint="write 30m, 2d, 2026-11-15 or 2026-11-15T05:10",
            ) from None
    else:
        when = when if when.tzinfo else when.astimezone()
    try:
        return when.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        raise UsageError(f"this time is not within the calendar: {text!r}") from None


def short(seconds: float) -> str:
    """A duration in its two largest units, as kubectl has it: `45s`, `3m10s`, `2h`, `3d4h`."""
    left = max(0, int(seconds))
    parts: list[str] = []
    for unit in ("d", "h", "m", "s"):
        count, left = divmod(left, _SECONDS[unit])
        if count or parts:
            parts.append(f"{count}{unit}" if count else "")
    return "".join(parts[:2]) or "0s"


def clock(seconds: float) -> str:
    """A duration as a clock shows it: `0:07`, `12:30`, `1:00:05`."""
    minutes, rest = divmod(max(0, int(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def parse_time(text: str) -> datetime:
    """A time that the server wrote."""
    return datetime.fromisoformat(text)
