"""Kueue's queues for tests, and jobs of each kind that can wait in one.

Each test has flavors and a ClusterQueue of its own, so none takes another's quota. All kinds of
jobs play the same part: a gang of pods that run until they are told to end.
"""

import copy
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest
from cluster.access import Access
from cluster.images import BUSYBOX
from node_operator import NodeOperator, shell_runtime, trainjob

from trainway.json_types import Json

API: Final = "kueue.x-k8s.io/v1beta2"
QUEUE: Final = "queue"
QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL: Final = "kueue.x-k8s.io/priority-class"
TEST_LABEL: Final = "trainway.dev/test"
UID_LABEL: Final = "kueue.x-k8s.io/job-uid"
JOBSET_LABEL: Final = "jobset.sigs.k8s.io/jobset-name"
END_FILE: Final = "/tmp/end"  # noqa: S108 - in a pod
UNTIL_TOLD: Final = f"trap 'exit 143' TERM; until test -e {END_FILE}; do sleep 0.2; done"
"""Also when it is to go: the first process of a pod hears only what it listens to."""
CPU: Final = 10  # thousandths that each pod asks for
REQUESTS: Final = {"requests": {"cpu": f"{CPU}m"}}
TOLERATION: Final = {"key": "trainway.dev/queued", "operator": "Exists"}


class Queues:
    """The queues of one test, and what is to be known of the jobs in them."""

    def __init__(self, operator: NodeOperator, namespace: str) -> None:
        self.operator = operator
        self.cluster = operator.cluster
        self.namespace = namespace

    # Queues

    def open(self, quotas: Mapping[str, int], **spec: Any) -> None:
        """A LocalQueue with so many pods of each flavor, tried in this order."""
        self.cluster.apply(self.cluster_queue(quotas, **spec), self.local_queue())

    def cluster_queue(self, quotas: Mapping[str, int], **spec: Any) -> Json:
        """A ClusterQueue of the test's name."""
        flavors = [
            {
                "name": self.flavor_name(flavor),
                "resources": [{"name": "cpu", "nominalQuota": f"{pods * CPU}m"}],
            }
            for flavor, pods in quotas.items()
        ]
        return {
            "apiVersion": API,
            "kind": "ClusterQueue",
            "metadata": self.metadata(self.namespace),
            "spec": {
                "namespaceSelector": {},
                "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
                **spec,
            },
        }

    def local_queue(self) -> Json:
        """The queue that jobs name."""
        return {
            "apiVersion": API,
            "kind": "LocalQueue",
            "metadata": {"name": QUEUE, "namespace": self.namespace},
            "spec": {"clusterQueue": self.namespace},
        }

    def metadata(self, name: str) -> Json:
        """Of an object in no namespace, by which it is known as this test's."""
        return {"name": name, "labels": {TEST_LABEL: self.namespace}}

    def flavor_name(self, flavor: str) -> str:
        """Flavors of different tests have different names."""
        return f"{self.namespace}-{flavor}"

    def add_flavor(self, name: str, **spec: Any) -> None:
        """A ResourceFlavor on nodes with the label `trainway.dev/NAME`, which the node gets."""
        self.cluster.kubectl("label", "nodes", "--all", "--overwrite", f"trainway.dev/{name}=true")
        self.cluster.apply(
            {
                "apiVersion": API,
                "kind": "ResourceFlavor",
                "metadata": self.metadata(self.flavor_name(name)),
                "spec": {
                    "nodeLabels": node_labels(name),
                    "tolerations": [{**TOLERATION, "effect": "NoSchedule"}],
                    **spec,
                },
            }
        )

    def add_priority(self, name: str, value: int) -> None:
        """A WorkloadPriorityClass."""
        self.cluster.apply(
            {
                "apiVersion": API,
                "kind": "WorkloadPriorityClass",
                "metadata": self.metadata(f"{self.namespace}-{name}"),
                "value": value,
                "description": "of a test",
            }
        )

    def close(self) -> None:
        """Remove what is in no namespace; the rest goes with the namespace."""
        kinds = "clusterqueues,resourceflavors,workloadpriorityclasses,topologies"
        selector = f"{TEST_LABEL}={self.namespace}"
        self.cluster.kubectl("delete", kinds, "-l", selector, "--wait=false")

    # Jobs

    def submit(self, objects: Sequence[Json], *, priority: str = "") -> Json:
        """Create the objects, of which the last is a job for the queue; the job."""
        *others, job = copy.deepcopy(list(objects))
        labels = {QUEUE_LABEL: QUEUE}
        if priority:
            labels[PRIORITY_LABEL] = f"{self.namespace}-{priority}"
        job["metadata"]["labels"] = {**job["metadata"].get("labels", {}), **labels}
        self.operator.create(self.namespace, *others, job)
        return self.job(job)

    def job(self, job: Json) -> Json:
        """The job as it is now."""
        kind, name = job["kind"].lower(), job["metadata"]["name"]
        return self.cluster.get(kind, name, "-n", self.namespace)

    def delete(self, job: Json) -> None:
        """Delete a job, and wait until it is gone."""
        name = job["metadata"]["name"]
        self.cluster.kubectl("delete", job["kind"].lower(), name, "-n", self.namespace)

    def admission_answer(self, job: Json) -> Json:
        """The job as the webhooks would leave it."""
        queued = copy.deepcopy(job)
        queued["metadata"]["labels"] = {QUEUE_LABEL: QUEUE}
        ask = partial(self.cluster.rehearse, queued, self.namespace)
        self.operator.when_known(self.namespace, ask)
        return ask()

    def pods(self, job: Json) -> list[Json]:
        """The pods of a job that are not being deleted."""
        name = job["metadata"]["name"]
        return [
            pod
            for pod in self.operator.pods(self.namespace)
            if pod["metadata"].get("labels", {}).get(JOBSET_LABEL) == name
        ]

    def wait_running(self, job: Json, number: int) -> list[Json]:
        """Wait until so many pods of a job run; the pods."""
        found: list[Json] = []

        def running() -> bool:
            found[:] = [pod for pod in self.pods(job) if pod["status"]["phase"] == "Running"]
            return len(found) == number

        self.wait(running, f"{number} pods of {job['metadata']['name']} run")
        return found

    def wait_no_pods(self, job: Json) -> None:
        """Wait until no pod of a job is left, not even one that ends."""
        selector = f"{JOBSET_LABEL}={job['metadata']['name']}"
        place = ("-n", self.namespace, "-l", selector)
        self.wait(
            lambda: not self.cluster.get("pods", *place)["items"],
            f"no pod of {job['metadata']['name']} is left",
        )

    def end(self, pods: Sequence[Json]) -> None:
        """Let pods end well."""
        for pod in pods:
            self.cluster.open_gate(pod, END_FILE)

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for a condition; if it does not come, say how the queues stand."""
        try:
            self.operator.wait(self.namespace, condition, what)
        except AssertionError as error:
            workloads = self.cluster.get("workloads", "-n", self.namespace)["items"]
            told = [each.get("status", {}).get("conditions", []) for each in workloads]
            raise AssertionError(f"{error}\n{json.dumps(told, indent=1)}") from error

    # Workloads

    def workload(self, job: Json) -> Json | None:
        """What Kueue made of a job."""
        selector = f"{UID_LABEL}={job['metadata']['uid']}"
        found = self.cluster.get("workloads", "-n", self.namespace, "-l", selector)["items"]
        assert len(found) <= 1
        return found[0] if found else None

    def wait_workload(self, job: Json, type_: str, status: str = "True", said: str = "") -> Json:
        """Wait until the Workload of a job has a condition that says this; the condition.

        A queue that Kueue has only just heard of is what a job waits for at first.
        """
        found: list[Json] = []

        def has() -> bool:
            conditions = ((self.workload(job) or {}).get("status") or {}).get("conditions", [])
            found[:] = [c for c in conditions if (c["type"], c["status"]) == (type_, status)]
            return bool(found) and said in found[0].get("message", "")

        self.wait(has, f"the Workload of {job['metadata']['name']} is {type_} {status}: {said}")
        return found[0]


@pytest.fixture
def queues(kueue: Access, node_operator: NodeOperator, namespace: str) -> Iterator[Queues]:
    """Queues of the test's own."""
    assert kueue is node_operator.cluster
    found = Queues(node_operator, namespace)
    yield found
    found.close()


def node_labels(flavor: str) -> dict[str, str]:
    """What the pods of a flavor select their nodes by."""
    return {f"trainway.dev/{flavor}": "true"}


# Jobs of each kind


def pod_spec(**more: Any) -> Json:
    """A pod that runs until it is told to end."""
    container = {
        "name": "node",
        "image": BUSYBOX,
        "command": ["sh", "-c", UNTIL_TOLD],
        "resources": REQUESTS,
    }
    return {"terminationGracePeriodSeconds": 1, "containers": [container], **more}


def runtime(name: str, *, annotations: Mapping[str, str] | None = None, **pod: Any) -> Json:
    """A runtime of such pods."""
    found = shell_runtime(name)
    (job,) = found["spec"]["template"]["spec"]["replicatedJobs"]
    job["template"]["spec"]["template"] = {
        "metadata": {"annotations": dict(annotations or {})},
        "spec": pod_spec(**pod),
    }
    return found


def train_gang(name: str, pods: int, **pod: Any) -> list[Json]:
    """A TrainJob and its runtime."""
    return [runtime(name, **pod), trainjob(name, name, {"numNodes": pods})]


def mpi_gang(
    name: str, pods: int, *, annotations: Mapping[str, str] | None = None, **pod: Any
) -> list[Json]:
    """An MPIJob: a launcher and workers, as many pods together."""
    template = {"metadata": {"annotations": dict(annotations or {})}, "spec": pod_spec(**pod)}
    return [
        {
            "apiVersion": "kubeflow.org/v2beta1",
            "kind": "MPIJob",
            "metadata": {"name": name},
            "spec": {
                "mpiReplicaSpecs": {
                    "Launcher": {"replicas": 1, "template": template},
                    "Worker": {"replicas": pods - 1, "template": template},
                }
            },
        }
    ]


def jobset_gang(name: str, pods: int, **pod: Any) -> list[Json]:
    """A JobSet of one job."""
    job = {
        "parallelism": pods,
        "completions": pods,
        "backoffLimit": 0,
        "template": {"spec": {"restartPolicy": "Never", **pod_spec(**pod)}},
    }
    return [
        {
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": name},
            "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": job}}]},
        }
    ]


@dataclass(frozen=True)
class Kind:
    """A kind of job that can be queued."""

    name: str
    gang: Callable[..., list[Json]]

    def is_suspended(self, job: Json) -> bool:
        """Whether the job is held back."""
        spec = job["spec"]
        return bool((spec.get("runPolicy", {}) if self.name == "mpijob" else spec).get("suspend"))

    def deciding(self, pods: Sequence[Json]) -> list[Json]:
        """Those pods whose end is the end of the job."""
        if self.name != "mpijob":
            return list(pods)
        role = "training.kubeflow.org/job-role"
        return [pod for pod in pods if pod["metadata"]["labels"][role] == "launcher"]


KINDS: Final = (
    Kind("trainjob", train_gang),
    Kind("mpijob", mpi_gang),
    Kind("jobset", jobset_gang),
)
each_kind = partial(pytest.mark.parametrize, "kind", ids=lambda kind: kind.name)
