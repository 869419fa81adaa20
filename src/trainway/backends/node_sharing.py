"""Whether the nodes of a job may be the same machine. Pure.

Whoever asks for N nodes, in a command, a task or a TrainJob, gets N machines. JobSets and MPIJobs
list pods, which may share a machine, as in Kubernetes. `PACK` on the job says otherwise.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from trainway.backends.demand import pods_at_once
from trainway.compiler.mpi import HOSTFILE_NAME
from trainway.compiler.mpijob import WORKER
from trainway.compiler.workload import LAUNCHER, NODE
from trainway.jobset.labels import PACK
from trainway.jobset.model import KIND as JOBSET
from trainway.jobset.model import replicated_jobs
from trainway.json_types import Json

MPIJOB: Final = "MPIJob"
_NO: Final = "false"


def one_per_node(
    source: Mapping[str, Any],
    jobset: Mapping[str, Any],
    sharing: Collection[str] = (JOBSET, MPIJOB),
) -> bool:
    """Whether each pod of a role is to have a machine that no other pod of the role is on.

    `sharing` are the kinds whose pods may share one unless the job says otherwise.
    """
    for obj in (source, jobset):
        said = ((obj.get("metadata") or {}).get("annotations") or {}).get(PACK)
        if said is not None:
            return str(said).lower() == _NO
    return source.get("kind", JOBSET) not in sharing


def apart(
    source: Mapping[str, Any], jobset: Mapping[str, Any], objects: Iterable[Json] = ()
) -> dict[str, str]:
    """For each role a word: pods whose roles have the same one share no machine.

    A launcher that runs ranks itself is a node like its workers.
    """
    if not one_per_node(source, jobset):
        return {}
    words = {job.name: job.name for job in replicated_jobs(jobset["spec"])}
    if launcher_works(jobset, objects):
        words[LAUNCHER] = next((name for name in words if name in (NODE, WORKER)), LAUNCHER)
    pods = Counter(dict.fromkeys(words.values(), 0))
    for job in replicated_jobs(jobset["spec"]):
        pods[words[job.name]] += job.replicas * pods_at_once(job)
    return {role: word for role, word in words.items() if pods[word] > 1}


def launcher_works(jobset: Mapping[str, Any], objects: Iterable[Json]) -> bool:
    """Whether the launcher is one of the hosts of its own hostfile."""
    name = f"{jobset['metadata']['name']}-{LAUNCHER}-0-0"
    files = (
        str((obj.get("data") or {}).get(HOSTFILE_NAME) or "")
        for obj in objects
        if obj.get("kind") == "ConfigMap"
    )
    hosts = (line.partition(".")[0] for text in files for line in text.splitlines())
    return name in hosts


def most_nodes(demand: Sequence[Mapping[str, Any]]) -> int:
    """How many machines there must be at least for pods that share none."""
    groups = [item["apart"] for item in demand if item.get("apart")]
    return max((groups.count(name) for name in set(groups)), default=1)
