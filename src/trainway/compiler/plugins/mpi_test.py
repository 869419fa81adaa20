from functools import partial

import pytest

from trainway.compiler.network import KubernetesNetwork
from trainway.compiler.testing import (
    compiled,
    env,
    found,
    messages,
    node,
    pods,
    role,
    runtime,
    trainjob,
)
from trainway.json_types import Json

AS_NODE = {"mpi": {"runLauncherAsNode": True, "sshAuthMountPath": "/home/mpiuser/.ssh"}}
GPUS = {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 2}}}


def mpi_runtime(policy: Json) -> Json:
    return runtime(policy, role("node", ""), role("launcher"))


def test_worked_example_of_deepspeed() -> None:
    job = trainjob({"numNodes": 3, "env": [{"name": "A", "value": "1"}], **GPUS})
    outcome = compiled(mpi_runtime(AS_NODE), job)
    assert pods(outcome) == {"node": 2, "launcher": 1}
    assert found(outcome, "ConfigMap")["metadata"]["name"] == "t-mpi-hostfile"
    assert found(outcome, "ConfigMap")["data"]["hostfile"] == (
        "t-node-0-0.t slots=2\nt-node-0-1.t slots=2\nt-launcher-0-0.t slots=2\n"
    )
    variables = env(node(outcome, "launcher"))
    assert variables["OMPI_MCA_orte_set_default_slots"] == "2"
    assert variables["OMPI_MCA_orte_default_hostfile"] == "/etc/mpi/hostfile"
    assert env(node(outcome, "node")) == {"A": "1"}
    for name in ("node", "launcher"):
        assert node(outcome, name).resources == GPUS["resourcesPerNode"]
        assert node(outcome, name).mounts("mpi-ssh-auth")
    secret = found(outcome, "Secret")
    assert secret["type"] == "kubernetes.io/ssh-auth"
    assert secret["immutable"] is True
    assert set(secret["data"]) == {"ssh-privatekey", "ssh-publickey"}


def test_a_launcher_that_only_drives_is_not_listed() -> None:
    outcome = compiled(mpi_runtime({"mpi": {"numProcPerNode": 4}}), trainjob({"numNodes": 1}))
    assert found(outcome, "ConfigMap")["data"]["hostfile"] == "t-node-0-0.t slots=4\n"
    assert "OMPI_MCA_orte_default_hostfile" not in env(node(outcome, "node"))


@pytest.mark.parametrize(
    ("implementation", "line", "variable"),
    [
        ("Intel", "t-node-0-0.t:3\n", "I_MPI_HYDRA_HOST_FILE"),
        ("MPICH", "t-node-0-0.t:3\n", "HYDRA_HOST_FILE"),
        ("", "t-node-0-0.t slots=3\n", "PRTE_MCA_prte_default_hostfile"),
    ],
)
def test_implementations(implementation: str, line: str, variable: str) -> None:
    policy = {"mpi": {"mpiImplementation": implementation, "numProcPerNode": 3}}
    outcome = compiled(mpi_runtime(policy), trainjob({"numNodes": 1}))
    assert found(outcome, "ConfigMap")["data"]["hostfile"] == line
    assert env(node(outcome, "launcher"))[variable] == "/etc/mpi/hostfile"


def test_nodes_of_the_template_count_where_nobody_asks_for_nodes() -> None:
    rt = mpi_runtime({"mpi": {}})
    rt["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["parallelism"] = 4
    assert pods(compiled(rt, trainjob({}))) == {"node": 4, "launcher": 1}


def test_two_nodes_need_both_roles() -> None:
    rt = runtime(AS_NODE, role("node"))
    assert messages(rt, trainjob({"numNodes": 1})) == []
    (message,) = messages(rt, trainjob({"numNodes": 2}))
    assert message.startswith("spec.trainer.numNodes: Invalid value: 2: must have 1 when MPI")


def test_reserved_variables() -> None:
    job = trainjob({"env": [{"name": "OMPI_MCA_plm_rsh_args", "value": ""}]})
    (message,) = messages(mpi_runtime(AS_NODE), job)
    assert message.endswith("invalid envs configured: [OMPI_MCA_plm_rsh_args]")


def test_what_upstream_does_not_set_the_job_may() -> None:
    port = {"name": "PRTE_MCA_plm_ssh_args", "value": "-p 2222"}
    outcome = compiled(mpi_runtime(AS_NODE), trainjob({"env": [port]}))
    assert env(node(outcome, "launcher"))["PRTE_MCA_plm_ssh_args"] == "-p 2222"
    slots = {"name": "PRTE_MCA_prte_set_default_slots", "value": "9"}
    own = runtime(AS_NODE, role("node", ""), role("launcher", env=[slots]))
    variables = env(node(compiled(own, trainjob({})), "launcher"))
    assert variables["PRTE_MCA_prte_set_default_slots"] == "9"
    assert variables["PRTE_MCA_plm_ssh_args"] == "-o ConnectionAttempts=10"


def test_every_job_of_the_workers_is_listed() -> None:
    workers = role("node", "") | {"replicas": 2}
    outcome = compiled(runtime({"mpi": {}}, workers, role("launcher")), trainjob({"numNodes": 2}))
    hosts = [line.split(".")[0] for line in found(outcome, "ConfigMap")["data"]["hostfile"].split()]
    assert hosts[::2] == ["t-node-0-0", "t-node-0-1", "t-node-1-0", "t-node-1-1"]


def test_workers_on_the_launcher_s_host_need_no_ssh_server() -> None:
    probe = {"tcpSocket": {"port": 2222}}
    worker = role("node", "", command=["/usr/sbin/sshd"], args=["-De"], readinessProbe=probe)
    rt = runtime(AS_NODE, worker, role("launcher"))
    outcome = compiled(
        rt, trainjob({"numNodes": 3}), network=partial(KubernetesNetwork, shares_host=True)
    )
    container = node(outcome, "node")
    assert container.command == ["sleep", "infinity"]
    assert not container.data.keys() & {"args", "readinessProbe"}
    assert node(compiled(rt, trainjob({"numNodes": 3})), "node").command == ["/usr/sbin/sshd"]


@pytest.mark.parametrize(
    ("implementation", "variables"),
    [
        (
            "OpenMPI",
            {
                "OMPI_MCA_plm_rsh_agent": "into",
                "OMPI_MCA_if_base_do_not_resolve": "true",
                "PRTE_MCA_plm_ssh_agent": "into",
                "PRTE_MCA_prte_do_not_resolve": "true",
            },
        ),
        ("Intel", {"I_MPI_HYDRA_BOOTSTRAP": "ssh", "I_MPI_HYDRA_BOOTSTRAP_EXEC": "into"}),
        ("MPICH", {"HYDRA_LAUNCHER": "ssh", "HYDRA_LAUNCHER_EXEC": "into"}),
    ],
)
def test_a_remote_shell_is_all_that_changes(implementation: str, variables: dict[str, str]) -> None:
    worker = role("node", "", command=["/usr/sbin/sshd"], args=["-De"])
    rt = runtime({"mpi": {"mpiImplementation": implementation}}, worker, role("launcher"))
    job = trainjob({"numNodes": 3})
    outcome = compiled(rt, job, network=partial(KubernetesNetwork, remote_shell="into"))
    plain = compiled(rt, job)
    launcher = env(node(plain, "launcher"))
    assert env(node(outcome, "launcher")) == launcher | variables
    assert not launcher.keys() & variables.keys()
    assert node(outcome, "node").command == ["sleep", "infinity"]
    assert "args" not in node(outcome, "node").data
    assert env(node(outcome, "node")) == env(node(plain, "node"))
    assert found(outcome, "ConfigMap") == found(plain, "ConfigMap")
