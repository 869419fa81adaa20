from dataclasses import dataclass, field

import pytest

from trainway.compiler.testing import compiled, env, jobs, messages, node, role, runtime, trainjob
from trainway.json_types import Json

RANK = {
    "fieldRef": {"fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']"}
}


@dataclass(frozen=True)
class Case:
    name: str
    processes: str
    trainer: Json = field(default_factory=dict)
    runtime_resources: Json = field(default_factory=dict)


CASES = [
    Case("nothing is known", "1"),
    Case("less than one CPU", "1", {"resourcesPerNode": {"requests": {"cpu": "700m"}}}),
    Case("CPUs are rounded up", "3", {"resourcesPerNode": {"requests": {"cpu": "2500m"}}}),
    Case("only a limit", "4", {"resourcesPerNode": {"limits": {"cpu": 4}}}),
    Case(
        "requests before limits",
        "2",
        {"resourcesPerNode": {"requests": {"cpu": 2}, "limits": {"cpu": 8}}},
    ),
    Case("GPUs", "auto", {"resourcesPerNode": {"limits": {"nvidia.com/gpu": 4}}}),
    Case("GPUs of the runtime", "auto", {}, {"limits": {"nvidia.com/gpu": 2}}),
    Case("CPUs of the runtime", "6", {}, {"requests": {"cpu": "5.5"}}),
    Case(
        "the job's own number",
        "8",
        {"numProcPerNode": 8, "resourcesPerNode": {"limits": {"nvidia.com/gpu": 4}}},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_processes_per_node(case: Case) -> None:
    rt = runtime({"torch": {}}, role(resources=case.runtime_resources))
    variables = env(node(compiled(rt, trainjob(case.trainer))))
    assert variables["PET_NPROC_PER_NODE"] == case.processes


def test_variables_follow_the_job_s_own_in_order() -> None:
    job = trainjob({"numNodes": 2, "env": [{"name": "A", "value": "1"}]})
    container = node(compiled(runtime({"torch": {}}), job))
    assert container.env == [
        {"name": "A", "value": "1"},
        {"name": "PET_NNODES", "value": "2"},
        {"name": "PET_NPROC_PER_NODE", "value": "1"},
        {"name": "PET_NODE_RANK", "valueFrom": RANK},
        {"name": "PET_MASTER_ADDR", "value": "t-node-0-0.t"},
        {"name": "PET_MASTER_PORT", "value": "29500"},
    ]


def test_reserved_variables_are_named_together() -> None:
    names = ["PET_NODE_RANK", "PET_NNODES", "MINE"]
    job = trainjob({"env": [{"name": name, "value": "x"} for name in names]})
    (message,) = messages(runtime({"torch": {}}), job)
    assert message.startswith("spec.trainer.env: Invalid value")
    assert message.endswith("invalid envs configured: [PET_NNODES PET_NODE_RANK]")


def injecting(job: str, container: str) -> Json:
    targets = [{"jobName": job, "containerNames": [container]}]
    rt = runtime({"numNodes": 2, "torch": {"envInjection": {"targets": targets}}})
    pod = rt["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["initContainers"] = [{"name": "check", "image": "x"}]
    return rt


def test_other_containers_get_the_variables_too() -> None:
    check = jobs(compiled(injecting("node", "check"), trainjob()))["node"].pod.init_containers[0]
    assert env(check)["PET_MASTER_ADDR"] == "t-node-0-0.t"
    assert "ports" not in check.data


@pytest.mark.parametrize(("job", "container"), [("node", "absent"), ("absent", "check")])
def test_a_target_that_is_not_there(job: str, container: str) -> None:
    (message,) = messages(injecting(job, container), trainjob())
    assert message == (
        'spec.runtimeRef: Invalid value: "some-runtime": envInjection target '
        f'podSet "{job}" container "{container}" not found in runtime template'
    )
