"""How the launcher of an MPIJob gets to its workers: over their SSH server, or a shell of ours."""

from dataclasses import dataclass

import pytest

from trainway.api.kinds import read
from trainway.api.mpijob import MPIJob
from trainway.compiler.keys import FixedKeys
from trainway.compiler.mpijob import compile_mpijob
from trainway.compiler.mpijob_test import compiled, manifest, pod, template
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.json_types import Json


def test_workers_on_the_launchers_own_host_only_wait() -> None:
    job = read(manifest())
    assert isinstance(job, MPIJob)
    network = KubernetesNetwork(JobIdentity("foo", "bar", "foo"), shares_host=True)
    made = compile_mpijob(job, network=network, keys=FixedKeys()).objects[-1]
    worker = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert worker["containers"][0]["command"] == ["sleep", "infinity"]
    assert "dnsConfig" not in worker


@dataclass(frozen=True)
class ShellCase:
    implementation: str
    variables: Json


@pytest.mark.parametrize(
    "case",
    [
        ShellCase(
            "OpenMPI",
            {
                "OMPI_MCA_plm_rsh_agent": "into",
                "OMPI_MCA_if_base_do_not_resolve": "true",
                "PRTE_MCA_plm_ssh_agent": "into",
                "PRTE_MCA_prte_do_not_resolve": "true",
            },
        ),
        ShellCase("Intel", {"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": "into"}),
        ShellCase("MPICH", {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": "into"}),
    ],
    ids=lambda case: case.implementation,
)
def test_a_remote_shell_is_all_that_changes(case: ShellCase) -> None:
    """The launcher is told of it, and workers need neither a server nor a search domain."""
    obj = manifest(workers=2, slotsPerWorker=3, mpiImplementation=case.implementation)
    job = read(obj)
    assert isinstance(job, MPIJob)
    network = KubernetesNetwork(JobIdentity("foo", "bar", "foo"), remote_shell="into")
    made = compile_mpijob(job, network=network, keys=FixedKeys()).objects
    expected = compiled(obj).objects
    worker, launcher = (
        role["template"]["spec"]["template"]["spec"]
        for role in expected[-1]["spec"]["replicatedJobs"]
    )
    env = launcher["containers"][0]["env"]
    added = [{"name": name, "value": value} for name, value in case.variables.items()]
    launcher["containers"][0]["env"] = [*env[:-2], *added, *env[-2:]]
    worker["containers"][0]["command"] = ["sleep", "infinity"]
    del worker["dnsConfig"]
    assert made == expected


@pytest.mark.parametrize("shares_host", [True, False])
def test_a_worker_s_own_ssh_server_idles_where_nobody_logs_in(shares_host: bool) -> None:
    own = {"command": ["/usr/sbin/sshd"], "args": ["-De", "-f", "/home/mpiuser/.sshd_config"]}
    probe = {"readinessProbe": {"tcpSocket": {"port": 2222}}}
    obj = manifest(worker=template(containers=[{"name": "main", "image": "mpi", **own, **probe}]))
    job = read(obj)
    assert isinstance(job, MPIJob)
    network = KubernetesNetwork(
        JobIdentity("foo", "bar", "foo"), shares_host=shares_host, remote_shell="into"
    )
    made = compile_mpijob(job, network=network, keys=FixedKeys()).objects[-1]
    worker = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    assert worker["containers"][0]["command"] == ["sleep", "infinity"]
    assert not worker["containers"][0].keys() & {"args", "readinessProbe"}
    assert pod(obj, "worker")["containers"][0].items() >= (own | probe).items()


def test_arguments_alone_keep_the_ssh_server_away() -> None:
    obj = manifest(worker=template(containers=[{"name": "main", "image": "mpi", "args": ["-v"]}]))
    assert "command" not in pod(obj, "worker")["containers"][0]
