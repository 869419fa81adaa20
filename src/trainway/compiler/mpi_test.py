from dataclasses import dataclass

import pytest

from trainway.compiler import mpi
from trainway.jobset.model import Container

SSH = "-o ConnectionAttempts=10"
PATH = "/etc/mpi/hostfile"
PRRTE = (
    ("PRTE_MCA_prte_default_hostfile", PATH),
    ("PRTE_MCA_prte_keep_fqdn_hostnames", "false"),
    ("PRTE_MCA_prte_set_default_slots", "4"),
    ("PRTE_MCA_plm_ssh_args", SSH),
)


@dataclass(frozen=True)
class Case:
    implementation: str
    trainjob: mpi.Variables
    mpijob: mpi.Variables
    remote_shell: mpi.Variables
    hostfile: str


CASES = [
    Case(
        implementation="OpenMPI",
        trainjob=(
            ("OMPI_MCA_orte_default_hostfile", PATH),
            ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
            ("OMPI_MCA_orte_set_default_slots", "4"),
            ("OMPI_MCA_plm_rsh_args", SSH),
            *PRRTE,
        ),
        mpijob=(
            ("OMPI_MCA_orte_keep_fqdn_hostnames", "true"),
            ("OMPI_MCA_orte_default_hostfile", PATH),
            ("OMPI_MCA_plm_rsh_args", SSH),
            ("OMPI_MCA_orte_set_default_slots", "4"),
            *PRRTE,
        ),
        remote_shell=(
            ("OMPI_MCA_plm_rsh_agent", "into"),
            ("OMPI_MCA_if_base_do_not_resolve", "true"),
            ("PRTE_MCA_plm_ssh_agent", "into"),
            ("PRTE_MCA_prte_do_not_resolve", "true"),
        ),
        hostfile="a.t slots=4\nb.t slots=4\n",
    ),
    Case(
        implementation="Intel",
        trainjob=(
            ("I_MPI_HYDRA_HOST_FILE", PATH),
            ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", SSH),
            ("I_MPI_PERHOST", "4"),
        ),
        mpijob=(
            ("I_MPI_HYDRA_HOST_FILE", PATH),
            ("I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS", SSH),
            ("I_MPI_PERHOST", "4"),
        ),
        remote_shell=(("I_MPI_HYDRA_BOOTSTRAP", "ssh"), ("I_MPI_HYDRA_BOOTSTRAP_EXEC", "into")),
        hostfile="a.t:4\nb.t:4\n",
    ),
    Case(
        implementation="MPICH",
        trainjob=(("HYDRA_HOST_FILE", PATH), ("HYDRA_LAUNCHER_EXTRA_ARGS", SSH)),
        mpijob=(("HYDRA_HOST_FILE", PATH), ("HYDRA_LAUNCH_EXTRA_ARGS", SSH)),
        remote_shell=(("HYDRA_LAUNCHER", "ssh"), ("HYDRA_LAUNCHER_EXEC", "into")),
        hostfile="a.t:4\nb.t:4\n",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.implementation)
def test_each_implementation(case: Case) -> None:
    assert mpi.trainjob_env(case.implementation, 4) == case.trainjob
    assert mpi.mpijob_env(case.implementation, 4) == case.mpijob
    for env, there in ((mpi.trainjob_env, case.trainjob), (mpi.mpijob_env, case.mpijob)):
        made = env(case.implementation, 4, remote_shell="into")
        assert made == (*there, *case.remote_shell)
    assert mpi.hostfile(case.implementation, ["a.t", "b.t"], 4) == case.hostfile
    reserved = {name for name, _ in case.trainjob if not name.startswith("PRTE_")}
    assert mpi.reserved_env(case.implementation) == reserved


def test_the_table_names_every_implementation_of_the_api() -> None:
    assert list(mpi.IMPLEMENTATIONS) == [case.implementation for case in CASES]


def test_an_empty_name_means_open_mpi() -> None:
    assert mpi.implementation("") is mpi.OPENMPI


def test_the_path_of_the_hostfile_can_be_chosen() -> None:
    env = dict(mpi.trainjob_env("OpenMPI", 1, "/run/hosts"))
    assert env["OMPI_MCA_orte_default_hostfile"] == "/run/hosts"
    assert env["PRTE_MCA_prte_default_hostfile"] == "/run/hosts"


def test_no_hosts_give_an_empty_hostfile() -> None:
    assert mpi.hostfile("OpenMPI", [], 1) == ""


@dataclass(frozen=True)
class ServerCase:
    container: dict[str, list[str]]
    serves: bool


@pytest.mark.parametrize(
    "case",
    [
        ServerCase({"command": ["/usr/sbin/sshd", "-De"]}, serves=True),
        ServerCase({"command": ["sshd"], "args": ["-De"]}, serves=True),
        ServerCase({"args": ["/usr/sbin/sshd", "-De"]}, serves=True),
        ServerCase({"command": ["work"], "args": ["sshd"]}, serves=False),
        ServerCase({"command": ["/usr/sbin/sshd/work"]}, serves=False),
        ServerCase({}, serves=False),
    ],
    ids=str,
)
def test_a_container_that_serves_ssh(case: ServerCase) -> None:
    assert mpi.runs_ssh_server(Container(dict(case.container))) is case.serves


def test_pods_that_share_a_host_share_its_line() -> None:
    assert mpi.hostfile("OpenMPI", ["127.0.0.1"] * 3, 2) == "127.0.0.1 slots=6\n"
