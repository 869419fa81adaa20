"""`trainway validate`: the checks of `explain`, without its output."""

from collections.abc import Sequence
from typing import Any

import click

from trainway.cli.output import echo
from trainway.cli.reading import chosen, filename_option, files_argument, read_inputs
from trainway.cli.variables import env_option, task_options, variables_of
from trainway.compiler.inputs import Input


@click.command("validate")
@files_argument
@filename_option
@env_option
@task_options
@click.option("-q", "--quiet", is_flag=True, help="Print nothing if everything is valid.")
def command(
    files: tuple[str, ...], filenames: tuple[str, ...], quiet: bool, **options: Any
) -> None:
    """Check objects without printing them.

    The checks, the messages and the exit status are those of explain.
    """
    inputs = read_inputs(chosen(filenames, files), variables_of(options))
    _check(inputs)
    if not quiet:
        count = sum(item.type[1] != "Secret" for item in inputs) or 1
        echo("1 object is valid\n" if count == 1 else f"{count} objects are valid\n")


def _check(inputs: Sequence[Input]) -> None:
    """Compile them; what only has tasks goes without the compiler of other kinds, which is slow."""
    from trainway.cli.task_check import check_tasks  # noqa: PLC0415 - see above

    if not check_tasks(inputs):
        from trainway.cli.compilation import compile_inputs  # noqa: PLC0415 - see above

        compile_inputs(inputs, redact=True)
