"""What a job asks for that Slurm cannot honour, said before it is submitted. Pure.

`docs/slurm.md` has the same list.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from trainway.backends import bucket_mounts
from trainway.backends.agents import fitness
from trainway.backends.base import Isolation, isolation_of
from trainway.backends.slurm import images, options
from trainway.backends.slurm.layout import layout_of
from trainway.backends.slurm.options import Options
from trainway.backends.slurm.section import NONE
from trainway.compiler.devices import is_gpu
from trainway.compiler.workload import LAUNCHER
from trainway.errors import ForbiddenError
from trainway.jobset.labels import SLURM_MPI
from trainway.jobset.model import replicated_jobs
from trainway.jobset.requests import pod_requests
from trainway.json_types import Json

WHERE: Final = "the nodes"
_LAUNCHED: Final = (
    f"role {LAUNCHER}: mpirun reaches other pods through srun, which its image has to have"
)
_COUNTED: Final = ("cpu", "memory", "ephemeral-storage", "pods")


def not_our_node(name: str, words: str) -> ForbiddenError:
    """Why nodes of a Slurm cluster are not set aside by us, and who can."""
    return ForbiddenError(
        f"the nodes of {name} are set aside by the administrators of Slurm",
        hint=f"ask them to run: scontrol update {words}",
    )


def errors(
    jobset: Json, source: Json, said: Options, tool: str, *, shared: bool = True
) -> list[str]:
    """Why the job cannot run.

    `tool` is what runs images on the cluster; `shared`: all nodes see where jobs are kept.
    """
    unfit = dict.fromkeys(_unfit(jobset, tool))
    found = [*unfit, *_devices(jobset, said), *_counts(jobset, said)]
    found += bucket_mounts.in_containers(jobset)
    if not shared and isolation_of(jobset) is Isolation.CONTAINER:
        found.append(
            "images need a directory that all nodes see, but the cluster has none (shared)"
        )
    annotations = (source.get("metadata") or {}).get("annotations") or {}
    if SLURM_MPI in annotations:
        found.append(
            f"metadata.annotations[{SLURM_MPI}]: srun cannot start the ranks yet; mpirun starts "
            "them through the steps of the allocation"
        )
    return found


def warnings(jobset: Json) -> list[str]:
    """What will not be honoured."""
    if isolation_of(jobset) is not Isolation.CONTAINER:
        return fitness.warnings(jobset, WHERE, honours(jobset))
    said = fitness.warnings(_as_processes(jobset), WHERE, honours(jobset))
    roles = [job.name for job in replicated_jobs(jobset["spec"])]
    needs_srun = [_LAUNCHED] if LAUNCHER in roles and len(roles) > 1 else []
    return [*needs_srun, *(text for text in said if "honoured" in text)]


def honours(jobset: Json) -> list[str]:
    """What is seen to by Slurm, of that which processes alone do not have."""
    return ["limits", *(["image"] if isolation_of(jobset) is Isolation.CONTAINER else [])]


def needs_images(jobset: Json, tool: str, cluster: str) -> str:
    """Why images cannot be had, where the job wants them."""
    if isolation_of(jobset) is not Isolation.CONTAINER or tool not in ("", NONE):
        return ""
    return f"the job runs in an image, and cluster {cluster} has neither Pyxis nor Apptainer"


def _unfit(jobset: Json, tool: str) -> Iterator[str]:
    if isolation_of(jobset) is Isolation.CONTAINER:
        yield from fitness.errors(jobset, WHERE)
        yield from images.errors(jobset)
        text = f"images of {tool}"
        yield from fitness.errors(_as_processes(jobset), text)
        return
    yield from fitness.errors(jobset, WHERE)


def _as_processes(jobset: Json) -> Json:
    """The same without its annotations."""
    metadata = {**(jobset.get("metadata") or {}), "annotations": {}}
    return {**jobset, "metadata": metadata}


def _devices(jobset: Mapping[str, Any], said: Options) -> Iterator[str]:
    """Devices of which Slurm has no count under the name that they have in Kubernetes."""
    if said.keys() & set(options.GPUS):
        return
    for job in replicated_jobs(jobset["spec"]):
        for name in pod_requests(job.pod.spec):
            if name not in _COUNTED and not is_gpu(name) and not name.startswith("hugepages-"):
                yield (
                    f"role {job.name}: resource {name}: Trainway asks Slurm only for CPUs, memory "
                    "and GPUs; ask for this one with --slurm gres=NAME:COUNT"
                )


def _counts(jobset: Mapping[str, Any], said: Options) -> Iterator[str]:
    layout = layout_of(jobset, one_per_node=False)
    if not layout.parts:
        yield "there are no pods: Slurm starts no job without a task"
    if layout.is_heterogeneous and said.keys() & set(options.NODES):
        yield (
            "slurm option nodes: its roles ask for different nodes, and are parts of a "
            "heterogeneous job: each has the nodes that its pods need"
        )
