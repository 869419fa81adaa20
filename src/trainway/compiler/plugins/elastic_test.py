from dataclasses import dataclass, field

import pytest

from trainway.compiler.elasticity import with_elasticity
from trainway.compiler.network import JobIdentity, KubernetesNetwork
from trainway.compiler.testing import compiled, env, jobs, messages, node, pods, runtime, trainjob
from trainway.jobset.labels import HOSTS_RENDEZVOUS, MAX_NODES, MIN_NODES
from trainway.json_types import Json

TORCH: Json = {"torch": {}}
TOLD = (
    "join_timeout=3600,last_call_timeout=5,keep_alive_interval=2,keep_alive_max_attempt=5,"
    "read_timeout=300"
)
POD_IP = {"fieldRef": {"fieldPath": "status.podIP"}}


def elastic(minimum: int = 2, maximum: int = 8, trainer: Json | None = None) -> Json:
    return with_elasticity(trainjob(trainer), minimum, maximum)


def annotated(**annotations: str) -> Json:
    job = trainjob()
    names = {"least": MIN_NODES, "most": MAX_NODES}
    job["metadata"]["annotations"] = {names[key]: value for key, value in annotations.items()}
    return job


def test_torchrun_meets_by_c10d() -> None:
    assert node(compiled(runtime(TORCH), elastic())).env == [
        {"name": "PET_NNODES", "value": "2:8"},
        {"name": "PET_NPROC_PER_NODE", "value": "1"},
        {
            "name": "PET_NODE_RANK",
            "valueFrom": {
                "fieldRef": {
                    "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"
                }
            },
        },
        {"name": "PET_RDZV_BACKEND", "value": "c10d"},
        {"name": "PET_RDZV_ENDPOINT", "value": "t-node-0-0.t:29500"},
        {"name": "PET_RDZV_ID", "value": "t"},
        {"name": "PET_RDZV_CONF", "value": TOLD},
        {"name": "PET_MAX_RESTARTS", "value": "30"},
        {"name": "PET_LOCAL_ADDR", "valueFrom": POD_IP},
        {"name": "TORCH_DISABLE_SHARE_RDZV_TCP_STORE", "value": "1"},
    ]


@dataclass(frozen=True)
class OneMachine(KubernetesNetwork):
    """All nodes have the same address."""

    cloud: str = "local"

    def host(self, role: str, pod: int, job: int = 0) -> str:  # noqa: ARG002 - of the protocol
        return "127.0.0.1"


def test_on_agents_each_node_is_told_whether_it_has_the_store() -> None:
    def network(job: JobIdentity) -> OneMachine:
        return OneMachine(job)

    variables = env(node(compiled(runtime(TORCH), elastic(), network=network)))
    path = f"metadata.annotations['{HOSTS_RENDEZVOUS}']"
    assert variables["TRAINWAY_HOSTS_RENDEZVOUS"] == {"fieldRef": {"fieldPath": path}}
    assert variables["PET_RDZV_CONF"] == f"{TOLD},is_host=$(TRAINWAY_HOSTS_RENDEZVOUS)"
    assert variables["PET_RDZV_ENDPOINT"] == "127.0.0.1:29500"
    names = list(variables)
    assert names.index("TRAINWAY_HOSTS_RENDEZVOUS") < names.index("PET_RDZV_CONF")


def test_it_has_the_most_nodes_and_says_the_least() -> None:
    outcome = compiled(runtime(TORCH), elastic())
    assert pods(outcome) == {"node": 8}
    role = jobs(outcome)["node"]
    assert role.data["template"]["metadata"]["annotations"] == {MIN_NODES: "2"}
    assert role.job_spec["backoffLimit"] == 30
    assert role.pod.spec["restartPolicy"] == "Never"


def test_a_job_that_is_not_elastic_has_nothing_of_it() -> None:
    role = jobs(compiled(runtime(TORCH), trainjob({"numNodes": 2})))["node"]
    assert "annotations" not in role.data["template"]["metadata"]
    assert "backoffLimit" not in role.job_spec


def test_one_may_say_how_often_workers_are_started_anew() -> None:
    given = [{"name": "PET_MAX_RESTARTS", "value": "5"}]
    variables = env(node(compiled(runtime(TORCH), elastic(trainer={"env": given}))))
    assert variables["PET_MAX_RESTARTS"] == "5"


@dataclass(frozen=True)
class Case:
    name: str
    job: Json
    said: list[str]
    policy: Json = field(default_factory=lambda: TORCH)


LEAST, MOST = f"metadata.annotations[{MIN_NODES}]", f"metadata.annotations[{MAX_NODES}]"
CASES = (
    Case("both", annotated(least="2", most="8"), []),
    Case("the same number", annotated(least="3", most="3"), []),
    Case("only the least", annotated(least="2"), [LEAST, f"{MAX_NODES} is missing"]),
    Case("only the most", annotated(most="2"), [MOST, f"{MIN_NODES} is missing"]),
    Case("none at least", annotated(least="0", most="2"), [LEAST, "at least 1"]),
    Case("no number", annotated(least="2", most="many"), [MOST, "must be a number of nodes"]),
    Case("turned round", annotated(least="8", most="2"), [LEAST, "at most", "which is 2"]),
    Case(
        "another number of nodes",
        elastic(2, 8, {"numNodes": 4}),
        ["spec.trainer.numNodes", "must be 8"],
    ),
    Case("the same number of nodes", elastic(2, 8, {"numNodes": 8}), []),
    Case("no torch", elastic(), [LEAST, "only jobs of torchrun can be elastic"], {}),
    Case(
        "its own rendezvous",
        elastic(trainer={"env": [{"name": "PET_RDZV_ENDPOINT", "value": "x"}]}),
        ["spec.trainer.env", "PET_RDZV_ENDPOINT"],
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_is_wrong_is_said_once_with_its_path(case: Case) -> None:
    found = messages(runtime(case.policy), case.job)
    assert len(found) == (1 if case.said else 0), found
    for text in case.said:
        assert text in found[0]


def test_a_job_controller_replaces_lost_nodes_and_ends_without_those_that_are_not_there() -> None:
    spec = jobs(compiled(runtime(TORCH), elastic()))["node"].job_spec
    lost = {"type": "DisruptionTarget", "status": "True"}
    assert spec["podFailurePolicy"]["rules"] == [{"action": "Ignore", "onPodConditions": [lost]}]
    assert spec["successPolicy"] == {"rules": [{"succeededCount": 2}]}
    agents = jobs(compiled(runtime(TORCH), elastic(), network=OneMachine))["node"].job_spec
    assert not agents.keys() & {"podFailurePolicy", "successPolicy"}
