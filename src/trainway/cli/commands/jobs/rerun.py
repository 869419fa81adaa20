"""`trainway jobs rerun`: the same job again, or with a difference, which is shown first."""

import difflib

import click

from trainway.cli.connection import connect
from trainway.cli.job_options import jobs_argument
from trainway.cli.output import echo, echo_line, to_yaml
from trainway.cli.variables import env_option, given
from trainway.json_types import Json
from trainway.sdk.reruns import Difference, preview
from trainway.sdk.reruns import rerun as submit


@click.command("rerun")
@jobs_argument
@env_option
@click.option(
    "--set",
    "settings",
    metavar="PATH=VALUE",
    multiple=True,
    help="Set a field of the job, such as spec.trainer.numNodes=4 (of a task: num_nodes=4). In a"
    " list, name the item or give its index. The value is YAML; null removes the field.",
)
@click.option("--dry-run", is_flag=True, help="Only show the difference, and submit nothing.")
def rerun(
    refs: tuple[str, ...], variables: tuple[str, ...], settings: tuple[str, ...], *, dry_run: bool
) -> None:
    """Submit the same jobs again, and print their names and new ids.

    With --env and --set the new job differs: the difference is printed on stderr first.
    """
    wanted = Difference(given("--env", variables), settings)
    rest = connect()
    ids = [rest.get(ref)["metadata"]["id"] for ref in refs]
    if wanted or dry_run:
        for found in [preview(rest, id_, wanted) for id_ in ids]:
            _show(found)
    if dry_run:
        return
    for id_ in ids:
        again = submit(rest, id_, wanted)
        echo(f"{again['metadata']['name']} {again['metadata']['id']}\n")


def _show(found: Json) -> None:
    before, after = (to_yaml(found[key]).splitlines() for key in ("before", "after"))
    lines = list(difflib.unified_diff(before, after, "before", "after", lineterm=""))
    for line in lines or ["no difference"]:
        echo_line(line)
    for warning in found["warnings"]:
        echo_line(f"warning: {warning}")
