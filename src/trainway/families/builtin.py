"""The rows of the families that come with Trainway, in the order in which they are listed."""

from collections.abc import Mapping
from typing import Final

from trainway.families.family import Carried, Clusters, Family, Files, Places, Runs

HERE: Final = "local"
"""This machine: where a job runs if nobody says where."""
PODS: Final = "k8s"
"""The place for which objects are made if they are only to be shown."""
HELD: Final = "cluster"
"""What `trainway launch` holds, as places to run jobs."""
WORKERS: Final = "worker-pool"
"""Worker pools, whose jobs run on the next worker that is free."""

_ROWS: Final = (
    Family(
        HERE,
        "trainway.backends.local.backend:LocalBackend",
        runs=Runs.PROCESSES,
        files=Files.HERE,
        carries=frozenset({Carried.ENVIRONMENT, Carried.DIRECTORY}),
        places=None,
        clusters=Clusters.STOPPABLE,
        jobs_folder=".",
    ),
    Family(
        PODS,
        "trainway.backends.kubernetes.backend:KubernetesBackend",
        carries=frozenset({Carried.DIRECTORY, Carried.KUBECONFIG}),
        places=Places(in_kubeconfig=True),
        sections={"kubernetes": "trainway.backends.kubernetes.section"},
    ),
    Family(
        "ssh",
        "trainway.backends.ssh.backend:SshBackend",
        runs=Runs.PROCESSES,
        files=Files.STREAMED,
        carries=frozenset({Carried.DIRECTORY, Carried.SSH_AGENT}),
        places=Places(section="pools", ssh_config=".ssh/config"),
        clusters=Clusters.UNSTOPPABLE,
        sections={"pools": "trainway.backends.ssh.section"},
        jobs_folder="pools",
        plan_part="pool",
    ),
    Family(
        "slurm",
        "trainway.backends.slurm.backend:SlurmBackend",
        runs=Runs.PROCESSES,
        carries=frozenset({Carried.DIRECTORY, Carried.SSH_AGENT}),
        places=Places(section="clusters", ssh_config=".slurm/config", programs={"sbatch": "here"}),
        clusters=Clusters.STOPPABLE,
        options="slurm",
        sections={
            "clusters": "trainway.backends.slurm.section",
            "retention": "trainway.backends.slurm.login_retention",
        },
        jobs_folder="slurm",
        plan_part="slurm",
    ),
    Family(
        HELD,
        "trainway.backends.cluster.backend:ClusterBackend",
        runs=Runs.PROCESSES,
        files=Files.STREAMED,
        carries=frozenset({Carried.ENVIRONMENT, Carried.DIRECTORY}),
        plan_part="pool",
    ),
    Family(
        WORKERS,
        "trainway.backends.cluster.worker_pool:WorkerPoolBackend",
        runs=Runs.PROCESSES,
        files=Files.STREAMED,
        carries=frozenset({Carried.ENVIRONMENT, Carried.DIRECTORY}),
        plan_part="pool",
    ),
)
BUILTIN: Final[Mapping[str, Family]] = {row.name: row for row in _ROWS}
