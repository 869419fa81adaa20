"""Moments as requests name them: a time, or how long ago."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from trainway.errors import UsageError

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?", re.ASCII)
_SHOWN: Final = 40
"""How many characters are shown of a text that is wrong."""
_UNITS: Final = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}


def moment(text: str, field: str = "since") -> datetime:
    """The moment that a time or a duration means; one before all jobs stands for the beginning."""
    match = _DURATION.fullmatch(text)
    try:
        if match:
            number, unit = match.groups()
            return datetime.now(UTC) - timedelta(seconds=float(number) * _UNITS[unit or "s"])
        found = datetime.fromisoformat(text)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError:
        raise UsageError(f"this time is too long ago: {text[:_SHOWN]!r}", field=field) from None
    except ValueError:
        hint = "write 10m, 2h or 2026-11-15T05:10:00Z"
        said = f"{text[:_SHOWN]!r} is not a time or a duration"
        raise UsageError(said, field=field, hint=hint) from None
