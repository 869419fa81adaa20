"""What a server lists by name, in the form that was asked for with -o."""

import sys
from collections.abc import Callable, Sequence
from typing import Final

from trainway.cli.colours import is_colourful
from trainway.cli.columns import Columns
from trainway.cli.job_text import painter
from trainway.cli.output import echo, echo_line, to_json_list, to_yaml
from trainway.json_types import Json

LISTINGS: Final = ("table", "json", "yaml", "name")


def echo_listing(
    found: Sequence[Json],
    output: str,
    header: Sequence[str],
    row: Callable[[Json], Sequence[str]],
    none: str = "",
) -> None:
    """Print them: as a table with one row each, whole, or only their names.

    `none` is said in place of an empty table.
    """
    if output == "json":
        echo(to_json_list(found))
    elif output == "yaml":
        echo(to_yaml(found))
    elif output == "name":
        echo("".join(f"{each.get('metadata', each)['name']}\n" for each in found))
    elif none and not found:
        echo_line(none)
    else:
        paint = painter(colourful=is_colourful(sys.stdout))
        echo(Columns(header, paint).table([row(each) for each in found]))
