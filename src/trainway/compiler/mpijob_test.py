import copy
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import pytest
import yaml

from trainway.api.kinds import check, read
from trainway.api.mpijob import MPIJob
from trainway.compiler.compiled import Compiled
from trainway.compiler.keys import FixedKeys
from trainway.compiler.mpijob import compile_mpijob, discover_hosts
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.jobset.admission import validate_create, with_webhook_defaults
from trainway.json_types import Json

WORKED_EXAMPLE = resources.files("trainway.compiler") / "testdata" / "mpijob.yaml"


def manifest(
    *,
    name: str = "foo",
    namespace: str = "bar",
    launcher: Json | None = None,
    worker: Json | None = None,
    workers: int = 1,
    **spec: Any,
) -> Json:
    """An MPIJob; `launcher` and `worker` are the pod templates."""
    template = {"spec": {"containers": [{"name": "main", "image": "mpi"}]}}
    roles: Json = {"Launcher": {"template": launcher or copy.deepcopy(template)}}
    if workers:
        roles["Worker"] = {"replicas": workers, "template": worker or copy.deepcopy(template)}
    return {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "metadata": {"name": name, "namespace": namespace, "uid": "1"},
        "spec": {"mpiReplicaSpecs": roles, **spec},
    }


def compiled(obj: Json, cluster_domain: str = "") -> Compiled:
    assert check(obj).errors == []
    job = read(obj)
    assert isinstance(job, MPIJob)
    identity = JobIdentity(job.metadata.name, job.metadata.namespace, job.metadata.name)
    network = KubernetesNetwork(identity, cluster_domain)
    return compile_mpijob(job, network=network, keys=FixedKeys())


def jobset(obj: Json) -> Json:
    made: Json = compiled(obj).objects[-1]
    return made


def role(obj: Json, name: str) -> Json:
    """The spec of a role's Job."""
    jobs = {job["name"]: job for job in jobset(obj)["spec"]["replicatedJobs"]}
    spec: Json = jobs[name]["template"]["spec"]
    return spec


def pod(obj: Json, name: str) -> Json:
    spec: Json = role(obj, name)["template"]["spec"]
    return spec


def config(obj: Json, cluster_domain: str = "") -> dict[str, str]:
    data: dict[str, str] = compiled(obj, cluster_domain).objects[1]["data"]
    return data


def template(**pod_spec: Any) -> Json:
    return {"spec": {"containers": [{"name": "main", "image": "mpi"}], **pod_spec}}


def env(obj: Json, name: str) -> list[str]:
    return [entry["name"] for entry in pod(obj, name)["containers"][0]["env"]]


def test_the_worked_example() -> None:
    made = compiled(manifest())
    assert made.warnings == []
    assert made.objects == list(yaml.safe_load_all(WORKED_EXAMPLE.read_text()))


def test_the_same_job_gives_the_same_text() -> None:
    texts = [yaml.safe_dump_all(compiled(manifest()).objects, sort_keys=False) for _ in range(2)]
    assert texts[0] == texts[1]


def test_the_input_stays_as_it_was() -> None:
    obj = manifest(worker=template(dnsConfig={"searches": ["a"]}), launcher=template(volumes=[]))
    before = copy.deepcopy(obj)
    compiled(obj)
    assert obj == before


def test_a_job_without_uid_has_owners_without_uid() -> None:
    obj = manifest()
    del obj["metadata"]["uid"]
    for made in compiled(obj).objects:
        assert "uid" not in made["metadata"]["ownerReferences"][0]


@dataclass(frozen=True)
class HostfileCase:
    name: str
    hostfile: str
    spec: Json = field(default_factory=dict)
    workers: int = 1
    cluster_domain: str = ""


@pytest.mark.parametrize(
    "case",
    [
        HostfileCase("open mpi", "foo-worker-0-0.foo.bar.svc slots=1\n"),
        HostfileCase(
            "intel",
            "foo-worker-0-0.foo.bar.svc:5\n",
            spec={"mpiImplementation": "Intel", "slotsPerWorker": 5},
        ),
        HostfileCase(
            "mpich",
            "foo-worker-0-0.foo.bar.svc:5\n",
            spec={"mpiImplementation": "MPICH", "slotsPerWorker": 5},
        ),
        HostfileCase(
            "cluster domain",
            "foo-worker-0-0.foo.bar.svc.cluster.local slots=1\n",
            cluster_domain="cluster.local",
        ),
        HostfileCase("no workers", "", workers=0),
        HostfileCase(
            "launcher alone works",
            "foo-launcher-0-0.foo.bar.svc slots=1\n",
            spec={"runLauncherAsWorker": True},
            workers=0,
        ),
        HostfileCase(
            "launcher works too",
            "foo-launcher-0-0.foo.bar.svc slots=0\n"
            "foo-worker-0-0.foo.bar.svc slots=0\n"
            "foo-worker-0-1.foo.bar.svc slots=0\n",
            spec={"runLauncherAsWorker": True, "slotsPerWorker": 0},
            workers=2,
        ),
    ],
    ids=lambda case: case.name,
)
def test_hostfile(case: HostfileCase) -> None:
    obj = manifest(workers=case.workers, **case.spec)
    assert config(obj, case.cluster_domain)["hostfile"] == case.hostfile


def test_discovery_sorts_workers_by_name_and_the_hostfile_by_number() -> None:
    data = config(manifest(workers=11, runLauncherAsWorker=True))
    numbered = [f"foo-worker-0-{index}.foo.bar.svc" for index in range(11)]
    hosts = ["foo-launcher-0-0.foo.bar.svc", *numbered]
    assert [line.split()[0] for line in data["hostfile"].splitlines()] == hosts
    assert data["discover_hosts.sh"] == discover_hosts([hosts[0], *sorted(numbered)])
    assert data["discover_hosts.sh"].splitlines()[3:5] == [
        "echo foo-worker-0-1.foo.bar.svc",
        "echo foo-worker-0-10.foo.bar.svc",
    ]


def test_no_hosts_to_discover() -> None:
    assert discover_hosts([]) == "#!/bin/sh\n"


def test_a_launcher_that_works_keeps_its_gpus_and_is_published_early() -> None:
    obj = manifest(runLauncherAsWorker=True)
    assert jobset(obj)["spec"]["network"]["publishNotReadyAddresses"] is True
    assert not [name for name in env(obj, "launcher") if name.startswith("NVIDIA_")]


def test_overrides() -> None:
    second = {"name": "second", "image": "other"}
    first = {"name": "main", "image": "mpi", "env": [{"name": "MINE", "value": "1"}]}
    launcher = template(hostNetwork=True, containers=[first, second])
    worker = template(hostNetwork=True, containers=[{**first, "command": ["serve"]}, second])
    policy = {"ttlSecondsAfterFinished": 1, "activeDeadlineSeconds": 2, "backoffLimit": 3}
    obj = manifest(
        name="bar",
        namespace="foo",
        launcher=launcher,
        worker=worker,
        workers=13,
        mpiImplementation="Intel",
        slotsPerWorker=5,
        sshAuthMountPath="/home/mpiuser/.ssh",
        runPolicy=policy,
    )
    made = role(obj, "launcher")
    assert (made["backoffLimit"], made["activeDeadlineSeconds"]) == (3, 2)
    assert "ttlSecondsAfterFinished" not in made
    assert jobset(obj)["spec"]["ttlSecondsAfterFinished"] == 1
    assert role(obj, "worker")["completions"] == role(obj, "worker")["parallelism"] == 13
    assert env(obj, "launcher") == [
        "MINE",
        "K_MPI_JOB_ROLE",
        "I_MPI_HYDRA_HOST_FILE",
        "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
        "I_MPI_PERHOST",
        "NVIDIA_VISIBLE_DEVICES",
        "NVIDIA_DRIVER_CAPABILITIES",
    ]
    assert env(obj, "worker") == ["MINE", "K_MPI_JOB_ROLE"]
    assert pod(obj, "worker")["containers"][0]["command"] == ["serve"]
    for name in ("launcher", "worker"):
        spec = pod(obj, name)
        assert spec["containers"][1] == second
        assert spec["dnsPolicy"] == "ClusterFirstWithHostNet"
        assert "defaultMode" not in spec["volumes"][0]["secret"]
        assert spec["containers"][0]["volumeMounts"][0]["mountPath"] == "/home/mpiuser/.ssh"


def test_a_launcher_can_wait_for_its_workers() -> None:
    obj = manifest(launcherCreationPolicy="WaitForWorkersReady")
    worker, launcher = jobset(obj)["spec"]["replicatedJobs"]
    assert launcher["dependsOn"] == [{"name": "worker", "status": "Ready"}]
    assert "dependsOn" not in worker


def test_a_launcher_without_workers_waits_for_nobody() -> None:
    (launcher,) = jobset(manifest(workers=0, launcherCreationPolicy="WaitForWorkersReady"))["spec"][
        "replicatedJobs"
    ]
    assert launcher["name"] == "launcher"
    assert "dependsOn" not in launcher


def test_the_script_lists_workers_that_run_where_somebody_knows_them() -> None:
    job = read(manifest(workers=3))
    assert isinstance(job, MPIJob)
    network = KubernetesNetwork(JobIdentity("foo", "bar", "foo"))
    made = compile_mpijob(job, network=network, keys=FixedKeys(), running={2}).objects[1]["data"]
    assert made["discover_hosts.sh"] == "#!/bin/sh\necho foo-worker-0-2.foo.bar.svc\n"
    assert len(made["hostfile"].splitlines()) == 3


@pytest.mark.parametrize("suspend", [True, False])
def test_suspend(suspend: bool) -> None:
    assert jobset(manifest(runPolicy={"suspend": suspend}))["spec"]["suspend"] is suspend


def test_a_job_of_another_controller_gets_nothing() -> None:
    obj = manifest(runPolicy={"managedBy": "kueue.x-k8s.io/multikueue"})
    assert compiled(obj) == Compiled([], [])


def test_a_job_may_name_its_controller() -> None:
    obj = manifest(runPolicy={"managedBy": "kubeflow.org/mpi-operator"})
    assert compiled(obj) == compiled(manifest())


def test_what_mpi_operator_does_not_set_the_job_may() -> None:
    own = [
        {"name": "PRTE_MCA_plm_ssh_args", "value": "-p 2222"},
        {"name": "OMPI_MCA_orte_default_hostfile", "value": "/mine"},
    ]
    obj = manifest(launcher=template(containers=[{"name": "main", "image": "mpi", "env": own}]))
    made = {
        each["name"]: each.get("value") for each in pod(obj, "launcher")["containers"][0]["env"]
    }
    assert made["PRTE_MCA_plm_ssh_args"] == "-p 2222"
    assert made["PRTE_MCA_prte_set_default_slots"] == "1"
    assert made["OMPI_MCA_orte_default_hostfile"] == "/etc/mpi/hostfile"
    (warning,) = compiled(obj).warnings
    assert "OMPI_MCA_orte_default_hostfile" in warning


@pytest.mark.parametrize("policy", ["Never", "OnFailure"])
def test_restart_policies_are_those_of_the_replicas(policy: str) -> None:
    obj = manifest(launcher=template(restartPolicy="Always"))
    for replica in obj["spec"]["mpiReplicaSpecs"].values():
        replica["restartPolicy"] = policy
    assert pod(obj, "launcher")["restartPolicy"] == pod(obj, "worker")["restartPolicy"] == policy
    assert role(obj, "worker")["backoffLimit"] == 2**31 - 1
    path = "spec.mpiReplicaSpecs[Launcher].template.spec.restartPolicy"
    assert compiled(obj).warnings == [
        f"{path}: is not used; the restart policy of the replica is {policy}"
    ]


def test_names_that_the_jobset_sets_are_dropped() -> None:
    labels = {"mine": "1", "training.kubeflow.org/job-role": "other"}
    obj = manifest(worker={"metadata": {"labels": labels}} | template(hostname="a", subdomain="b"))
    assert not {"hostname", "subdomain"} & pod(obj, "worker").keys()
    assert role(obj, "worker")["template"]["metadata"]["labels"] == {
        "mine": "1",
        "training.kubeflow.org/operator-name": "mpi-operator",
        "training.kubeflow.org/job-name": "foo",
        "training.kubeflow.org/job-role": "worker",
    }


def test_a_template_may_ask_for_a_token_and_a_sidecar() -> None:
    wanted = {"sidecar.istio.io/inject": "true", "mine": "1"}
    obj = manifest(
        launcher={"metadata": {"annotations": wanted}} | template(automountServiceAccountToken=True)
    )
    assert pod(obj, "launcher")["automountServiceAccountToken"] is True
    assert role(obj, "launcher")["template"]["metadata"]["annotations"] == wanted


def test_search_domains_are_added_on_workers_only() -> None:
    dns = {"nameservers": ["10.0.0.53"], "searches": ["example.com"]}
    obj = manifest(worker=template(dnsConfig=dns), launcher=template(dnsConfig=dns))
    searches = ["example.com", "foo.bar.svc.cluster.local"]
    assert pod(obj, "worker")["dnsConfig"] == dns | {"searches": searches}
    assert pod(obj, "launcher")["dnsConfig"] == dns


def test_what_the_mpijob_sets_replaces_what_the_template_says() -> None:
    container = {
        "name": "main",
        "image": "mpi",
        "env": [
            {"name": "K_MPI_JOB_ROLE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "MINE", "value": "$(K_MPI_JOB_ROLE)"},
        ],
        "volumeMounts": [{"name": "own", "mountPath": "/root/.ssh"}],
    }
    volumes = [{"name": "own", "emptyDir": {}}, {"name": "ssh-auth", "emptyDir": {}}]
    obj = manifest(worker=template(containers=[container], volumes=volumes))
    made = pod(obj, "worker")
    assert made["containers"][0]["env"] == [
        {"name": "K_MPI_JOB_ROLE", "value": "worker"},
        {"name": "MINE", "value": "$(K_MPI_JOB_ROLE)"},
    ]
    assert made["containers"][0]["volumeMounts"] == [
        {"name": "ssh-auth", "mountPath": "/root/.ssh"}
    ]
    assert [volume["name"] for volume in made["volumes"]] == ["own", "ssh-auth"]
    assert made["volumes"][1]["secret"]["secretName"] == "foo-ssh"
    path = "spec.mpiReplicaSpecs[Worker].template.spec"
    reason = "is not used; the MPIJob has its own"
    assert compiled(obj).warnings == [
        f"{path}.volumes[1]: {reason} ssh-auth",
        f"{path}.containers[0].env[0]: {reason} K_MPI_JOB_ROLE",
        f"{path}.containers[0].volumeMounts[0]: {reason} /root/.ssh",
    ]


@pytest.mark.parametrize(
    "obj",
    [
        manifest(),
        manifest(workers=0),
        manifest(workers=12, launcherCreationPolicy="WaitForWorkersReady"),
    ],
    ids=["one worker", "no workers", "launcher waits"],
)
def test_jobset_admits_the_result(obj: Json) -> None:
    assert validate_create(with_webhook_defaults(jobset(obj))) == []
