"""An MPIJob as a JobSet.

MPI Operator makes a Service, a launcher Job and bare worker pods. Here they are the replicated jobs
`launcher` and `worker` of one JobSet, whose headless service names the pods. How a JobSet comes to
behave like them:

- The launcher decides. The JobSet succeeds with the launcher's Job, and fails with it, without a
  restart of the set. Retries (`backoffLimit`) and the deadline are those of the launcher's Job.
- A failed worker does not fail the MPIJob. No failure policy of a JobSet ignores a failed Job, so
  the worker's Job must not fail: its `backoffLimit` is the highest there is, and a worker that
  failed is started again, after Kubernetes' growing delay. (Upstream leaves it as it is. A limit
  per index would do so too, but that Job fails as soon as no index is left.)
- A pod is replaced only when the old one is gone, so no two pods ever have the same host name.
- The TTL stands on the JobSet. On the launcher's Job it could remove that Job before the JobSet has
  seen how it ended, and the launcher would run again.
- No worker outlives its launcher, whatever `cleanPodPolicy` says: a JobSet that is over stops what
  still runs.
- A launcher that waits for its workers is not counted in the gang: it comes when they run already,
  so a gang that counts it, as upstream's does, never starts.

A Job gives all its pods the same labels, so `training.kubeflow.org/replica-index` is left out; each
pod has `batch.kubernetes.io/job-completion-index` instead. The Jobs have the same labels as their
pods, so that one selector finds both.
"""

import copy
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from trainway.api import mpijob as api
from trainway.api.mpijob import MPIJob, ReplicaSpec, SchedulingPolicy
from trainway.compiler import mpi
from trainway.compiler.companions import config_map, ssh_secret
from trainway.compiler.compiled import Compiled
from trainway.compiler.host_list import host_indexes
from trainway.compiler.keys import Keys
from trainway.compiler.mpijob_gang import GangScheduling, Members
from trainway.compiler.network import Network
from trainway.compiler.ownership import owned_metadata
from trainway.jobset import model
from trainway.jobset.labels import MPI_JOB_NAME, MPI_JOB_ROLE, MPI_OPERATOR_NAME, VOLCANO_QUEUE_NAME
from trainway.jobset.model import Container, PodTemplate, replicated_jobs
from trainway.json_types import Json

API_VERSION: Final = "kubeflow.org/v2beta1"
KIND: Final = "MPIJob"

LAUNCHER: Final = api.LAUNCHER.lower()
WORKER: Final = api.WORKER.lower()

OPERATOR: Final = "mpi-operator"

SSH_VOLUME: Final = "ssh-auth"
_CONFIG_VOLUME: Final = "mpi-job-config"
_DISCOVER_HOSTS: Final = "discover_hosts.sh"
_ROOT_SSH_PATH: Final = "/root/.ssh"
_SSH_SERVER: Final = ("/usr/sbin/sshd", "-De")
_HIGHEST_BACKOFF_LIMIT: Final = 2**31 - 1

_NO_DEVICES: Final = (("NVIDIA_VISIBLE_DEVICES", ""), ("NVIDIA_DRIVER_CAPABILITIES", ""))
"""A launcher that does not work gets no GPUs, also where the NVIDIA runtime would give it all."""


def compile_mpijob(
    job: MPIJob,
    *,
    network: Network,
    keys: Keys,
    gang: GangScheduling | None = None,
    running: Collection[int] | None = None,
) -> Compiled:
    """Make what the job needs: Secret, ConfigMap, with a gang its PodGroup, and the JobSet.

    `running` are the workers that run, by index; None: nobody knows, so all are taken to.
    """
    policy = job.spec.run_policy
    if (policy.managed_by or api.CONTROLLER) != api.CONTROLLER:
        return Compiled()
    name = job.metadata.name
    objects = [
        ssh_secret(_owned(job, f"{name}-ssh"), keys.ssh_keypair()),
        config_map(_owned(job, f"{name}-config"), _config(job, network, running)),
    ]
    if gang and not policy.suspend:  # upstream too makes the group when the job starts
        objects.append(_pod_group(job, gang))
    jobset = _jobset(job, network, gang)
    return Compiled([*objects, jobset], _warnings(job, jobset))


def discover_hosts(hosts: Sequence[str]) -> str:
    """Write the script that tells elastic Horovod which hosts there are."""
    return "#!/bin/sh\n" + "".join(f"echo {host}\n" for host in hosts)


def _owned(job: MPIJob, name: str) -> Json:
    labels = {"app": job.metadata.name}
    return owned_metadata(API_VERSION, KIND, job.metadata, name, labels=labels)


def _replicas(job: MPIJob) -> dict[str, ReplicaSpec]:
    """Give what the job says of each role that has pods, the launcher first."""
    specs = job.spec.mpi_replica_specs
    return {role.lower(): specs[role] for role in (api.LAUNCHER, api.WORKER) if role in specs}


def _waits_for_workers(job: MPIJob) -> bool:
    return job.spec.launcher_creation_policy != "AtStartup" and WORKER in _replicas(job)


def _config(job: MPIJob, network: Network, running: Collection[int] | None) -> dict[str, str]:
    """Write the files of the launcher: all workers in the hostfile, running ones in the script."""
    spec = job.spec
    launcher = [network.fqdn(LAUNCHER, 0)] if spec.run_launcher_as_worker else []
    count = _replicas(job)[WORKER].replicas if WORKER in _replicas(job) else 0
    workers = [network.fqdn(WORKER, index) for index in host_indexes(api.WORKER, count)]
    hostfile = mpi.hostfile(spec.mpi_implementation, launcher + workers, spec.slots_per_worker)
    found = [host for index, host in enumerate(workers) if running is None or index in running]
    return {
        mpi.HOSTFILE_NAME: hostfile,
        _DISCOVER_HOSTS: discover_hosts(launcher + sorted(found)),
    }


def _pod_group(job: MPIJob, gang: GangScheduling) -> Json:
    roles = {
        role: Members(replica.replicas, replica.template["spec"])
        for role, replica in _replicas(job).items()
    }
    classes = [members.priority_class for members in roles.values()]
    if _waits_for_workers(job):
        del roles[LAUNCHER]
    return gang.pod_group(
        _owned(job, job.metadata.name),
        job.spec.run_policy.scheduling_policy or SchedulingPolicy(),
        list(roles.values()),
        queue=job.metadata.annotations.get(VOLCANO_QUEUE_NAME, ""),
        priority_class=next((name for name in classes if name), ""),
    )


def _jobset(job: MPIJob, network: Network, gang: GangScheduling | None) -> Json:
    policy = job.spec.run_policy
    replicas = _replicas(job)
    roles = [_launcher(job, _pod(job, LAUNCHER, gang), network)]
    if WORKER in replicas:
        # A role may depend only on those before it.
        roles.insert(0, _worker(job, _pod(job, WORKER, gang), network))
    spec: Json = {
        "network": {
            "enableDNSHostnames": True,
            "publishNotReadyAddresses": job.spec.run_launcher_as_worker,
        },
        "replicatedJobs": roles,
        "successPolicy": {"operator": "All", "targetReplicatedJobs": [LAUNCHER]},
        "failurePolicy": {"maxRestarts": 0},
        "suspend": policy.suspend,
        **_given(ttlSecondsAfterFinished=policy.ttl_seconds_after_finished),
    }
    return {
        "apiVersion": model.API_VERSION,
        "kind": model.KIND,
        "metadata": _owned(job, job.metadata.name),
        "spec": spec,
    }


def _launcher(job: MPIJob, pod: PodTemplate, network: Network) -> Json:
    policy = job.spec.run_policy
    container = pod.containers[0]
    env = mpi.unless_set(job.spec.mpi_implementation, _launcher_env(job, network), container)
    _set_env(container, *env)
    pod.set_volume(_config_volume(f"{job.metadata.name}-config"))
    container.set_mount(_CONFIG_VOLUME, mpi.HOSTFILE_DIR)
    limits = _given(
        backoffLimit=policy.backoff_limit, activeDeadlineSeconds=policy.active_deadline_seconds
    )
    waits = [{"name": WORKER, "status": "Ready"}] if _waits_for_workers(job) else None
    return _replicated_job(job, LAUNCHER, limits, pod) | _given(dependsOn=waits)


def _launcher_env(job: MPIJob, network: Network) -> mpi.Variables:
    spec = job.spec
    variables = mpi.mpijob_env(
        spec.mpi_implementation, spec.slots_per_worker, remote_shell=network.remote_shell
    )
    return variables if spec.run_launcher_as_worker else variables + _NO_DEVICES


def _worker(job: MPIJob, pod: PodTemplate, network: Network) -> Json:
    container = pod.containers[0]
    if not container.data.get("command") and not container.data.get("args"):
        container.data["command"] = list(_SSH_SERVER)
    if mpi.serves_ssh(network):
        dns: Json = pod.spec.setdefault("dnsConfig", {})
        dns["searches"] = [*dns.get("searches", []), network.domain]
    elif mpi.runs_ssh_server(container):
        mpi.let_idle(container)
    return _replicated_job(job, WORKER, {"backoffLimit": _HIGHEST_BACKOFF_LIMIT}, pod)


def _replicated_job(job: MPIJob, role: str, limits: Json, pod: PodTemplate) -> Json:
    pods = _replicas(job)[role].replicas
    spec = {
        "parallelism": pods,
        "completions": pods,
        "completionMode": "Indexed",
        **limits,
        "podReplacementPolicy": "Failed",
        "template": pod.data,
    }
    metadata = {"labels": _labels(job, role)}
    return {"name": role, "replicas": 1, "template": {"metadata": metadata, "spec": spec}}


def _labels(job: MPIJob, role: str) -> Mapping[str, str]:
    return {MPI_OPERATOR_NAME: OPERATOR, MPI_JOB_NAME: job.metadata.name, MPI_JOB_ROLE: role}


def _pod(job: MPIJob, role: str, gang: GangScheduling | None) -> PodTemplate:
    """Make the pod template of a role, as far as launcher and workers are alike."""
    replica = _replicas(job)[role]
    name = job.metadata.name
    pod = PodTemplate({"metadata": {}} | copy.deepcopy(replica.template))
    pod.add_labels(_labels(job, role))
    annotations = pod.data["metadata"].get("annotations", {})
    if "sidecar.istio.io/inject" not in annotations:
        pod.add_annotations({"sidecar.istio.io/inject": "false"})
    for field in ("hostname", "subdomain"):  # the JobSet sets them
        pod.spec.pop(field, None)
    pod.spec["restartPolicy"] = replica.restart_policy
    pod.spec.setdefault("automountServiceAccountToken", False)
    if pod.spec.get("hostNetwork"):
        pod.spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    _set_env(pod.containers[0], ("K_MPI_JOB_ROLE", role))
    pod.set_volume(_ssh_volume(f"{name}-ssh", job.spec.ssh_auth_mount_path))
    pod.containers[0].set_mount(SSH_VOLUME, job.spec.ssh_auth_mount_path)
    if gang:
        gang.mark(pod, name)
    return pod


def _set_env(container: Container, *variables: tuple[str, str]) -> None:
    container.set_env(*({"name": name, "value": value} for name, value in variables))


def _ssh_volume(secret: str, mount_path: str) -> Json:
    # A mode for all files suits root alone; another user could not read them.
    mode = {"defaultMode": 0o600} if mount_path == _ROOT_SSH_PATH else {}
    items = [
        {"key": "ssh-privatekey", "path": "id_rsa"},
        {"key": "ssh-publickey", "path": "id_rsa.pub"},
        {"key": "ssh-publickey", "path": "authorized_keys"},
    ]
    return {"name": SSH_VOLUME, "secret": {"secretName": secret, **mode, "items": items}}


def _config_volume(config: str) -> Json:
    items = [
        {"key": mpi.HOSTFILE_NAME, "path": mpi.HOSTFILE_NAME, "mode": 0o444},
        {"key": _DISCOVER_HOSTS, "path": _DISCOVER_HOSTS, "mode": 0o555},
    ]
    return {"name": _CONFIG_VOLUME, "configMap": {"name": config, "items": items}}


def _warnings(job: MPIJob, jobset: Json) -> list[str]:
    """Tell what the templates say in vain."""
    pods = {role.name: role.pod.spec for role in replicated_jobs(jobset["spec"])}
    warnings = []
    for role, replica in _replicas(job).items():
        path = f"spec.mpiReplicaSpecs[{role.capitalize()}].template.spec"
        given, made = replica.template["spec"], pods[role]
        if "restartPolicy" in given:
            used = replica.restart_policy
            reason = f"is not used; the restart policy of the replica is {used}"
            warnings.append(f"{path}.restartPolicy: {reason}")
        warnings += _replaced(path, given, made, volumes="name")
        given, made = given["containers"][0], made["containers"][0]
        warnings += _replaced(
            f"{path}.containers[0]", given, made, env="name", volumeMounts="mountPath"
        )
    return warnings


def _replaced(path: str, given: Json, made: Json, **keys: str) -> Iterator[str]:
    for field, key in keys.items():
        for index, item in enumerate(given.get(field, [])):
            if item not in made[field]:
                reason = f"is not used; the MPIJob has its own {item[key]}"
                yield f"{path}.{field}[{index}]: {reason}"


def _given(**fields: Any) -> Json:
    return {name: value for name, value in fields.items() if value is not None}
