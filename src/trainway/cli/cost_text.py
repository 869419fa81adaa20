"""Money as people read it."""

from datetime import datetime
from typing import Final

from trainway.cli.times import parse_time
from trainway.json_types import Json

_CENT: Final = 0.01


def money(amount: float) -> str:
    """An amount: `$1,234.50`, with more digits where cents would not show it."""
    return f"${amount:.4f}" if 0 < amount < _CENT else f"${amount:,.2f}"


def spent(usage: Json, now: datetime) -> float | None:
    """What a job has cost until now; None: nobody has said a price."""
    if usage.get("cost") is None:
        return None
    since = usage.get("costSince")
    hours = max((now - parse_time(since)).total_seconds(), 0) / 3600 if since else 0
    return float(usage["cost"] + hours * (usage.get("pricePerHour") or 0))


def cost_text(status: Json, now: datetime) -> str:
    """What a job has cost, what each attempt did, and what it may cost; empty: no price is said."""
    usage = status.get("usage") or {}
    amount = spent(usage, now)
    budget = status.get("budget") or {}
    limit = f" of at most {money(budget['limit'])}" if budget else ""
    if amount is None:
        return f"at most {money(budget['limit'])}; no price is known" if budget else ""
    parts = [money(amount) + limit]
    if usage.get("pricePerHour") is not None:
        parts.append(f"{money(usage['pricePerHour'])} an hour")
    if usage.get("saved"):
        parts.append(f"{money(usage['saved'])} less than on demand")
    ended = [each for each in usage.get("attempts") or () if each.get("cost") is not None]
    if len(ended) > 1:
        each = ", ".join(f"attempt {one['attempt'] + 1} {money(one['cost'])}" for one in ended)
        parts.append(each)
    if budget.get("ended"):
        parts.append("the budget is spent")
    elif budget.get("warned"):
        parts.append("80 % of the budget is spent")
    return "; ".join(parts)
