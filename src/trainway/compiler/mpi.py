"""What each MPI needs to find its hosts: the form of a hostfile, the variables of a launcher.

A TrainJob with an MPI policy and an MPIJob want the same of Open MPI, Intel MPI and MPICH, and
differ only in the order of the variables (both upstream projects fixed theirs). So the table is
here, once, and the two front ends read it.

Open MPI 5 replaced its runtime: it reads `PRTE_MCA_*` and silently ignores `OMPI_MCA_orte_*`, and
then runs every process on the launcher. Open MPI 4 ignores the new names, so both sets are given.
`prte_keep_fqdn_hostnames` is false although its predecessor is true. The new runtime compares the
hosts of the file with its own host name, which in a pod is the short one; with full names it would
open an SSH connection to the launcher itself. It still connects by the full name. Neither upstream
project knows these names, so jobs there set them themselves; what a job sets, it keeps.

Where a network has a remote shell of its own, the launcher uses that in the place of `ssh`, and no
worker serves SSH. Open MPI is told not to resolve names: a worker beside the launcher has the same
address, and its processes would else be started as if they were the launcher's.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.compiler.network import Network
from trainway.jobset.model import Container

HOSTFILE_DIR: Final = "/etc/mpi"
"""Where the launcher finds its hostfile and what belongs to it."""

HOSTFILE_NAME: Final = "hostfile"

HOSTFILE_PATH: Final = f"{HOSTFILE_DIR}/{HOSTFILE_NAME}"

SSH_ARGS: Final = "-o ConnectionAttempts=10"
"""Workers may start after the launcher, so a refused connection is tried again."""

IDLE: Final = ("sleep", "infinity")
"""What a worker does where nobody logs in to it."""

_SSH_SERVER: Final = "sshd"
_PROBES: Final = ("readinessProbe", "startupProbe", "livenessProbe")

Variables = tuple[tuple[str, str], ...]
"""Names and values, in the order in which a container gets them."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """One MPI. `{host}`, `{slots}`, `{hostfile}`, `{shell}` stand for what a job has there."""

    name: str
    host_line: str
    """One line of the hostfile."""
    trainjob: Variables
    """The launcher's variables in Trainer's order, those that upstream has."""
    mpijob: Variables
    """The launcher's variables in MPI Operator's order, those that upstream has."""
    added: Variables
    """Those that only we set, and that give way to what a job sets itself."""
    remote_shell: Variables
    """Further ones, where the network has a remote shell."""


_PRRTE: Final[Variables] = (
    ("PRTE_MCA_prte_default_hostfile", "{hostfile}"),
    ("PRTE_MCA_prte_keep_fqdn_hostnames", "false"),
    ("PRTE_MCA_prte_set_default_slots", "{slots}"),
    ("PRTE_MCA_plm_ssh_args", SSH_ARGS),
)

OPENMPI: Final = Implementation(
    name="OpenMPI",
    host_line="{host} slots={slots}\n",
    trainjob=(
        ("OMPI_MCA_orte_default_hostfile", "{hostfile}"),
        ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        ("OMPI_MCA_orte_set_default_slots", "{slots}"),
        ("OMPI_MCA_plm_rsh_args", SSH_ARGS),
    ),
    mpijob=(
        ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        ("OMPI_MCA_orte_default_hostfile", "{hostfile}"),
        ("OMPI_MCA_plm_rsh_args", SSH_ARGS),
        ("OMPI_MCA_orte_set_default_slots", "{slots}"),
    ),
    added=_PRRTE,
    remote_shell=(
        ("OMPI_MCA_plm_rsh_agent", "{shell}"),
        ("OMPI_MCA_if_base_do_not_resolve", "true"),
        ("PRTE_MCA_plm_ssh_agent", "{shell}"),
        ("PRTE_MCA_prte_do_not_resolve", "true"),
    ),
)

_INTEL: Final[Variables] = (
    ("I_MPI_HYDRA_HOST_FILE", "{hostfile}"),
    ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", SSH_ARGS),
    ("I_MPI_PERHOST", "{slots}"),
)

INTEL: Final = Implementation(
    name="Intel",
    host_line="{host}:{slots}\n",
    trainjob=_INTEL,
    mpijob=_INTEL,
    added=(),
    # In a batch system it would start its processes by other means.
    remote_shell=(("I_MPI_HYDRA_BOOTSTRAP", "ssh"), ("I_MPI_HYDRA_BOOTSTRAP_EXEC", "{shell}")),
)

MPICH: Final = Implementation(
    name="MPICH",
    host_line="{host}:{slots}\n",
    trainjob=(("HYDRA_HOST_FILE", "{hostfile}"), ("HYDRA_LAUNCHER_EXTRA_ARGS", SSH_ARGS)),
    # MPI Operator has the name of an old MPICH; a newer one looks for the name above.
    mpijob=(("HYDRA_HOST_FILE", "{hostfile}"), ("HYDRA_LAUNCH_EXTRA_ARGS", SSH_ARGS)),
    added=(),
    remote_shell=(("HYDRA_LAUNCHER", "ssh"), ("HYDRA_LAUNCHER_EXEC", "{shell}")),
)

IMPLEMENTATIONS: Final[Mapping[str, Implementation]] = {
    each.name: each for each in (OPENMPI, INTEL, MPICH)
}


def implementation(name: str) -> Implementation:
    """Find an MPI by name; an empty one means Open MPI. The API admits no others."""
    return IMPLEMENTATIONS[name or OPENMPI.name]


def trainjob_env(
    name: str, slots: int, hostfile_path: str = HOSTFILE_PATH, remote_shell: str = ""
) -> Variables:
    """Give the variables of a TrainJob's launcher, in Trainer's order."""
    made = implementation(name)
    return _filled(made.trainjob, made, slots, hostfile_path, remote_shell)


def mpijob_env(
    name: str, slots: int, hostfile_path: str = HOSTFILE_PATH, remote_shell: str = ""
) -> Variables:
    """Give the variables of an MPIJob's launcher, in MPI Operator's order."""
    made = implementation(name)
    return _filled(made.mpijob, made, slots, hostfile_path, remote_shell)


def reserved_env(name: str) -> frozenset[str]:
    """Name what a TrainJob's author may not set: what its launcher gets, as upstream has it."""
    return frozenset(variable for variable, _ in implementation(name).trainjob)


def unless_set(name: str, variables: Variables, container: Container) -> Variables:
    """Leave out what gives way to the container's own: that which upstream does not set."""
    added = {variable for variable, _ in implementation(name).added}
    own = added & {entry["name"] for entry in container.env}
    return tuple(each for each in variables if each[0] not in own)


def hostfile(name: str, hosts: Sequence[str], slots: int) -> str:
    """Write the hostfile: one line per host, in the given order, each with its slots.

    Pods that share a host share its line, because Open MPI refuses a host with slots twice.
    """
    line = implementation(name).host_line
    counts = Counter(hosts)
    return "".join(line.format(host=host, slots=slots * n) for host, n in counts.items())


def serves_ssh(network: Network) -> bool:
    """Whether the launcher logs in to its workers, so that each must serve SSH."""
    return not network.shares_host and not network.remote_shell


def runs_ssh_server(container: Container) -> bool:
    """Whether a container does nothing but serve SSH."""
    words = [*container.command, *(container.data.get("args") or [])]
    return bool(words) and words[0].rpartition("/")[2] == _SSH_SERVER


def let_idle(container: Container) -> None:
    """Have a worker wait to be used, with no SSH server that would have to be ready."""
    for field in ("args", *_PROBES):
        container.data.pop(field, None)
    container.data["command"] = list(IDLE)


def _filled(
    variables: Variables, made: Implementation, slots: int, hostfile_path: str, remote_shell: str
) -> Variables:
    further = made.remote_shell if remote_shell else ()
    return tuple(
        (name, value.format(slots=slots, hostfile=hostfile_path, shell=remote_shell))
        for name, value in (*variables, *made.added, *further)
    )
