"""What may be asked for beside the thing to run, by the commands that run or explain a job."""

import re
from collections.abc import Callable
from typing import Any, Final

import click

from trainway.cli.completions import complete_infras, complete_runtimes
from trainway.cli.duration_option import checked_duration
from trainway.cli.times import parse_duration
from trainway.cli.variables import env_option, given_variables, task_options
from trainway.errors import UsageError
from trainway.families.table import family_of
from trainway.sdk.manifests import Resources, Wishes
from trainway.sdk.node_range import NodeRange, parse_nodes
from trainway.sdk.recovery_strategy import STRATEGIES
from trainway.sdk.run_options import checked_exit_codes, whole_seconds

Command = Callable[..., Any]
_BYTES: Final = re.compile(r"([0-9.]+) ?([kmgtKMGT])i?[bB]?")
"""How other tools write an amount of memory: 4GB, 4 GiB, 4g."""


class _Amount(click.ParamType[str]):
    """An amount of something, as Kubernetes writes it."""

    name = "amount"
    _LIKE: Final = {"cpus": "2, 0.5 or 500m", "gpus": "8"}

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check it; it is sent as it was written."""
        from trainway.jobset.quantity import InvalidQuantityError, Quantity  # noqa: PLC0415 - slow

        try:
            is_negative = Quantity.parse(str(value)) < Quantity()
        except InvalidQuantityError:
            found = _BYTES.fullmatch(str(value))
            name = str(param.name) if param is not None else ""
            like = f"{found[1]}{found[2].upper()}i" if found else "4Gi or 500M"
            like = self._LIKE.get(name, like)
            self.fail(f"{value!r} is not an amount; write {like}", param, ctx)
        if is_negative:
            self.fail(f"{value!r} is negative", param, ctx)
        return str(value)


class _GpuCount(_Amount):
    """A number of GPUs, which may be of a type where machines are rented: A100:8."""

    name = "number"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check it."""
        kind, _, count = str(value).partition(":")
        if not kind[:1].isalpha():
            return super().convert(value, param, ctx)
        super().convert(count or "1", param, ctx)
        return str(value)


_AMOUNT: Final = _Amount()


class _Nodes(click.ParamType[NodeRange]):
    """A number of nodes, or MIN:MAX."""

    name = "number"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> NodeRange:
        """What was written."""
        if isinstance(value, NodeRange):
            return value
        try:
            return parse_nodes(str(value))
        except UsageError as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)


class _Duration(click.ParamType[int]):
    """A time that something may take, in seconds."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The seconds."""
        if isinstance(value, int):
            return value
        try:
            return whole_seconds(parse_duration(str(value)))
        except UsageError as error:
            self.fail(f"{error.message}{f'; {error.hint}' if error.hint else ''}", param, ctx)


class _ExitCodes(click.ParamType[tuple[int, ...]]):
    """Exit codes, with commas between them."""

    name = "codes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """The numbers."""
        if isinstance(value, tuple):
            return value
        try:
            return checked_exit_codes([value])
        except UsageError as error:
            self.fail(f"{error.message}; {error.hint}", param, ctx)


def wishes_group(command: Command) -> Command:
    """All options that say something of the job itself."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def infra_option(help_text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """`--on`, or `--infra` as SkyPilot has it."""
    return click.option(
        "--on",
        "--infra",
        "backend",
        metavar="BACKEND",
        help=help_text,
        required=required,
        shell_complete=complete_infras,
    )


prefer_option: Final = click.option(
    "--prefer",
    type=click.Choice(["cost", "order"]),
    help="What counts between places where the job fits equally well: the cost, or the order in"
    " which --on lists them. The default is the order of a list, and the cost with --on any.",
)


max_wait_option: Final = click.option(
    "--max-wait",
    metavar="DURATION",
    callback=checked_duration,
    help="With several places: how long the job may wait at one, such as 10m. After that, or if it"
    " is refused there, it is withdrawn and goes to the next one.",
)


recovery_option: Final = click.option(
    "--recovery-strategy",
    type=click.Choice(STRATEGIES, case_sensitive=False),
    help="What follows when the place of the job is lost, or preempts it. With failover it is"
    " tried again there first, with eager-next it goes to the next place of --on at once, and with"
    " none it fails. By default its place starts it again.",
)


def _part_gpus(options: dict[str, Any]) -> None:
    """Part the type of GPUs from their number; it counts where machines are rented."""
    kind, _, count = str(options["gpus"] or "").partition(":")
    if not kind[:1].isalpha():
        return
    places = str(options["backend"] or "").split(",")
    if not any(family_of(place.strip()).rents for place in places if place.strip()):
        value, number = options["gpus"], count or 1
        raise click.BadParameter(
            f"{value!r} names a type of GPU, and this command takes only a number: --gpus "
            f"{number}. Rented machines, tasks and clusters accept types: --on cloud --gpus "
            f"{value}, or trainway launch --gpus {value}",
            ctx=click.get_current_context(),
            param_hint="'--gpus'",
        )
    options |= {"gpus": count or "1", "accelerator": kind}


def wishes_of(options: dict[str, Any]) -> Wishes:
    """What the options say."""
    _part_gpus(options)
    told = given_variables(options)
    nodes: NodeRange | None = options["nodes"]
    return Wishes(
        name=options["name"],
        nodes=None if nodes is None else nodes.maximum,
        min_nodes=None if nodes is None else nodes.minimum,
        procs_per_node=options["procs_per_node"],
        resources=Resources(
            options["cpus"], options["memory"], options["gpus"], options["memory_limit"]
        ),
        env=told.env,
        runtime=options["runtime"],
        image=options["image"],
        restarts=options["restarts"],
        recover_on_exit_codes=options["recover_on_exit_codes"],
        on=options["backend"],
        containers=options["containers"],
        secrets=told.secrets,
        timeout=options["timeout"],
    )


_OPTIONS: Final[tuple[Callable[[Command], Command], ...]] = (
    click.option(
        "-n", "--name", help="The name of the job; by default that of the file or program."
    ),
    click.option(
        "--nodes",
        "--num-nodes",
        type=_Nodes(),
        metavar="[MIN:]MAX",
        help="Number of nodes. With MIN, a torch job goes on with fewer when one is lost,"
        " and on SSH hosts it starts with as many as fit.",
    ),
    click.option("--procs-per-node", type=click.IntRange(min=1), help="Processes on each node."),
    click.option(
        "--cpus",
        type=_AMOUNT,
        help="CPUs for each node: 2, 0.5, 500m. It is a request, and a limit on Slurm only.",
    ),
    click.option(
        "--memory",
        type=_AMOUNT,
        help="Memory for each node: 4Gi, 500M. It is a limit too: always in pods, on Slurm where"
        " the cluster limits memory, and elsewhere where a control group is delegated to the user.",
    ),
    click.option(
        "--memory-limit",
        type=_AMOUNT,
        help="The memory limit, if it differs from --memory. On Slurm the limit is --memory.",
    ),
    click.option(
        "--gpus",
        type=_GpuCount(),
        help="GPUs for each node; no other job gets them. On a cloud also their type, as A100:8.",
    ),
    click.option(
        "--runtime", help="The training runtime to run under.", shell_complete=complete_runtimes
    ),
    click.option(
        "--image",
        help="Run in containers of this image: here with podman or docker, with --on in pods. It"
        " applies to a script, a command or the trainer of a TrainJob.",
    ),
    click.option(
        "--containers", is_flag=True, help="Run in containers, with the images that the file names."
    ),
    env_option,
    task_options,
    click.option(
        "--restarts",
        "--max-restarts",
        "restarts",
        type=click.IntRange(min=0),
        default=0,
        help="Restarts after a failure of the job itself. Lost nodes do not count.",
    ),
    click.option(
        "--recover-on-exit-codes",
        type=_ExitCodes(),
        default="",
        help="Exit codes after which the job restarts however often, such as 33,34.",
    ),
    click.option(
        "--timeout",
        type=_Duration(),
        help="The job fails if it runs for longer than this, restarts included: 90s, 30m, 2h.",
    ),
)
