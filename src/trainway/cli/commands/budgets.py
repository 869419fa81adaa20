"""`trainway budgets`: what all jobs of a user or label may cost in a month."""

from typing import Final

import click

from trainway.cli.connection import connect
from trainway.cli.cost_text import money
from trainway.cli.job_options import output_option
from trainway.cli.listing import LISTINGS, echo_listing
from trainway.cli.output import echo
from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.budget_rest import BudgetRest

_HEADER: Final = ("NAME", "OF", "MONTHLY", "SPENT", "USED", "STATE")


@click.group("budgets")
def command() -> None:
    """Limit what all jobs of a user or label cost in a month.

    When 80 % is spent, the targets of notifications are told; when all is, the jobs end with the
    cause Budget and new ones are refused. trainway run --max-cost limits one job, or all jobs of
    one run.
    """


@command.command("list")
@output_option(LISTINGS)
def list_budgets(output: str) -> None:
    """List budgets, and what is spent of each in this month."""
    none = "there are no budgets; trainway budgets set makes one"
    echo_listing(_connected().budgets(), output, _HEADER, _row, none)


@command.command("set")
@click.argument("name", metavar="NAME")
@click.option("--user", metavar="USER", help="For all jobs of this user.")
@click.option("--label", metavar="KEY=VALUE", help="For all jobs with this label.")
@click.option(
    "--monthly",
    type=click.FloatRange(0, min_open=True),
    metavar="DOLLARS",
    required=True,
    help="How much they may cost in each month of UTC.",
)
def set_budget(name: str, user: str | None, label: str | None, monthly: float) -> None:
    """Make a budget, or change it: trainway budgets set nlp --label team=nlp --monthly 500."""
    if (user is None) == (label is None):
        raise UsageError(
            "a budget is that of a user or of a label", hint="give --user NAME or --label team=nlp"
        )
    found = _connected().set_budget(name, {"user": user, "label": label, "monthly": monthly})
    echo(f"{found['name']}: {money(found['spent'])} of {money(found['monthly'])} is spent\n")


@command.command("delete")
@click.argument("name", metavar="NAME")
def delete(name: str) -> None:
    """Forget a budget; jobs that it has ended stay as they are."""
    _connected().delete_budget(name)
    echo(f"{name} deleted\n")


def _row(budget: Json) -> list[str]:
    of = f"user {budget['user']}" if budget["user"] else str(budget["label"])
    used = f"{int(100 * budget['spent'] / budget['monthly'])} %"  # 79.9 is not 80
    amounts = [money(budget["monthly"]), money(budget["spent"])]
    return [budget["name"], of, *amounts, used, budget["state"]]


def _connected() -> BudgetRest:
    return BudgetRest(connect().transport)
