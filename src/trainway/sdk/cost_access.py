"""What a client asks about hours and money."""

from datetime import datetime, timedelta

from trainway.json_types import Json
from trainway.sdk.budget_rest import BudgetRest
from trainway.sdk.rest import Rest
from trainway.sdk.since import since_text


class CostAccess:
    """The part of a client that knows what jobs used and cost."""

    _rest: Rest

    def usage(
        self,
        by: str | None = None,
        key: str | None = None,
        since: timedelta | datetime | None = None,
    ) -> Json:
        """GPU-hours, CPU-hours and cost of all jobs.

        They are added up by `user`, `backend`, `day`, `job`, `attempt` or the `label` `key`.
        """
        return self._rest.usage(by, key, since_text(since))

    def budgets(self) -> list[Json]:
        """The budgets of months, and how they stand."""
        return BudgetRest(self._rest.transport).budgets()

    def set_budget(
        self, name: str, *, monthly: float, user: str | None = None, label: str | None = None
    ) -> Json:
        """Make or change what all jobs of a user, or with a label `KEY=VALUE`, may cost."""
        budget = {"user": user, "label": label, "monthly": monthly}
        return BudgetRest(self._rest.transport).set_budget(name, budget)
