"""`trainway explain`: the objects that would be created."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import click

from trainway.cli.compilation import compile_inputs
from trainway.cli.output import echo, echo_line, to_json_list, to_yaml
from trainway.cli.reading import chosen, filename_option, read_inputs
from trainway.cli.run_words import RunCommand, refuse_options, words_argument
from trainway.cli.several_jobs import several_group, several_of, with_options_of
from trainway.cli.slurm_option import slurm_option
from trainway.cli.wishes import infra_option, wishes_group, wishes_of
from trainway.compiler.inputs import Input
from trainway.errors import UsageError
from trainway.families.builtin import PODS
from trainway.jobset.job_name import job_name
from trainway.json_types import Json
from trainway.sdk.manifests import Wishes, with_wishes
from trainway.sdk.slurm_options import Value, parsed, with_options
from trainway.sdk.targets import SCRIPT, command_objects, script_objects

_OWN: Final = "made here"
"""The group of what stands in no file."""
_READ_BY_PODS: Final = ("ConfigMap", "Secret")

_HELP: Final = """Print the objects that jobs turn into.

\b
trainway explain FILE.yaml...         TrainJobs, MPIJobs, JobSets, tasks and training runtimes
trainway explain train.py --lr 0.1    the job of a script
trainway explain -- COMMAND ARGS...   the job of a command

It prints what would be created in a cluster. Built-in runtimes need no file. New keys
are generated each time, and values of secrets are hidden. The options of run describe the job.
For several jobs (--grid, --sweep, --num-jobs) it prints a Run, which has the parameters of each
job, and then the objects of the first job.
"""


@click.command("explain", cls=RunCommand, help=_HELP)
@words_argument("files", "[FILE|SCRIPT] [ARGS]...")
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
    help="Where the job will run; this decides the host names in it.",
)
@click.option("--redact", is_flag=True, help="Replace generated keys with a word.")
@infra_option(
    "Print what would be sent to this place instead, such as k8s/CONTEXT/NAMESPACE. The backend "
    "is asked what it supports, and nothing is submitted. Values of Secrets are hidden. For Slurm "
    "it is the script for sbatch."
)
@slurm_option
@several_group
@wishes_group
@click.pass_context
def command(
    ctx: click.Context,
    /,
    files: tuple[str, ...],
    filenames: tuple[str, ...],
    output: str,
    network: str,
    redact: bool,
    **options: Any,
) -> None:
    """Print them."""
    wishes, several = _without_secrets(wishes_of(options)), several_of(options)
    inputs = _inputs(files, ctx.obj, filenames, wishes, several)
    if not inputs:
        raise UsageError("this file describes a volume", hint="it contains nothing to run")
    given, runs = parsed(options["slurm"]), _runs(inputs, several)
    if wishes.on:
        objects = _planned(inputs, wishes, given, several)
    elif given:
        raise UsageError("--slurm can only be used with --on slurm/CLUSTER")
    else:
        objects = _compiled(_first(inputs, several, runs), network, redact=redact)
    if isinstance(objects, str):
        _say(runs)
        echo(objects)
        return
    echo(to_yaml([*runs, *objects]) if output == "yaml" else to_json_list([*runs, *objects]))


def _compiled(inputs: list[Input], network: str, *, redact: bool) -> list[Json]:
    files_of_pods = [item.data for item in inputs if _is_own(item)]
    rest = [item for item in inputs if not _is_own(item)]
    return [*files_of_pods, *compile_inputs(rest, network=network, redact=redact)]


def _runs(inputs: list[Input], several: Json) -> list[Json]:
    """The run that would be submitted, if it is one."""
    if not several:
        return []
    from trainway.cli.planned_run import planned  # noqa: PLC0415 - only for several jobs

    return [planned(inputs, several)]


def _first(inputs: list[Input], several: Json, runs: list[Json]) -> list[Input]:
    """The inputs of the job that is printed."""
    if not runs:
        return inputs
    from trainway.cli.planned_run import first_inputs  # noqa: PLC0415 - only for several jobs

    return first_inputs(inputs, several, runs[0])


def _say(runs: list[Json]) -> None:
    """Tell beside a script of which jobs it is the first."""
    from trainway.cli.planned_run import lines  # noqa: PLC0415 - only for several jobs

    for line in (line for run in runs for line in lines(run)):
        echo_line(line)


def _without_secrets(wishes: Wishes) -> Wishes:
    if not wishes.secrets:
        return wishes
    from trainway.api.task.variables import MASK  # noqa: PLC0415 - seldom given

    return replace(wishes, secrets=dict.fromkeys(wishes.secrets, MASK))


def _inputs(
    files: tuple[str, ...],
    after: Sequence[str] | None,
    filenames: tuple[str, ...],
    wishes: Wishes,
    several: Json,
) -> list[Input]:
    """What is to be explained: a script, a command, or all objects of some files."""
    if not filenames and files and Path(files[0]).suffix == SCRIPT:
        script, *words = files
        wishes = _somewhere(wishes, Path(script).stem)
        words = with_options_of([*words, *(after or ())], several)
        return _made(script_objects(script, words, wishes), script)
    if not filenames and not files and after:
        wishes = _somewhere(wishes, Path(after[0]).name)
        return _made(command_objects(with_options_of(after, several), wishes), after[0])
    refuse_options(files, click.get_current_context())
    inputs = read_inputs(chosen(filenames, (*files, *(after or ()))), wishes)
    objects = with_wishes([item.data for item in inputs], wishes)
    secrets = objects[: len(objects) - len(inputs)]
    changed = [
        replace(item, data=data) for item, data in zip(inputs, objects[len(secrets) :], strict=True)
    ]
    return [*_made(secrets, "--secret"), *changed]


def _somewhere(wishes: Wishes, name: str) -> Wishes:
    """For a cluster unless another place is named, and under the name that the job begins with."""
    return replace(wishes, on=wishes.on or PODS, name=wishes.name or job_name(name))


def _made(objects: Sequence[Json], source: str) -> list[Input]:
    return [Input(obj, source, _OWN) for obj in objects]


def _is_own(item: Input) -> bool:
    """Whether it was made here for pods to read; what stands in a file is for the compiler."""
    return item.group == _OWN and item.type[1] in _READ_BY_PODS


def _planned(
    inputs: list[Input], wishes: Wishes, slurm: Mapping[str, Value], several: Json
) -> list[Json] | str:
    """The request of a backend, which only the server knows; text where it is a script."""
    from trainway.cli.connection import connect  # noqa: PLC0415 - only with a backend
    from trainway.sdk.rest import Submission  # noqa: PLC0415 - see above
    from trainway.sdk.submitter import job_options  # noqa: PLC0415 - see above

    rest = connect()
    options = {
        **job_options(rest.address, prefer_our_python=False, backend=wishes.on),
        **wishes.isolation(),
        "backend": wishes.on,
        **several,
    }
    given = with_options([item.data for item in inputs], slurm, wishes.on)
    request, warnings = rest.plan(Submission(given, options))
    for warning in warnings:
        echo_line(f"warning: {warning}")
    return request if isinstance(request, list | str) else [request]
