"""What each MPI needs to find its hosts: the form of a hostfile, the variables of a launcher.

A TrainJob with an MPI policy and an MPIJob want the same of Open MPI, Intel MPI and MPICH, and
differ only in the order of the variables (both upstream projects fixed theirs). So the table is
here, once, and the two front ends read it.

Open MPI 5 replaced its runtime: it reads `PRTE_MCA_*` and silently ignores `OMPI_MCA_orte_*`, and
then runs every process on the launcher. Open MPI 4 ignores the new names, so both sets are given.
`prte_keep_fqdn_hostnames` is false although its predecessor is true. The new runtime compares the
hosts of the file with its own host name, which in a pod is the short one; with full names it would
open an SSH connection to the launcher itself. It still connects by the full name.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

HOSTFILE_DIR: Final = "/etc/mpi"
"""Where the launcher finds its hostfile and what belongs to it."""

HOSTFILE_NAME: Final = "hostfile"

HOSTFILE_PATH: Final = f"{HOSTFILE_DIR}/{HOSTFILE_NAME}"

SSH_ARGS: Final = "-o ConnectionAttempts=10"
"""Workers may start after the launcher, so a refused connection is tried again."""

IDLE: Final = ("sleep", "infinity")
"""What a worker does where the launcher starts all processes itself, since they share its host."""

Variables = tuple[tuple[str, str], ...]
"""Names and values, in the order in which a container gets them."""


@dataclass(frozen=True, slots=True)
class Implementation:
    """One MPI. `{host}`, `{slots}` and `{hostfile}` stand for what a job has there."""

    name: str
    host_line: str
    """One line of the hostfile."""
    trainjob: Variables
    """The launcher's variables in Trainer's order."""
    mpijob: Variables
    """The launcher's variables in MPI Operator's order."""


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
        *_PRRTE,
    ),
    mpijob=(
        ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
        ("OMPI_MCA_orte_default_hostfile", "{hostfile}"),
        ("OMPI_MCA_plm_rsh_args", SSH_ARGS),
        ("OMPI_MCA_orte_set_default_slots", "{slots}"),
        *_PRRTE,
    ),
)

_INTEL: Final[Variables] = (
    ("I_MPI_HYDRA_HOST_FILE", "{hostfile}"),
    ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", SSH_ARGS),
    ("I_MPI_PERHOST", "{slots}"),
)

INTEL: Final = Implementation("Intel", "{host}:{slots}\n", trainjob=_INTEL, mpijob=_INTEL)

MPICH: Final = Implementation(
    name="MPICH",
    host_line="{host}:{slots}\n",
    trainjob=(("HYDRA_HOST_FILE", "{hostfile}"), ("HYDRA_LAUNCHER_EXTRA_ARGS", SSH_ARGS)),
    # MPI Operator has the name of an old MPICH; a newer one looks for the name above.
    mpijob=(("HYDRA_HOST_FILE", "{hostfile}"), ("HYDRA_LAUNCH_EXTRA_ARGS", SSH_ARGS)),
)

IMPLEMENTATIONS: Final[Mapping[str, Implementation]] = {
    each.name: each for each in (OPENMPI, INTEL, MPICH)
}


def implementation(name: str) -> Implementation:
    """Find an MPI by name; an empty one means Open MPI. The API admits no others."""
    return IMPLEMENTATIONS[name or OPENMPI.name]


def trainjob_env(name: str, slots: int, hostfile_path: str = HOSTFILE_PATH) -> Variables:
    """Give the variables of a TrainJob's launcher, in Trainer's order."""
    return _filled(implementation(name).trainjob, slots, hostfile_path)


def mpijob_env(name: str, slots: int, hostfile_path: str = HOSTFILE_PATH) -> Variables:
    """Give the variables of an MPIJob's launcher, in MPI Operator's order."""
    return _filled(implementation(name).mpijob, slots, hostfile_path)


def reserved_env(name: str) -> frozenset[str]:
    """Name what a TrainJob's author may not set: the variables that its launcher gets."""
    return frozenset(variable for variable, _ in implementation(name).trainjob)


def hostfile(name: str, hosts: Sequence[str], slots: int) -> str:
    """Write the hostfile: one line per host, in the given order, each with its slots.

    Pods that share a host share its line, because Open MPI refuses a host with slots twice.
    """
    line = implementation(name).host_line
    counts = Counter(hosts)
    return "".join(line.format(host=host, slots=slots * n) for host, n in counts.items())


def _filled(variables: Variables, slots: int, hostfile_path: str) -> Variables:
    return tuple(
        (name, value.format(slots=slots, hostfile=hostfile_path)) for name, value in variables
    )
