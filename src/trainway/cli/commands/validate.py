"""`trainway validate`: the checks of `explain`, without its output."""

import click

from trainway.cli.compilation import compile_inputs
from trainway.cli.output import echo
from trainway.cli.reading import filename_option, read_inputs


@click.command("validate")
@filename_option
@click.option("-q", "--quiet", is_flag=True, help="Say nothing when all is well.")
def command(filenames: tuple[str, ...], quiet: bool) -> None:
    """Check objects without printing them.

    The checks, the messages and the exit status are those of explain.
    """
    inputs = read_inputs(filenames)
    compile_inputs(inputs, redact=True)
    if not quiet:
        count = len(inputs)
        echo("1 object is valid\n" if count == 1 else f"{count} objects are valid\n")
