"""Budgets: how much a job may cost in all, or all jobs of a user or label in a month. Pure.

At 80 % somebody is warned, once; at 100 % what runs is ended. Both are written down with what they
do, so that a server that is killed in between neither forgets it nor does it twice. Months are
those of UTC.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Final

from trainway.jobset.labels import USER
from trainway.json_types import Json

WARNED_AT: Final = Decimal("0.8")
EXCEEDED: Final = "BudgetExceeded"
"""The reason of a job that its budget, or that of its user or label, has ended."""
WARNING: Final = "BudgetWarning"
"""The reason of the event that says that little is left."""


class Standing(StrEnum):
    """How much of a budget is spent."""

    FINE = "fine"
    NEAR = "near"
    """80 % or more."""
    SPENT = "spent"
    """All of it, or more."""


def standing(spent: Decimal, limit: Decimal) -> Standing:
    """How a budget stands."""
    if spent >= limit:
        return Standing.SPENT
    return Standing.NEAR if spent >= limit * WARNED_AT else Standing.FINE


def hours_left(spent: Decimal, limit: Decimal, hourly: Decimal) -> Decimal | None:
    """How many hours it is until a budget stands otherwise; None: it will not."""
    if hourly <= 0 or spent >= limit:
        return None
    mark = limit * WARNED_AT
    return ((mark if spent < mark else limit) - spent) / hourly


def money(amount: Decimal) -> str:
    """An amount for people: `$12.30`, and `$0.0042` where cents would not show it."""
    return f"${amount:.4f}" if 0 < amount < Decimal("0.01") else f"${amount:,.2f}"


@dataclass(frozen=True)
class JobBudget:
    """What one job, all jobs of a run, or one cluster may cost in all."""

    limit: Decimal
    warned: str = ""
    """When somebody was told that little is left; empty: nobody was."""
    ended: str = ""
    """When it was told that a cluster is taken down, or a run ended; of jobs, their phase says
    it."""
    account: str = ""
    """Of a run: what its jobs are charged to."""

    def text(self) -> str:
        """For the column `budget`."""
        told = {"limit": str(self.limit), "warned": self.warned}
        more = {"ended": self.ended, "account": self.account}
        return json.dumps(told | {name: value for name, value in more.items() if value})

    @classmethod
    def of(cls, text: str | None) -> "JobBudget | None":
        """What `text` wrote; None: it may cost anything."""
        if not text:
            return None
        data = json.loads(text)
        more = (data.get(name, "") for name in ("ended", "account"))
        return cls(Decimal(data["limit"]), data["warned"], *more)

    def view(self) -> Json:
        """As the API shows it."""
        return {"limit": float(self.limit), "warned": self.warned or None}


@dataclass(frozen=True)
class Budget:
    """What all jobs and clusters with a label may cost in each month; users are a label too."""

    name: str
    subject: str
    """`KEY=VALUE`, of a label."""
    monthly: str
    created: str
    warned: str = ""
    """The month in which somebody was told that little is left."""
    spent_up: str = ""
    """The month in which it was spent, so that nothing begins any more."""

    @property
    def limit(self) -> Decimal:
        """The amount of a month."""
        return Decimal(self.monthly)

    @property
    def who(self) -> str:
        """Whose budget it is, in words."""
        key, _, value = self.subject.partition("=")
        return f"user {value}" if key == USER else f"label {self.subject}"

    def covers(self, labels: Mapping[str, str]) -> bool:
        """Whether a job or cluster with these labels spends it."""
        key, _, value = self.subject.partition("=")
        return labels.get(key) == value

    def now(self, month: str, spent: Decimal) -> "Budget":
        """The budget with what is to be done written down; the same one: nothing is."""
        found = standing(spent, self.limit)
        changed = self
        if found is not Standing.FINE and self.warned != month:
            changed = replace(changed, warned=month)
        if found is Standing.SPENT and self.spent_up != month:
            changed = replace(changed, spent_up=month)
        if found is not Standing.SPENT and self.spent_up == month:
            changed = replace(changed, spent_up="")
        return changed

    def told(self, spent: Decimal) -> str:
        """How it stands, in words."""
        amounts = f"{money(spent)} of {money(self.limit)}"
        return f"the monthly budget {self.name} of {self.who} stands at {amounts}"

    def view(self, month: str, spent: Decimal) -> Json:
        """As the API shows it."""
        key, _, value = self.subject.partition("=")
        return {
            "name": self.name,
            "user": value if key == USER else None,
            "label": None if key == USER else self.subject,
            "monthly": float(self.limit),
            "month": month,
            "spent": float(round(spent, 6)),
            "state": standing(spent, self.limit),
            "warned": self.warned == month,
        }
