"""The text of a batch script, as the administrator of a cluster would write it. Pure.

First what Slurm is asked for, then what all processes see, then for each role the call of srun that
starts its pods, and at last the job's driver, which decides when each of them is made.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from trainway.agent.transfer.parcel import SENT
from trainway.backends.slurm import options as passed
from trainway.backends.slurm.growth import why_fixed
from trainway.backends.slurm.layout import Layout, Part, Shape, Step
from trainway.backends.slurm.options import Options

AGENT: Final = "agent.pyz"
"""The agent in the job's directory: the version that the job was submitted with."""
OUTPUT: Final = "slurm-%j.out"
"""The file for what Slurm and the driver themselves have to say, where sbatch is called."""
ARRAY_OUTPUT: Final = "%a/slurm-%A_%a.out"
"""The file for that where sbatch is called in the directory of an array."""
ANNEX_OUTPUT: Final = OUTPUT
"""The same for a node that an elastic job gets later; its driver calls sbatch."""
_BARE: Final = re.compile(r"[A-Za-z0-9_.,:=@%+/\[\]^~-]*")
_DAY_MIN: Final = 24 * 60
_LONGEST_MIN: Final = (2**31 - 1) // 60
_LONGEST_LINE: Final = 100
_SENT_FILES: Final = """\
export TRAINWAY_JOB_DIR={scratch}/trainway-$SLURM_JOB_ID.${{SLURM_RESTART_COUNT:-0}}

# The nodes do not see the files of the job: the login node sends them (sbcast) when it has begun.
for ((looks = 0; looks < 3000; looks++)); do
  [[ -O $TRAINWAY_JOB_DIR{sent} && -s $TRAINWAY_JOB_DIR{sent} ]] && break
  sleep 0.2
done
if ((looks == 3000)); then
  echo "the files of the job did not arrive within 10 minutes: the server must be running" >&2
  exit 66
fi
TRAINWAY_AGENT=$(<"$TRAINWAY_JOB_DIR{sent}")
export TRAINWAY_AGENT"""


@dataclass(frozen=True)
class Sheet:
    """All that a script is made from."""

    id: str
    name: str
    directory: str
    """The job's directory on the cluster, in the words of a shell."""
    layout: Layout
    options: Options = field(default_factory=dict)
    """The options that are passed through; they take the place of what we would say."""
    env: Mapping[str, str] = field(default_factory=dict)
    grace: int = 30
    deadline: int | None = None
    """After how many seconds the job is ended."""
    nice: int = 0
    hold: bool = False
    python: str = "python3"
    """The program that runs Python, in the words of a shell."""
    images: Mapping[str, "Within"] = field(default_factory=dict)
    """The image of each role that runs in one."""
    scratch: str = ""
    """Where nodes keep the job's files, which are sent to them; empty: nodes see its directory."""
    count: int = 0
    """How many jobs the script is for, which differ in what is in their directories; then name, id
    and directory are those of the array. 0: for one."""
    least: int = 0
    """With how many nodes an elastic job begins and goes on; 0: it needs all of them."""


@dataclass(frozen=True)
class Within:
    """How the pods of a role get into their image: by options of srun, or by a program.

    They are words of a shell: what has to be quoted is.
    """

    options: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


def text(sheet: Sheet) -> str:
    """The script."""
    parts = [*_batch_lines(sheet), "", *_exports(sheet), "", *_steps(sheet), "", *_driver(sheet)]
    return "\n".join(("#!/bin/bash", *parts, ""))


def annex_options(sheet: Sheet) -> list[str]:
    """The options of sbatch that get an elastic job one node more; none: it does not grow."""
    said, layout = sheet.options, sheet.layout
    if not sheet.least or why_fixed(layout, said, shared=not sheet.scratch):
        return []
    return [
        option("job-name", sheet.name),
        option("comment", f"trainway-annex:{sheet.id}"),
        option("output", ANNEX_OUTPUT),
        option("no-requeue"),
        *_nodes(1, one_per_node=True),
        option("ntasks", "1"),
        *_resources(sheet, layout.parts[0].shape),
        *_time(sheet),
        *([option("nice", str(sheet.nice))] if sheet.nice and "nice" not in said else ()),
        *_passed_to_each(sheet),
        *(option(name, said[name]) for name in ("nice", "priority") if name in said),
    ]


def option(name: str, value: str | bool = True) -> str:
    """An option as a program gets it."""
    return f"--{name}" if value is True else f"--{name}={value}"


def batch_line(word: str) -> str:
    """An option as sbatch reads it in a script, which is almost as a shell does."""
    if not _BARE.fullmatch(word):
        name, _, value = word.partition("=")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'#SBATCH {name}="{quoted}"'
    return f"#SBATCH {word}"


def time_limit(seconds: int, grace: int) -> str:
    """When Slurm is to end a job that nobody else has ended, in whole minutes.

    Its warning may come a minute early, and must not come before the deadline. Slurm counts seconds
    in 32 bits, so a later end is in 68 years.
    """
    minutes = min(-(-(seconds + grace) // 60) + 1, _LONGEST_MIN)
    days, rest = divmod(minutes, _DAY_MIN)
    clock = f"{rest // 60:02}:{rest % 60:02}:00"
    return f"{days}-{clock}" if days else clock


def array_name(role: str) -> str:
    """What the array of a role is called."""
    return "step_" + role.replace("-", "_")


def _batch_lines(sheet: Sheet) -> Iterator[str]:
    if sheet.count:
        yield f"# {sheet.name}: {sheet.count} jobs of Trainway, {sheet.name}-0 and so on."
    else:
        shown = f"`trainway jobs show {sheet.id}` follows it."
        yield f"# {sheet.name}: job {sheet.id} of Trainway. {shown}"
    yield from map(batch_line, _job_wide(sheet))
    for index, part in enumerate(sheet.layout.parts):
        if index:
            yield "#SBATCH hetjob"
        yield from map(batch_line, (*_of_part(sheet, part), *_passed_to_each(sheet)))


def _job_wide(sheet: Sheet) -> Iterator[str]:
    said = sheet.options
    remark = said.get(passed.COMMENT)
    yield option("job-name", sheet.name)
    if sheet.count:
        yield option("array", f"0-{sheet.count - 1}")
    yield option("comment", f"trainway:{sheet.id}" + (f" {remark}" if remark else ""))
    yield option("output", _output(sheet))
    if sheet.scratch:
        yield option("chdir", sheet.scratch)
    yield option("open-mode", "append")
    yield option("no-requeue" if "no-requeue" in said else "requeue")
    if sheet.least and "no-kill" not in said:
        yield option("no-kill")
    yield option("signal", f"B:USR1@{sheet.grace}")
    if sheet.hold:
        yield option("hold")
    if sheet.nice and "nice" not in said:
        yield option("nice", str(sheet.nice))
    skipped = (*passed.REQUEUE, passed.COMMENT, *(("hold",) if sheet.hold else ()))
    for name, value in said.items():
        if name in passed.JOB_WIDE and name not in skipped:
            yield option(name, value)


def _output(sheet: Sheet) -> str:
    if sheet.scratch:
        return f"{sheet.scratch}/trainway-%j.out"
    return ARRAY_OUTPUT if sheet.count else OUTPUT


def _of_part(sheet: Sheet, part: Part) -> Iterator[str]:
    said, layout = sheet.options, sheet.layout
    has_nodes = bool(said.keys() & set(passed.NODES))
    if sheet.least and layout.one_per_node and not layout.is_heterogeneous and not has_nodes:
        # A number of tasks would be all that Slurm looks for.
        yield option("nodes", f"{sheet.least}-{part.tasks}")
    else:
        if not has_nodes:
            yield from _nodes(part.tasks, one_per_node=layout.one_per_node, spreads=True)
        yield option("ntasks", str(part.tasks))
    yield from _resources(sheet, part.shape)
    yield from _time(sheet)


def _time(sheet: Sheet) -> Iterator[str]:
    if sheet.deadline is not None and "time" not in sheet.options:
        yield option("time", time_limit(sheet.deadline, sheet.grace))


def _passed_to_each(sheet: Sheet) -> Iterator[str]:
    """What is passed through; to each part, since Slurm forgets most of it between them."""
    for name, value in sheet.options.items():
        if name not in passed.JOB_WIDE:
            yield option(name, value)


def _nodes(tasks: int, *, one_per_node: bool, spreads: bool = False) -> Iterator[str]:
    if one_per_node:
        yield option("nodes", str(tasks))
        yield option("ntasks-per-node", "1")
    elif spreads:
        yield option("nodes", f"1-{tasks}" if tasks > 1 else "1")


def _resources(sheet: Sheet, shape: Shape, *, of_step: bool = False) -> Iterator[str]:
    """What each task asks for; a step says it too, lest it takes all that the job has."""
    said = sheet.options.keys()
    if (shape.cpus or of_step) and not said & set(passed.CPUS):
        yield option("cpus-per-task", str(shape.cpus or 1))
    if shape.memory and not said & set(passed.MEMORY):
        yield _memory(shape, one_per_node=sheet.layout.one_per_node)
    elif of_step:
        yield option("mem", "0")  # what the job has, and leaves it to other steps too
    if shape.gpus and not said & set(passed.GPUS):
        kind = f"{shape.gpu_type}:" if shape.gpu_type else ""
        if sheet.layout.one_per_node:
            yield option("gres", f"gpu:{kind}{shape.gpus}")
        else:
            yield option("gpus-per-task", f"{kind}{shape.gpus}")


def _memory(shape: Shape, *, one_per_node: bool) -> str:
    if one_per_node:
        return option("mem", f"{shape.memory}M")
    return option("mem-per-cpu", f"{-(-shape.memory // (shape.cpus or 1))}M")


def _exports(sheet: Sheet) -> Iterator[str]:
    if not sheet.count:
        yield f"export TRAINWAY_JOB_ID={sheet.id}"
    if sheet.scratch:
        yield from _SENT_FILES.format(scratch=shlex.quote(sheet.scratch), sent=SENT).splitlines()
    else:
        rank = '/"$SLURM_ARRAY_TASK_ID"' if sheet.count else ""
        yield f"export TRAINWAY_JOB_DIR={sheet.directory}{rank}"
        yield f'export TRAINWAY_AGENT="$TRAINWAY_JOB_DIR/{AGENT}"'
    for name, value in sheet.env.items():
        yield f"export {name}={shlex.quote(value)}"


def _steps(sheet: Sheet) -> Iterator[str]:
    for step in sheet.layout.steps:
        within = sheet.images.get(step.role)
        words = ["srun", *map(shlex.quote, _step_options(sheet, step))]
        words += within.options if within else ()
        yield from _array(array_name(step.role), words)
        if within and within.words:
            yield from _array(f"{array_name(step.role)}_within", within.words)


def _array(name: str, words: Sequence[str]) -> Iterator[str]:
    """An array of a shell; a word is never broken."""
    line = f"{name}=("
    for word in words:
        if len(line) + len(word) > _LONGEST_LINE:
            yield line.rstrip()
            line = "  "
        line += f"{word} "
    yield f"{line.rstrip()})"


def _step_options(sheet: Sheet, step: Step) -> Iterator[str]:
    if sheet.layout.is_heterogeneous:
        yield option("het-group", str(step.part))
    if step.sits_beside:
        yield from (option("nodes", "1"), option("ntasks", "1"), option("cpus-per-task", "1"))
        yield from (option("mem", "0"), option("gres", "none"), option("overlap"))
    else:
        if not sheet.options.keys() & set(passed.NODES):
            yield from _nodes(step.pods, one_per_node=sheet.layout.one_per_node)
        yield option("ntasks", str(step.pods))
        yield from _resources(sheet, step.shape, of_step=True)
        yield option("exact")
    yield option("kill-on-bad-exit", "0")


def _driver(sheet: Sheet) -> Iterator[str]:
    yield f'exec {sheet.python} "$TRAINWAY_AGENT" slurm drive "$TRAINWAY_JOB_DIR" \\'
    roles = [_handed_over(step, sheet.images.get(step.role)) for step in sheet.layout.steps]
    yield from (f"{line} \\" for line in roles[:-1])
    yield roles[-1]


def _handed_over(step: Step, within: Within | None) -> str:
    name = array_name(step.role)
    line = f'  --role {step.role} "${{{name}[@]}}"'
    return f'{line} --within "${{{name}_within[@]}}"' if within and within.words else line
