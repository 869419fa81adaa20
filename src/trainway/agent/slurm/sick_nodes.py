"""The nodes of Slurm that failed the health check of a job, and why: a file of the job.

The driver writes it before it gives up its allocation; the relay has Slurm keep the job off these
nodes, and later attempts know of them. The journal names those that other jobs do better without
too (`NodeSetAside` about `Node/NAME`).
"""

from __future__ import annotations

import json
import re

from trainway.agent.kubelet.health.verdict import UNCERTAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from trainway.agent.base.directory import Directory

NAME = "sick-nodes.json"
ADDED = "avoided-nodes.json"
"""The nodes that Slurm keeps the job off since they were set aside while it waited."""
_EXCLUDE = re.compile(r"^#SBATCH --exclude=(.*)$", re.MULTILINE)
_NODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,254}")


def sick_nodes(directory: Directory) -> dict[str, str]:
    """Why each of them is sick. Pods may write there as well: what is no node is left out."""
    return _read(directory, NAME)


def added_nodes(directory: Directory) -> frozenset[str]:
    """Those that Slurm was told of while the job waited, which may be taken back."""
    return frozenset(_read(directory, ADDED))


def note_added(directory: Directory, nodes: Iterable[str]) -> None:
    """Write them down, before Slurm is told."""
    directory.replace(ADDED, json.dumps(dict.fromkeys(sorted(nodes), "")).encode())


def _read(directory: Directory, name: str) -> dict[str, str]:
    try:
        found = json.loads(directory.read(name))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {node: str(why) for node, why in found.items() if _NODE.fullmatch(node)}


def only_nodes(names: Iterable[object]) -> frozenset[str]:
    """Those of the names that a node can have. Pure."""
    return frozenset(str(name) for name in names if _NODE.fullmatch(str(name)))


def add_sick_node(directory: Directory, node: str, why: str) -> None:
    """Note one more, durably."""
    known = {**sick_nodes(directory), node: why}
    directory.replace(NAME, json.dumps(known).encode(), durable=True)


def excluded_in(script: str) -> frozenset[str]:
    """The nodes that a batch script names one by one as those that it must not get. Pure."""
    found = _EXCLUDE.findall(script)
    return only_nodes(found[-1].split(",") if found else ())


def excluding(excluded: str, nodes: Iterable[str]) -> str:
    """The nodes that Slurm is to keep a job off: those that it does already, and these. Pure."""
    known = [excluded] if "[" in excluded else excluded.split(",")
    return ",".join(dict.fromkeys([*filter(None, known), *sorted(nodes)]))


def without(excluded: str, nodes: Collection[str]) -> str:
    """What is left of nodes that are named one by one. Pure."""
    return (
        excluded
        if "[" in excluded
        else ",".join(node for node in excluded.split(",") if node not in nodes)
    )


def is_of_node(why: str, shared: str) -> bool:
    """Whether other jobs had better avoid the node too. Pure.

    Not if the disk that all nodes share is at fault, which has `shared`, nor if it may be another
    node. `shared` is empty where each node has a disk of its own.
    """
    return not (shared and shared in why) and UNCERTAIN not in why
