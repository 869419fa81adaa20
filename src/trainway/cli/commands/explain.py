"""`trainway explain`: the objects that would be created."""

import click

from trainway.cli.compilation import compile_inputs
from trainway.cli.output import echo, to_json_list, to_yaml
from trainway.cli.reading import filename_option, read_inputs


@click.command("explain")
@filename_option
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
def command(filenames: tuple[str, ...], output: str, network: str, redact: bool) -> None:
    """Print the objects that jobs turn into.

    Reads any mix of TrainJobs, MPIJobs, JobSets and training runtimes, and prints what would be
    created in a cluster. Built-in runtimes need no file. Keys are generated anew each time.
    """
    objects = compile_inputs(read_inputs(filenames), network=network, redact=redact)
    echo(to_yaml(objects) if output == "yaml" else to_json_list(objects))
