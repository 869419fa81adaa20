"""What a node is asked before the first process of a gang starts on it. It runs in a child."""

from __future__ import annotations

import os
import time

from trainway.agent.kubelet.health.disk import disk_problem
from trainway.agent.kubelet.health.gpu_query import gpu_problem, gpus_checked
from trainway.agent.kubelet.health.mesh import Mesh, MeshError
from trainway.agent.kubelet.health.torch_reduce import (
    GLOO,
    NCCL,
    Meeting,
    ReduceError,
    free_port,
    has_torch,
    reduced,
)
from trainway.agent.kubelet.health.verdict import (
    HEALTHY,
    OTHER_UNHEALTHY,
    UNCERTAIN,
    UNHEALTHY,
    blamed,
    is_certain,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STOP_SECONDS = 15.0
"""How long a sound node waits to be stopped because of another one."""


class Questions:
    """All that the check needs to know of a pod."""

    def __init__(
        self,
        directory: str,
        gpus: Sequence[str],
        env: Mapping[str, str],
        peers: Mapping[str, str],
        seconds: float,
    ) -> None:
        self.directory = directory
        self.gpus = gpus
        """The GPUs of NVIDIA that it was given."""
        self.env = env
        self.peers = peers
        """The addresses of the gang by the names of its nodes, in order; empty: it is alone."""
        self.seconds = seconds
        """How long the nodes may take to reach each other."""
        self.rank = 0
        self.word = ""
        """What only this attempt of this gang knows."""
        self.attempt = 0
        self.wants_torch = False
        """Whether the job's own torch is to add up numbers as well."""
        self.python = ""
        """The Python of the job."""


def run(asked: Questions) -> int:
    """Ask everything, write the answer to standard output, and give the exit code."""
    try:
        code, answer = _answer(asked)
    except Exception as error:  # noqa: BLE001 - an error of ours is no fault of the node
        code, answer = HEALTHY, f"the health check itself failed: {error!r}"
    _tell(answer)
    if code == OTHER_UNHEALTHY:
        time.sleep(STOP_SECONDS)
    return code


def _tell(text: str) -> None:
    os.write(1, text.encode("utf-8", "replace"))


def _answer(asked: Questions) -> tuple[int, str]:
    began = time.monotonic()
    problem = disk_problem(asked.directory) or gpu_problem(asked.gpus, asked.env)
    if problem:
        return UNHEALTHY, problem
    checked = ["disk", *([gpus_checked(len(asked.gpus))] if asked.gpus else [])]
    if len(asked.peers) > 1:
        answer, how = _network_answer(asked)
        if answer is not None:
            return answer
        checked.append(f"network of {len(asked.peers)} nodes{how}")
    took = time.monotonic() - began
    return HEALTHY, f"{', '.join(checked)}: all well after {took:.2f} s"


def _network_answer(asked: Questions) -> tuple[tuple[int, str] | None, str]:
    """What is wrong between the nodes, None: nothing; and how they were checked."""
    mesh = Mesh(asked.rank, list(asked.peers.values()), asked.word, asked.seconds)
    try:
        broken = mesh.broken_links()
        if broken:
            return _blame(asked, broken), ""
        mesh.add_up()
        return None, _torch_answer(asked, mesh) if asked.wants_torch else ""
    except (MeshError, ReduceError) as error:  # nobody knows whose fault that is
        return (OTHER_UNHEALTHY, str(error)), ""
    finally:
        mesh.close()


def _torch_answer(asked: Questions, mesh: Mesh) -> str:
    """Add up numbers by the job's own torch, if all nodes have it; what came of it."""
    size, host = len(asked.peers), next(iter(asked.peers.values()))
    if mesh.total(int(has_torch(asked.python, asked.env))) < size:
        return " (over TCP: not all of them have torch)"
    port = mesh.total(0 if asked.rank else free_port(host))
    backend = NCCL if asked.gpus else GLOO
    meeting = Meeting(backend, asked.rank, size, host, port)
    env = {**asked.env, **({"CUDA_VISIBLE_DEVICES": ",".join(asked.gpus)} if asked.gpus else {})}
    if not reduced(asked.python, env, meeting):
        return f" (over TCP: torch has no {backend} here)"
    return f" (by torch with {backend})"


def _blame(asked: Questions, broken: Sequence[tuple[int, int]]) -> tuple[int, str]:
    names = list(asked.peers)
    culprits = blamed(broken, asked.attempt)
    culprit = asked.rank if asked.rank in culprits else culprits[0]
    apart = sorted({other for pair in broken if culprit in pair for other in pair} - {culprit})
    told = ", ".join(names[other] for other in apart)
    said = f"{names[culprit]} and {told} do not reach each other over the network"
    if not is_certain(broken, culprit):
        said += f", and {UNCERTAIN}"
    return (UNHEALTHY if culprit == asked.rank else OTHER_UNHEALTHY), said
