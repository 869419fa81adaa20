"""MPI: SSH keys for all nodes, a hostfile for the launcher, and the variables that point to it."""

from collections.abc import Iterator

from trainway.api.runtime import MPIPolicy
from trainway.compiler.companions import config_map, ssh_secret
from trainway.compiler.devices import gpus
from trainway.compiler.host_list import host_indexes
from trainway.compiler.mpi import (
    HOSTFILE_DIR,
    HOSTFILE_NAME,
    hostfile,
    let_idle,
    reserved_env,
    serves_ssh,
    trainjob_env,
    unless_set,
)
from trainway.compiler.plugins.reserved_env import reserved_env_errors
from trainway.compiler.workload import LAUNCHER, NODE, Role, Workload
from trainway.json_types import Json
from trainway.schema.field import FieldError, invalid

SSH_VOLUME = "mpi-ssh-auth"
HOSTFILE_VOLUME = "mpi-hostfile"


class MPI:
    """Active where the runtime has the policy `mpi`: a role `node` and a role `launcher`."""

    name = "MPI"
    order = 500

    def validate(self, workload: Workload) -> Iterator[FieldError]:
        """Both roles are there when both are needed, and the job sets none of our variables."""
        policy = workload.ml_policy.mpi
        if policy is None:
            return
        nodes = workload.settings.num_nodes or 1
        has_both = workload.role(LAUNCHER) and workload.role(NODE)
        if policy.run_launcher_as_node and nodes >= 2 and not has_both:
            detail = (
                "must have 1 when MPI trainingRuntime with enabled runLauncherAsNode "
                "does not have either launcher and node"
            )
            yield invalid(("spec", "trainer", "numNodes"), nodes, detail)
        yield from reserved_env_errors(workload, reserved_env(policy.mpi_implementation))

    def enforce_ml_policy(self, workload: Workload) -> None:
        """Set counts, volumes and the launcher's variables."""
        policy = workload.ml_policy.mpi
        if policy is None:
            return
        _set_counts(workload, policy)
        for name in (NODE, LAUNCHER):
            role = workload.role(name)
            if role is not None:
                _add_ssh(role, workload, policy)
        launcher, node = workload.role(LAUNCHER), workload.role(NODE)
        if launcher is not None:
            _add_hostfile(launcher, workload, policy)
        worker = node.container(NODE) if node is not None else None
        if launcher is not None and worker is not None and not serves_ssh(workload.network):
            let_idle(worker)

    def build(self, workload: Workload) -> Iterator[Json]:
        """The key pair and the hostfile."""
        policy = workload.ml_policy.mpi
        if policy is None:
            return
        secret = ssh_secret(workload.owned(_ssh_secret(workload)), workload.keys.ssh_keypair())
        yield secret | {"immutable": True}
        hosts = [
            host
            for role in workload.roles
            if role.name == NODE or (policy.run_launcher_as_node and role.name == LAUNCHER)
            for host in _hosts(role, workload)
        ]
        text = hostfile(policy.mpi_implementation, hosts, slots(workload, policy))
        yield config_map(workload.owned(_hostfile_map(workload)), {HOSTFILE_NAME: text})


def slots(workload: Workload, policy: MPIPolicy) -> int:
    """Processes per node: the job's number, else the runtime's, which 1 leaves to the GPUs."""
    if workload.settings.num_proc_per_node is not None:
        return workload.settings.num_proc_per_node
    if policy.num_proc_per_node == 1:
        return max(1, gpus(workload.node_resources))
    return policy.num_proc_per_node


def _hosts(role: Role, workload: Workload) -> Iterator[str]:
    """All pods of a role, those of its first job first."""
    for index in host_indexes(role.name, role.job.replicas * role.count):
        job, pod = divmod(index, role.count)
        yield workload.network.host(role.name, pod, job)


def _set_counts(workload: Workload, policy: MPIPolicy) -> None:
    """The nodes go to the workers, less the launcher where it is one of them (defects D3, D4)."""
    launcher, node = workload.role(LAUNCHER), workload.role(NODE)
    if launcher is not None:
        launcher.count = 1
    if node is None:
        return
    asked = workload.settings.num_nodes is not None or workload.ml_policy.num_nodes is not None
    total = workload.num_nodes if asked else node.count
    as_node = policy.run_launcher_as_node and launcher is not None
    node.count = max(total - 1, 0) if as_node else total


def _add_ssh(role: Role, workload: Workload, policy: MPIPolicy) -> None:
    items = [
        {"key": "ssh-privatekey", "path": "id_rsa", "mode": 0o640},
        {"key": "ssh-publickey", "path": "id_rsa.pub", "mode": 0o644},
        {"key": "ssh-publickey", "path": "authorized_keys", "mode": 0o644},
    ]
    secret = {"secretName": _ssh_secret(workload), "defaultMode": 0o400, "items": items}
    role.pod.set_volume({"name": SSH_VOLUME, "secret": secret})
    container = role.container(NODE)
    if container is not None:
        container.set_mount(SSH_VOLUME, policy.ssh_auth_mount_path)


def _add_hostfile(launcher: Role, workload: Workload, policy: MPIPolicy) -> None:
    items = [{"key": HOSTFILE_NAME, "path": HOSTFILE_NAME, "mode": 0o444}]
    source = {"name": _hostfile_map(workload), "items": items}
    launcher.pod.set_volume({"name": HOSTFILE_VOLUME, "configMap": source})
    container = launcher.container(NODE)
    if container is not None:
        container.set_mount(HOSTFILE_VOLUME, HOSTFILE_DIR)
        env = trainjob_env(
            policy.mpi_implementation,
            slots(workload, policy),
            remote_shell=workload.network.remote_shell,
        )
        env = unless_set(policy.mpi_implementation, env, container)
        container.set_env(*({"name": name, "value": value} for name, value in env))


def _ssh_secret(workload: Workload) -> str:
    return f"{workload.name}-mpi-ssh-auth"


def _hostfile_map(workload: Workload) -> str:
    return f"{workload.name}-mpi-hostfile"
