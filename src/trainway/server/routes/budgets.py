"""Budgets of months: what all jobs of a user or label may cost."""

from decimal import Decimal

from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from trainway.engine.jobs import Engine
from trainway.errors import UsageError
from trainway.jobset.label_syntax import key_problem, value_problem
from trainway.jobset.labels import USER
from trainway.server.api import Api
from trainway.server.json_answer import JsonAnswer
from trainway.server.models import Shown
from trainway.server.paths import BASE_PATH


class BudgetRequest(BaseModel):
    """Whose budget it is, and how much there is in a month."""

    model_config = ConfigDict(extra="forbid")

    user: str | None = Field(None, max_length=63, description="jobs of this user; or")
    label: str | None = Field(None, max_length=400, description="jobs with this label, `KEY=VALUE`")
    monthly: float = Field(gt=0, le=1e9, description="dollars for each month of UTC")


class BudgetView(Shown):
    """A budget, and how it stands."""

    name: str
    user: str | None
    label: str | None
    monthly: float
    month: str = Field(description="the month that it is now, in UTC: `2026-11`")
    spent: float = Field(description="what its jobs have cost in this month, until now")
    state: str = Field(description="`fine`; `near`: 80 % or more is spent; `spent`: all is")
    warned: bool = Field(description="whether somebody was told so in this month")


class BudgetList(Shown):
    """All budgets, by name."""

    items: list[BudgetView]


def add_budget_routes(api: Api, engine: Engine) -> None:
    """The routes of budgets."""
    budgets = engine.costs.budgets
    path = f"{BASE_PATH}/budgets/{{name}}"

    @api.get(f"{BASE_PATH}/budgets", tags=["jobs"], response_model=BudgetList)
    async def all_budgets() -> Response:
        """List all budgets, by name, and what is spent of each."""
        return JsonAnswer({"items": budgets.views()})

    @api.put(path, tags=["jobs"], response_model=BudgetView)
    async def put(name: str, body: BudgetRequest) -> Response:
        """Make a budget, or change the one of that name."""
        problem = value_problem(name) or ("" if name else "a budget needs a name")
        if problem:
            raise UsageError(f"the name of the budget: {problem}", field="name")
        amount = Decimal(str(body.monthly))
        return JsonAnswer(await budgets.put(name, _subject(body), amount))

    @api.delete(path, tags=["jobs"], response_model=BudgetView)
    async def delete(name: str) -> Response:
        """Forget a budget; what it has ended stays ended."""
        return JsonAnswer(await budgets.delete(name))


def _subject(body: BudgetRequest) -> str:
    """The label whose jobs are meant, `KEY=VALUE`."""
    if bool(body.user) == bool(body.label):
        raise UsageError(
            "a budget is that of a user or of a label", field="user", hint="give one of them"
        )
    key, _, value = (body.label or "").partition("=")
    if body.user:
        key, value = USER, body.user
    problem = key_problem(key) or value_problem(value) or ("" if value else "the value is empty")
    if problem:
        raise UsageError(problem, field="user" if body.user else "label", hint="write team=nlp")
    return f"{key}={value}"
