"""`trainway explain`: the objects that would be created."""

from collections.abc import Mapping
from typing import Any

import click

from trainway.cli.compilation import compile_inputs
from trainway.cli.output import echo, echo_line, to_json_list, to_yaml
from trainway.cli.reading import chosen, filename_option, files_argument, read_inputs
from trainway.cli.slurm_option import slurm_option
from trainway.cli.variables import env_option, overrides, task_options
from trainway.compiler.inputs import Input
from trainway.errors import UsageError
from trainway.sdk.slurm_options import Value, parsed, with_options

Json = dict[str, Any]


@click.command("explain")
@files_argument
@filename_option
@env_option
@task_options
@click.option(
    "-o",
    "--output",
    type=click.Choice(["yaml", "json"]),
    default="yaml",
    show_default=True,
    help="YAML documents, or one JSON List.",
)
@click.option(
    "--network",
    type=click.Choice(["kubernetes"]),
    default="kubernetes",
    show_default=True,
    help="Where the job is to run, which decides the host names in it.",
)
@click.option("--redact", is_flag=True, help="Put a word in place of generated keys.")
@click.option(
    "--on",
    "backend",
    metavar="NAME",
    help="Print what would be sent there instead, such as k8s/CONTEXT/NAMESPACE. It asks the "
    "backend what it understands, and sends nothing. Values of Secrets are hidden. Of Slurm it is "
    "the script, as sbatch takes it.",
)
@slurm_option
@click.option(
    "--num-jobs",
    type=click.IntRange(min=1),
    help="With --on, what would be sent for the first of so many jobs; to Slurm they go as one.",
)
def command(
    files: tuple[str, ...],
    filenames: tuple[str, ...],
    output: str,
    network: str,
    redact: bool,
    backend: str | None,
    **options: Any,
) -> None:
    """Print the objects that jobs turn into.

    Reads any mix of TrainJobs, MPIJobs, JobSets, tasks and training runtimes, and prints what would
    be created in a cluster. Built-in runtimes need no file. Keys are generated anew each time.
    """
    inputs = read_inputs(chosen(filenames, files), overrides(options))
    if not inputs:
        raise UsageError("it makes a volume", hint="there is nothing in it to run")
    given, count = parsed(options["slurm"]), options["num_jobs"]
    if backend:
        objects = _planned(inputs, backend, given, count)
    elif given:
        raise UsageError("--slurm is for --on slurm/CLUSTER")
    elif count:
        raise UsageError("--num-jobs is for --on")
    else:
        objects = compile_inputs(inputs, network=network, redact=redact)
    if isinstance(objects, str):
        echo(objects)
        return
    echo(to_yaml(objects) if output == "yaml" else to_json_list(objects))


def _planned(
    inputs: list[Input], backend: str, slurm: Mapping[str, Value], count: int | None
) -> list[Json] | str:
    """The request of a backend, which only the server knows; text where it is a script."""
    from trainway.cli.connection import connect  # noqa: PLC0415 - only with a backend
    from trainway.sdk.rest import Submission  # noqa: PLC0415 - see above
    from trainway.sdk.submitter import job_options  # noqa: PLC0415 - see above

    rest = connect()
    options = {
        **job_options(rest.address, prefer_our_python=False, backend=backend),
        "backend": backend,
        **({"num_jobs": count} if count else {}),
    }
    given = with_options([item.data for item in inputs], slurm, backend)
    request, warnings = rest.plan(Submission(given, options))
    for warning in warnings:
        echo_line(f"warning: {warning}")
    return request if isinstance(request, list | str) else [request]
