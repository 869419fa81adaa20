"""`trainway optimize`: the cheapest machines of all clouds for a task; nothing is launched."""

from typing import Final

import click

from trainway.api.task import task_object
from trainway.api.task.infra import Infra, parse
from trainway.api.task.pipeline import dependencies, titles
from trainway.api.task.task_file import PARALLEL, TaskFile
from trainway.cli.catalog_reading import user_catalog
from trainway.cli.job_options import output_option
from trainway.cli.optimizer_text import as_json, as_table
from trainway.cli.output import echo, echo_line, to_json
from trainway.cli.own_price_reading import user_prices, user_reservations
from trainway.cli.reading import read_inputs
from trainway.cli.refusal import RefusedError
from trainway.errors import InvalidError, NotFoundError, UsageError
from trainway.optimizer.own_machines import OwnOffer, own_offers
from trainway.optimizer.plan import Objective, Plan, plan
from trainway.optimizer.regions import HOME, PARTS
from trainway.optimizer.request import TaskRequest, task_request
from trainway.optimizer.rules import allowing
from trainway.optimizer.search import Search

_HELP: Final = """Show the cheapest machines of all clouds that fit a task.

\b
trainway optimize task.yaml
trainway optimize task.yaml --infra aws,gcp/us-central1
trainway optimize task.yaml -o json

Every instance type, region and zone of the catalog that fits is considered. A pipeline is
optimised as a whole, with what it costs to bring data from one region to another (`outputs` of a
task); the tasks of a job group are in one region. Own machines stand beside them where config.yaml
has prices. Nothing is launched, and clouds that Trainway cannot launch on are considered too.

Of equal prices a region near you counts (--near), then the cloud and region that come first in the
alphabet. TRAINWAY_CATALOG names a folder of catalog files, one CLOUD.csv or CLOUD.csv.gz each.

Exit status: 0 done, 1 the task is wrong, 2 wrong usage, 3 nothing fits.
"""


@click.command("optimize", help=_HELP)
@click.argument("file", metavar="FILE")
@click.option(
    "--infra", metavar="CLOUD[/REGION[/ZONE]]",
    help="Only there, whatever the task says; several with commas.",
)  # fmt: skip
@click.option(
    "--minimize", type=click.Choice([each.value for each in Objective]),
    default=Objective.COST.value, show_default=True,
    help="What is to be least: the cost, or the time until the end.",
)  # fmt: skip
@click.option(
    "--near", type=click.Choice(PARTS), default=HOME, show_default=True,
    help="The part of the world whose regions come first where prices are equal.",
)  # fmt: skip
@click.option(
    "--allow", multiple=True, metavar="RULE",
    help="Consider what is left out as a rule: arm64, burstable, retired, promotional, opt-in, or"
    " all. May be given several times.",
)  # fmt: skip
@output_option(("table", "json"))
def command(
    file: str, infra: str | None, minimize: str, near: str, allow: tuple[str, ...], output: str
) -> int:
    """Choose, and print what was chosen."""
    tasks = _tasks(file)
    places = _places(infra)
    requests = [
        _at(task_request(title, task), places)
        for title, task in zip(titles(tasks.tasks), tasks.tasks, strict=True)
    ]
    is_group = tasks.execution == PARALLEL and len(requests) > 1
    after = {} if is_group else dependencies(tasks.tasks)
    with user_catalog() as catalog:
        search = Search(catalog, allowing(allow), reservations=user_reservations())
        prices = user_prices()
        own = [own_offers(each.requests, prices) for each in requests]
        try:
            found = plan(
                *(search, requests, after),
                objective=Objective(minimize),
                near=near,
                is_group=is_group,
            )
        except NotFoundError as error:
            raise _with_own(error, own) from None
        if output == "json":
            echo(to_json(as_json(found, own)))
        else:
            _show(found, requests, search, own, is_group=is_group)
    return 0


def _tasks(file: str) -> TaskFile:
    inputs = [item for item in read_inputs([file]) if not task_object.is_task_secret(item.data)]
    if len(inputs) != 1 or inputs[0].type != (task_object.API_VERSION, task_object.KIND):
        raise UsageError(
            f"{file}: this is not a task",
            hint="a task has run, setup or resources; see docs/tasks.md",
        )
    job, errors = task_object.read(inputs[0].data)
    if job is None:
        lines = [f"{file}: {error}" for error in errors]
        raise RefusedError(lines, exit_code=InvalidError.exit_code)
    return job.file


def _places(infra: str | None) -> list[Infra]:
    try:
        return [parse(part) for part in infra.split(",")] if infra else []
    except ValueError as error:
        raise UsageError(f"--infra: {error}") from error


def _at(task: TaskRequest, places: list[Infra]) -> TaskRequest:
    return task.at(places) if places else task


def _with_own(error: NotFoundError, own: list[list[OwnOffer]]) -> NotFoundError:
    """The error, with the own machines that would do, if there are some for each task."""
    if not own or not all(own):
        return error
    told = ", ".join(
        f"{offers[0].place} at ${offers[0].hourly * offers[0].request.nodes:.2f} an hour"
        for offers in own
    )
    return NotFoundError(
        str(error),
        hint=f"Own machines would do if they have room, which `trainway plan` says: {told}.",
    )


def _show(
    found: Plan,
    requests: list[TaskRequest],
    search: Search,
    own: list[list[OwnOffer]],
    *,
    is_group: bool,
) -> None:
    for choice, task, ours in zip(found.choices, requests, own, strict=True):
        title = f"Task {choice.name}. " if len(requests) > 1 else ""
        echo(title + as_table(choice, task, search, ours))
    if is_group:
        offer = found.choices[0].offer
        echo_line(
            f"All tasks together: ${found.hourly_price:.2f} an hour, in"
            f" {offer.machine.cloud} ({offer.region}). They run side by side, so they are in one"
            " region."
        )
    elif len(requests) > 1:
        echo_line(
            f"All tasks together: ${found.total_cost:.2f} if each takes an hour, of which data"
            f" between regions ${found.egress_cost:.2f}."
        )
