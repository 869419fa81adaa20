"""The calls of srun that start pods, from the words of the batch script.

The script says for each role how its pods are started. A step adds what only the driver knows: how
many tasks there are this time, on which nodes, and that a pod which takes the place of another one
shares what that one's step still holds.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ROLE, WITHIN = "--role", "--within"
_GPUS = re.compile(r"--gpus-per-task=((?:[^:]+:)?)(\d+)")
ALWAYS = ("--mpi=none", "--wait=0")
"""The options of every step: a task is a pod and no rank, and may end long before others."""
_MEMORY = ("--mem=", "--mem-per-cpu=", "--mem-per-gpu=")
_IMAGE = "--container-image="
NODE_VARIABLE = "SLURMD_NODENAME"
HOSTFILE = "SLURM_HOSTFILE"
"""The variable that says which task is on which node."""


class ScriptError(Exception):
    """The batch script says something that the driver cannot make sense of."""


class Line:
    """How the pods of a role are started."""

    def __init__(self, words: Sequence[str], within: Sequence[str] = ()) -> None:
        self.words = list(words)
        """The words that call srun, with its options."""
        self.within = list(within)
        """A program that runs the pod's agent in an image."""

    @property
    def is_contained(self) -> bool:
        """Whether its pods run in an image, with programs of that."""
        return bool(self.within) or any(word.startswith(_IMAGE) for word in self.words)

    @property
    def gpus(self) -> int:
        """How many GPUs a task has, if srun shares out those of a node; else 0."""
        found = [match for match in map(_GPUS.fullmatch, self.words) if match]
        return int(found[-1].group(2)) if found else 0

    def sharing(self, gpus: int) -> list[str]:
        """The words for a step that uses what another one holds, and so many GPUs of a node.

        Memory that is held is only had by asking for all of the job's. A task must not have more
        GPUs than the job says, but a node may.
        """
        kept = [word for word in self.words if not word.startswith(_MEMORY)]
        if gpus:
            found = [match for match in map(_GPUS.fullmatch, kept) if match]
            kept = [word for word in kept if not _GPUS.fullmatch(word)]
            kept.append(f"--gres=gpu:{found[-1].group(1)}{gpus}")
        return [*kept, "--mem=0", "--overlap"]


def lines(arguments: Sequence[str]) -> dict[str, Line]:
    """What follows the job's directory in the script: `--role NAME srun ... [--within ...]`."""
    found: dict[str, Line] = {}
    rest = list(arguments)
    while rest:
        if rest.pop(0) != ROLE or not rest:
            raise ScriptError(f"expected {ROLE} NAME srun ...")
        name = rest.pop(0)
        end = rest.index(ROLE) if ROLE in rest else len(rest)
        words, rest = rest[:end], rest[end:]
        cut = words.index(WITHIN) if WITHIN in words else len(words)
        if not words[:cut]:
            raise ScriptError(f"role {name} has no call of srun")
        found[name] = Line(words[:cut], words[cut + 1 :])
    return found


class Call:
    """What one step needs beyond the words of its role."""

    def __init__(
        self, name: str, nodes: Sequence[str], *, shares: bool = False, gpus: int = 0
    ) -> None:
        self.name = name
        self.nodes = list(nodes)
        """The node of each task, in their order."""
        self.shares = shares
        """Whether another step holds what it needs."""
        self.gpus = gpus
        """How many GPUs of its node the task of a step that shares is shown; 0: as always."""
        self.job = ""
        """The number of the allocation, where that is not the one of the driver."""


def command(line: Line, call: Call, program: Sequence[str]) -> list[str]:
    """The arguments that start a step."""
    distinct = list(dict.fromkeys(call.nodes))
    words = line.sharing(call.gpus) if call.shares else list(line.words)
    words.append(f"--job-name={call.name}")
    words += [f"--jobid={call.job}"] if call.job else []
    words += [f"--ntasks={len(call.nodes)}", f"--nodes={len(distinct)}"]
    if len(call.nodes) > 1:
        # Later than any distribution of the script; the nodes are in the hostfile.
        words.append("--distribution=arbitrary")
    else:
        words.append(f"--nodelist={distinct[0]}")
    return [*words, *ALWAYS, *line.within, *program]


def join_command(node: str, group: int | None, program: Sequence[str]) -> list[str]:
    """The arguments that run a command on a node of the allocation, beside what is there."""
    words = ["srun", "--nodes=1", "--ntasks=1", f"--nodelist={node}", "--overlap", "--mem=0"]
    words += ["--cpus-per-task=1", "--gres=none", "--mpi=none", "--quiet"]
    if group is not None:
        words.insert(1, f"--het-group={group}")
    return [*words, *program]
