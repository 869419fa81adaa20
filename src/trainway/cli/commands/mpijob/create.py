"""`trainway mpijob create`: an MPIJob of a few words, or of a file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import click

from trainway.api.mpijob_wishes import IMPLEMENTATIONS, MPIJobWishes, advice, mpijob_of, problems
from trainway.api.pod_wishes import NVIDIA_GPU, ResourceRequirements
from trainway.cli.kubectl_options import (
    FORMATS,
    Target,
    carry_out,
    output_option,
    target_of,
    target_options,
)
from trainway.cli.mpijob_printing import printed, title, told
from trainway.cli.output import echo, echo_line
from trainway.cli.reading import filename_option
from trainway.cli.refusal import RefusedError
from trainway.cli.times import parse_duration
from trainway.errors import TrainwayError, UsageError
from trainway.json_types import Json
from trainway.schema.field import FieldError

_WISHES: Final = ("image", "command", "workers", "slots_per_worker", "mpi_implementation", "queue")
_OTHERS: Final = ("mpirun", "retries")
_AMOUNTS: Final = ("cpu", "memory", "gpu", "gpu_resource")

_HELP: Final = """Create an MPIJob.

\b
trainway mpijob create train --image team/train:v1 --command "python train.py" --workers 4 --gpu 1
trainway mpijob create -f train.yaml

Every worker runs as many processes of the command as it has GPUs, or one; mpirun starts them. A
command that begins with mpirun or horovodrun is run as it is. Pods get no Istio sidecar and no
access to the Kubernetes API, and workers are removed when the job ends. With --queue, Kueue starts
all pods together as soon as there is room.
"""


@click.command("create", help=_HELP)
@click.argument("name", required=False)
@filename_option
@click.option("--image", metavar="IMAGE", help="The image of launcher and workers.")
@click.option("--command", metavar="COMMAND", help="What each process runs.")
@click.option("--workers", type=int, metavar="N", help="How many workers; by default 2.")
@click.option("--cpu", metavar="AMOUNT", help="CPUs of each worker: 8, 500m.")
@click.option("--memory", metavar="AMOUNT", help="Memory of each worker: 64Gi.")
@click.option("--gpu", type=int, metavar="N", help="GPUs of each worker.")
@click.option("--gpu-resource", metavar="NAME", help=f"Their name; by default {NVIDIA_GPU}.")
@click.option(
    "--slots-per-worker",
    type=int,
    metavar="N",
    help="Processes on each worker; by default one for each GPU, or one.",
)
@click.option(
    "--mpi-implementation",
    type=click.Choice(IMPLEMENTATIONS, case_sensitive=False),
    help="The MPI that the image has; by default OpenMPI.",
)
@click.option("--queue", metavar="NAME", help="Wait in this LocalQueue of Kueue.")
@click.option("--env", "env", multiple=True, metavar="NAME=VALUE", help="A variable.")
@click.option("--label", "labels", multiple=True, metavar="KEY=VALUE", help="A label.")
@click.option(
    "--mpirun/--no-mpirun", default=None, help="Put mpirun before the command, or do not."
)
@click.option("--retries", type=int, metavar="N", help="Try a launcher again; by default once.")
@click.option("--timeout", metavar="TIME", help="Let the job fail if it runs longer: 30m, 2h.")
@target_options
@click.option(
    "--dry-run",
    type=click.Choice(["none", "client", "server"]),
    is_flag=False,
    flag_value="client",
    default="none",
    help="Create nothing: only print it (client), or let the cluster check it (server).",
)
@output_option(*FORMATS)
@click.option("--wait", is_flag=True, help="Wait for the end; exit with 4 if the job fails.")
@click.option("--wait-timeout", metavar="TIME", help="Wait at most so long, then exit with 5.")
def create(name: str | None, filenames: tuple[str, ...], **options: Any) -> int:
    """Create it, and maybe wait for its end."""
    target = target_of(options)
    output, dry_run = options.pop("output"), options.pop("dry_run")
    wait, limit = options.pop("wait"), options.pop("wait_timeout")
    seconds = None if limit is None else parse_duration(limit)
    jobs = _jobs(name, filenames, options, target.namespace or "")
    if dry_run == "client":
        echo(printed(jobs, output or "", "created (dry run)"))
        return 0
    word = "created (server dry run)" if dry_run == "server" else "created"
    made, code = carry_out(_create(target, jobs, dry_run=dry_run == "server"))
    if made:
        echo(printed(made, output or "", word))
    if dry_run == "server" or not (wait or seconds is not None):
        return code
    from trainway.cli.mpijob_waiting import wait_for  # noqa: PLC0415 - needs the extra

    return carry_out(wait_for(target, made, seconds)) or code


async def _create(target: Target, jobs: Sequence[Json], *, dry_run: bool) -> tuple[list[Json], int]:
    """Those that could be created, and the exit status."""
    made, code = [], 0
    async with target.mpijobs() as there:
        for job in jobs:
            place = job["metadata"].get("namespace") or there.namespace
            here = replace(there, namespace=place)
            try:
                made.append(await here.create(job, dry_run=dry_run))
            except TrainwayError as error:
                code = told(error, jobs)
                continue
            if warning := await here.queue_warning(job):
                echo_line(f"warning: {warning}")
    return made, code


def _jobs(
    name: str | None, filenames: Sequence[str], options: Mapping[str, Any], namespace: str
) -> list[Json]:
    given = [key for key, value in options.items() if value not in (None, ())]
    if filenames:
        if name is not None or given:
            what = f"--{given[0].replace('_', '-')}" if given else f"the name {name}"
            raise UsageError(
                f"-f and {what} cannot be given together", hint="change the file instead"
            )
        return _of_files(filenames, namespace)
    if name is None:
        raise UsageError(
            "there is neither a name nor a file",
            hint="give a name with --image and --command, or a manifest with -f",
        )
    wishes = _wishes(name, options, namespace)
    if wrong := problems(wishes):
        raise RefusedError([f"error: {_named(each)}" for each in wrong], UsageError.exit_code)
    for line in advice(wishes):
        echo_line(line)
    return [mpijob_of(wishes)]


def _named(error: FieldError) -> str:
    """What is wrong, at the name of the option."""
    wish, *_ = error.path
    option = {"name": "NAME", "labels": "--label"}.get(str(wish), f"--{wish}".replace("_", "-"))
    return str(replace(error, path=(option,)))


def _wishes(name: str, options: Mapping[str, Any], namespace: str) -> MPIJobWishes:
    amounts = {key: options[key] for key in _AMOUNTS if options[key] is not None}
    wanted = {key: options[key] for key in (*_WISHES, *_OTHERS) if options[key] is not None}
    if options["timeout"] is not None:
        wanted["timeout"] = int(parse_duration(options["timeout"]))
    return MPIJobWishes(
        name=name,
        namespace=namespace,
        resources=ResourceRequirements(**amounts),
        env=_pairs("--env", options["env"]),
        labels=_pairs("--label", options["labels"]),
        **wanted,
    )


def _pairs(option: str, given: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for text, (key, sign, _) in zip(given, pairs, strict=True):
        if not key or not sign:
            raise UsageError(f"{option} {text}: it must be NAME=VALUE")
    return {key: value for key, _, value in pairs}


def _of_files(filenames: Sequence[str], namespace: str) -> list[Json]:
    """The MPIJobs of files, checked as the webhooks of a cluster check them."""
    from trainway.cli.compilation import compile_inputs  # noqa: PLC0415 - slow, and for files alone
    from trainway.cli.reading import read_inputs  # noqa: PLC0415 - as above

    inputs = read_inputs(filenames)
    others = [item for item in inputs if item.type[1] != "MPIJob"]
    if others:
        raise TrainwayError(
            f"{others[0].source}: {others[0].type[1] or 'an object'} is no MPIJob",
            hint="create other kinds with kubectl apply -f",
        )
    compile_inputs(inputs, redact=True)
    jobs = [item.data for item in inputs]
    for job in jobs:
        written = job["metadata"].get("namespace")
        if namespace and written and written != namespace:
            raise UsageError(
                f'"{title(job)}" is for namespace "{written}", and -n names another',
                hint="leave out -n, or change the file",
            )
        if namespace:
            job["metadata"]["namespace"] = namespace
    return jobs
