"""The files that Slurm reads, from what a cluster is to be like. Nothing here touches a disk.

Times are as short as Slurm allows, so that a test sees in seconds what a site sees in minutes.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

Accounting = Literal["none", "text", "slurmdbd"]

NODE_PORT: Final = 6818
DATABASE: Final = "slurm"
PREEMPTION: Final = """\
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PartitionName=low Nodes=ALL PriorityTier=1 GraceTime={grace_s} MaxTime=INFINITE State=UP
PartitionName=high Nodes=ALL PriorityTier=100 PreemptMode=off MaxTime=INFINITE State=UP
"""
MAIN: Final = "PartitionName=main Nodes=ALL Default=YES PriorityTier={tier} {more}\n"
CGROUPS: Final = """\
CgroupPlugin=cgroup/v1
CgroupAutomount=no
CgroupMountpoint=/sys/fs/cgroup
ConstrainCores=no
ConstrainDevices=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=no
AllowedRAMSpace=100
MinRAMSpace=16
"""
CONTROLLER: Final = """\
ClusterName={cluster}
SlurmctldHost={host}({address})
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CredType=cred/munge
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n/slurmd.log
SlurmctldDebug=info
SlurmdDebug=info
TmpFS={folder}/%n/tmp
MpiDefault=none
SwitchType=switch/none
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2,sched_min_interval=10000
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout={down_after_s}
MessageTimeout=5
TCPTimeout=2
UnkillableStepTimeout=30
KillWait=10
OverTimeLimit=0
InactiveLimit=0
MinJobAge={forget_after_s}
MaxJobCount=20000
Waittime=0
JobRequeue=1
EnforcePartLimits=ALL
"""


@dataclass(frozen=True)
class Shape:
    """What a cluster is to be like."""

    nodes: int = 4
    gpus: int = 0
    """Devices that only look like GPUs, on each node."""
    accounting: Accounting = "none"
    namespaces: bool = False
    """Whether each node has a network of its own, which can be cut off."""
    preemption: bool = False
    """Partitions `low` and `high`: jobs of the first are requeued for jobs of the second."""
    grace_s: int = 0
    """How long a preempted job may take to end."""
    memory_limits: bool = False
    """Whether a step that takes more memory than it asked for is killed (cgroup v1)."""
    rest: bool = False
    """Whether there is a slurmrestd."""
    cpus: int = 8
    memory_mb: int = 16_000
    down_after_s: int = 5
    """How long a node may be silent."""
    forget_after_s: int = 300
    """How long the controller knows of a job that has ended."""
    shared: bool = True
    """Whether all nodes see the temporary files of this machine, as if by a shared file system."""


@dataclass(frozen=True)
class Place:
    """Where a cluster is."""

    name: str
    folder: Path
    host: str
    """What this machine calls itself."""
    address: str
    """Where the nodes find the controller."""
    port: int
    database_port: int
    node_ports: tuple[int, ...]
    node_addresses: tuple[str, ...]

    def node(self, index: int) -> str:
        """The name of a node; no other cluster on this machine has it."""
        return f"{self.name}-n{index}"


def files_of(shape: Shape, place: Place) -> dict[str, str]:
    """All that every cluster has, by name."""
    return {
        "slurm.conf": slurm_conf(shape, place),
        "gres.conf": gres_conf(shape, place),
        "mpi.conf": mpi_conf(place),
        "cgroup.conf": cgroup_conf(shape),
        "hosts": hosts(place),
    }


def slurm_conf(shape: Shape, place: Place) -> str:
    """What all programs of Slurm read."""
    text = CONTROLLER.format(
        cluster=place.name,
        host=place.host,
        address=place.address,
        port=place.port,
        folder=place.folder,
        down_after_s=shape.down_after_s,
        forget_after_s=shape.forget_after_s,
    )
    text += "TaskPlugin=task/cgroup\n" if shape.memory_limits else "TaskPlugin=task/none\n"
    text += _accounting(shape, place)
    if shape.rest:
        text += "AuthAltTypes=auth/jwt\n"
        text += f"AuthAltParameters=jwt_key={place.folder}/state/jwt.key\n"
    text += "GresTypes=gpu\n" if shape.gpus else ""
    text += "".join(_node(shape, place, index) for index in range(shape.nodes))
    return text + _partitions(shape)


def gres_conf(shape: Shape, place: Place) -> str:
    """The devices; the flag makes Slurm set CUDA_VISIBLE_DEVICES."""
    if not shape.gpus:
        return ""
    nodes = f"{place.name}-n[0-{shape.nodes - 1}]"
    files = f"{place.folder}/dev/nvidia[0-{shape.gpus - 1}]"
    return f"NodeName={nodes} Name=gpu File={files} Flags=nvidia_gpu_env\n"


def mpi_conf(place: Place) -> str:
    """Each node mounts a directory of its own there."""
    return f"PMIxCliTmpDirBase={place.folder}/pmix\n"


def cgroup_conf(shape: Shape) -> str:
    """Read whether cgroups are used or not."""
    return CGROUPS if shape.memory_limits else "CgroupPlugin=cgroup/v1\nCgroupAutomount=no\n"


def hosts(place: Place) -> str:
    """Where nodes find each other and the controller, as /etc/hosts has it."""
    lines = ["127.0.0.1 localhost"]
    for index, address in enumerate(place.node_addresses):
        lines.append(f"{address} {place.node(index)}")
    lines.append(f"{place.address} {place.host}")
    return "\n".join([*lines, ""])


def slurmdbd_conf(place: Place) -> str:
    """The accounting daemon; it refuses a file that others may read."""
    return (
        "AuthType=auth/munge\n"
        f"AuthInfo=socket={place.folder}/munge.socket\n"
        "DbdHost=localhost\n"
        f"DbdPort={place.database_port}\n"
        "SlurmUser=root\n"
        f"LogFile={place.folder}/slurmdbd.log\n"
        f"PidFile={place.folder}/slurmdbd.pid\n"
        "StorageType=accounting_storage/mysql\n"
        "StorageHost=localhost\n"
        "StorageUser=root\n"
        f"StorageLoc={DATABASE}\n"
    )


def _accounting(shape: Shape, place: Place) -> str:
    if shape.accounting == "text":
        return (
            f"JobCompType=jobcomp/filetxt\nJobCompLoc={place.folder}/jobcomp.txt\n"
            "AccountingStorageType=accounting_storage/none\n"
        )
    if shape.accounting == "slurmdbd":
        return (
            "AccountingStorageType=accounting_storage/slurmdbd\n"
            "AccountingStorageHost=localhost\n"
            f"AccountingStoragePort={place.database_port}\n"
            f"AccountingStoragePass={place.folder}/munge.socket\n"
            "AccountingStoreFlags=job_comment\n"
            "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1\n"
        )
    return "JobCompType=jobcomp/none\nAccountingStorageType=accounting_storage/none\n"


def _node(shape: Shape, place: Place, index: int) -> str:
    gres = f" Gres=gpu:{shape.gpus}" if shape.gpus else ""
    address, port = place.node_addresses[index], place.node_ports[index]
    return (
        f"NodeName={place.node(index)} NodeHostname={place.node(index)} NodeAddr={address} "
        f"Port={port} CPUs={shape.cpus} RealMemory={shape.memory_mb}{gres} State=UNKNOWN\n"
    )


def _partitions(shape: Shape) -> str:
    more = f"DefMemPerCPU={shape.memory_mb // shape.cpus // 2} MaxTime=INFINITE State=UP"
    if not shape.preemption:
        return MAIN.format(tier=1, more=more)
    return MAIN.format(tier=10, more=f"PreemptMode=off {more}") + PREEMPTION.format(
        grace_s=shape.grace_s
    )
