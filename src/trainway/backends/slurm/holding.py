"""A cluster as the batch job that holds its nodes. Pure.

Its tasks are the host agents of the nodes, one each, to whom the cluster's own queue gives jobs: so
what runs there is in the job, and what Slurm says of the job is true. It is not requeued: another
allocation would be other nodes, and whoever wants them starts the cluster again.
"""

import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from trainway.agent.transfer.ssh_command import shell_path
from trainway.api import accelerators
from trainway.backends.masking import is_confidential
from trainway.backends.slurm import options as passed
from trainway.backends.slurm.layout import gpu_type
from trainway.backends.slurm.script import AGENT, OUTPUT, batch_line, option
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.json_types import Json

_MIB: Final = 2**20
_NODES: Final = "--num-nodes says how many nodes it has"
_RESTARTS: Final = "a cluster whose allocation ended is started again with trainway start"
_OWNED: Final[Mapping[str, str]] = {
    **dict.fromkeys(passed.NODES, _NODES),
    **dict.fromkeys(passed.REQUEUE, _RESTARTS),
    "hold": "nobody would release it",
}


@dataclass(frozen=True)
class Wanted:
    """What a cluster is to have."""

    id: str
    name: str
    nodes: int
    cpus: float
    memory: int
    """The memory of each node, in bytes."""
    gpus: float
    accelerator: str = ""
    """The accelerator as its author named it: `A100:8`."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The options of sbatch."""


def errors(options: Mapping[str, Any]) -> list[str]:
    """What is wrong with options of sbatch for a cluster."""
    found = list(passed.errors(options))
    for key in options:
        name = passed.named(str(key))
        if name in _OWNED:
            found.append(f"{key}: cannot be set: {_OWNED[name]}")
    return found


def held(wanted: Wanted, cluster: ConfiguredCluster, avoided: Collection[str] = ()) -> Json:
    """What the agent that holds a cluster must know; nothing may be wrong with the options.

    It gets no nodes that are `avoided`.
    """
    return {
        "cluster": cluster.to_dict(),
        "script": script(wanted, cluster, avoided),
        "env": {name: text for name, text in cluster.env.items() if is_confidential(name)},
    }


def script(wanted: Wanted, cluster: ConfiguredCluster, avoided: Collection[str] = ()) -> str:
    """The batch script."""
    lines = (
        "#!/bin/bash",
        *_batch_lines(wanted, cluster, avoided),
        "",
        *_body(wanted, cluster),
        "",
    )
    return "\n".join(lines)


def _batch_lines(
    wanted: Wanted, cluster: ConfiguredCluster, avoided: Collection[str]
) -> Iterator[str]:
    name = wanted.name
    yield f"# Cluster {name} of Trainway; `trainway status {name}` shows it, `trainway down {name}`"
    yield "# gives it back."
    said = passed.merged(cluster.batch_options(), passed.read(wanted.options))
    remark = said.pop(passed.COMMENT, "")
    given = [
        option("job-name", name),
        option("comment", f"trainway:{wanted.id} cluster {name} {remark}".rstrip()),
        option("output", OUTPUT),
        option("no-requeue"),
        option("nodes", str(wanted.nodes)),
        option("ntasks-per-node", "1"),
        *_resources(wanted, cluster, said),
    ]
    rest = passed.keeping_off(said, avoided)
    given += [option(key, value) for key, value in rest.items() if key not in _OWNED]
    yield from map(batch_line, given)


def _resources(wanted: Wanted, cluster: ConfiguredCluster, said: passed.Options) -> Iterator[str]:
    """What each node is to have, as far as the options do not say it."""
    if not said.keys() & set(passed.CPUS):
        yield option("cpus-per-task", str(_ceiling(wanted.cpus) or 1))
    if wanted.memory and not said.keys() & set(passed.MEMORY):
        yield option("mem", f"{-(-wanted.memory // _MIB)}M")
    if wanted.gpus and not said.keys() & set(passed.GPUS):
        kinds = accelerators.candidates(wanted.accelerator) if wanted.accelerator else ()
        kind = gpu_type(kinds[0].name, cluster.gpu_types) if kinds else ""
        yield option("gres", f"gpu:{kind}{':' if kind else ''}{_ceiling(wanted.gpus)}")


def _body(wanted: Wanted, cluster: ConfiguredCluster) -> Iterator[str]:
    yield f"export TRAINWAY_CLUSTER={shlex.quote(wanted.name)}"
    yield f"export TRAINWAY_JOB_DIR={cluster.directory(wanted.id)}"
    for name, value in cluster.env.items():
        if not is_confidential(name):
            yield f"export {name}={shlex.quote(value)}"
    yield ""
    yield f"exec srun --nodes={wanted.nodes} --ntasks-per-node=1 \\"
    yield '  --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" --mem=0 --mpi=none --input=none \\'
    yield f'  --kill-on-bad-exit=1 {shell_path(cluster.python)} "$TRAINWAY_JOB_DIR/{AGENT}" \\'
    yield '  slurm host "$TRAINWAY_JOB_DIR/nodes"'


def _ceiling(amount: float) -> int:
    return -int(-amount // 1)
