"""How the processes of a job reach its pods on other nodes: what the driver and the pods put down.

In the job's directory: in `peers.json` the node of each pod and what srun needs to know of the
allocation, by the driver; in `pods/<pod>.json` where the agent of a pod listens, by that agent.
"""

from __future__ import annotations

import json

from trainway.agent.slurm.driver.recorder import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainway.agent.base.directory import Directory
    from trainway.json_types import Json


PEERS = "peers.json"


def peers_of(
    jobset: str, pods: Mapping[str, Json], environ: Mapping[str, str], agent: Sequence[str]
) -> Json:
    """Where the pods are: `host`, `address` and `group` of each, by their keys.

    `agent` is what runs an agent on nodes; a pod in an image has another Python.
    """
    slurm = {name: value for name, value in environ.items() if name.startswith("SLURM_")}
    return {"jobset": jobset, "pods": dict(pods), "environment": slurm, "agent": list(agent)}


def write_peers(directory: Directory, peers: Json) -> None:
    """Put that down."""
    directory.replace(PEERS, json.dumps(peers).encode())


def read_peers(directory: Directory) -> Json:
    """What the driver put down; OSError or ValueError where it is not to be had."""
    found: Json = json.loads(directory.read(PEERS))
    return found


def write_home(directory: Directory, key: str, home: str) -> None:
    """Put down where the agent of a pod has its socket, on its own node."""
    directory.replace(f"{FOLDER}/{key}.json", json.dumps({"home": home}).encode())


def read_home(directory: Directory, key: str) -> str:
    """Where that is; empty while the pod does not run."""
    try:
        return str(json.loads(directory.read(f"{FOLDER}/{key}.json"))["home"])
    except (OSError, ValueError, KeyError):
        return ""
