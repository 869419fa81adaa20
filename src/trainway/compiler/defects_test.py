"""Each upstream defect that the compiler fixes, by its number in the reference."""

import pytest

from trainway.compiler.testing import (
    RUNTIME,
    compiled,
    env,
    found,
    jobs,
    messages,
    node,
    pods,
    role,
    runtime,
    trainjob,
)
from trainway.json_types import Json

MPI = {"mpi": {"runLauncherAsNode": True}}
INITIALIZER_MOUNT = [{"name": "initializer", "mountPath": "/workspace"}]


def mpi_roles(**container: object) -> tuple[Json, Json]:
    return role("node", ""), role("launcher", "trainer", **container)


@pytest.mark.parametrize(
    ("policy", "variable"),
    [
        ({"torch": {}}, "PET_NNODES"),
        ({"jax": {}}, "JAX_NUM_PROCESSES"),
        ({"xgboost": {}}, "DMLC_NUM_WORKER"),
    ],
)
def test_d1_variables_are_set_without_spec_trainer(policy: Json, variable: str) -> None:
    container = node(compiled(runtime({"numNodes": 3, **policy}), trainjob()))
    assert env(container)[variable] == "3"
    assert container.data["ports"] == [{"containerPort": 29500}]


def test_d2_unnamed_ports_are_kept() -> None:
    ports = [{"containerPort": 8080}, {"containerPort": 9090}]
    outcome = compiled(runtime({"torch": {}}, role(ports=ports)), trainjob({}))
    assert [port["containerPort"] for port in node(outcome).data["ports"]] == [8080, 9090, 29500]


def test_d3_launcher_alone_is_the_single_node() -> None:
    outcome = compiled(runtime(MPI, *mpi_roles()), trainjob({"numNodes": 1}))
    assert pods(outcome) == {"node": 0, "launcher": 1}
    assert found(outcome, "ConfigMap")["data"]["hostfile"] == "t-launcher-0-0.t slots=1\n"


def test_d4_nodes_of_an_mpi_runtime_are_workers() -> None:
    policy = {"numNodes": 3, "mpi": {"runLauncherAsNode": False}}
    assert pods(compiled(runtime(policy, *mpi_roles()), trainjob({}))) == {"node": 3, "launcher": 1}


def test_d5_resource_claims_are_kept() -> None:
    claims = {"claims": [{"name": "gpu"}]}
    own = {"claims": [{"name": "nic"}], "limits": {"cpu": 1}}
    outcome = compiled(
        runtime({"torch": {}}, role(resources=claims)), trainjob({"resourcesPerNode": own})
    )
    assert {claim["name"] for claim in node(outcome).resources["claims"]} == {"gpu", "nic"}


@pytest.mark.parametrize("policy", [{"coscheduling": {}}, {"volcano": {}}])
def test_d6_a_gang_leaves_out_initializers(policy: Json) -> None:
    init = role("dataset-initializer", "dataset-initializer", volumeMounts=INITIALIZER_MOUNT)
    trainer = role() | {"dependsOn": [{"name": "dataset-initializer", "status": "Complete"}]}
    rt = runtime({"torch": {}}, init, trainer)
    rt["spec"]["podGroupPolicy"] = policy
    outcome = compiled(rt, trainjob({"numNodes": 4}))
    assert found(outcome, "PodGroup")["spec"]["minMember"] == 4
    marked = {name: bool(job.pod.data.get("metadata")) for name, job in jobs(outcome).items()}
    assert marked == {"dataset-initializer": False, "node": True}


def test_d9_every_priority_class_is_looked_up() -> None:
    critical, missing = role("first", ""), role()
    for item, name in ((critical, "system-node-critical"), (missing, "absent")):
        item["template"]["spec"]["template"]["spec"]["priorityClassName"] = name
    rt = runtime({"torch": {}}, critical, missing)
    rt["spec"]["podGroupPolicy"] = {"volcano": {}}
    (message,) = messages(rt, trainjob({}))
    assert message.startswith('spec.templateSpec.priorityClassName: Invalid value: "absent"')
    assert message.endswith('priorityclasses.scheduling.k8s.io "absent" not found')


@pytest.mark.parametrize(
    ("limits", "processes"),
    [
        ({"nvidia.com/gpumem": 4000, "cpu": 4}, "4"),
        ({"nvidia.com/mig-1g.5gb": 2}, "auto"),
        ({"amd.com/gpu": 1, "cpu": 4}, "auto"),
        ({"gpu.intel.com/i915": 1}, "auto"),
        ({"gpu.intel.com/memory.max": 1000, "cpu": 2}, "2"),
    ],
)
def test_d10_a_table_says_what_a_gpu_is(limits: Json, processes: str) -> None:
    job = trainjob({"resourcesPerNode": {"limits": limits}})
    assert env(node(compiled(runtime({"torch": {}}), job)))["PET_NPROC_PER_NODE"] == processes


def test_d11_flux_can_write_shared_memory_and_needs_no_trainer() -> None:
    outcome = compiled(runtime({"numNodes": 2, "flux": {}}), trainjob())
    mounts = {m["mountPath"]: m for m in node(outcome).data["volumeMounts"]}
    assert not mounts["/dev/shm"].get("readOnly")
    assert pods(outcome) == {"node": 2}


def test_d13_a_cache_initializer_needs_no_mount() -> None:
    rt = runtime({"torch": {}}, role("dataset-initializer", "dataset-initializer"), role())
    cached = trainjob({}, initializer={"dataset": {"storageUri": "cache://schema/table"}})
    fetched = trainjob({}, initializer={"dataset": {"storageUri": "hf://org/data"}})
    assert messages(rt, cached) == []
    assert "must have volumeMount with name - initializer" in messages(rt, fetched)[0]


def test_d17_jax_variables_are_reserved() -> None:
    job = trainjob({"env": [{"name": "JAX_PROCESS_ID", "value": "0"}]})
    assert "invalid envs configured: [JAX_PROCESS_ID]" in messages(runtime({"jax": {}}), job)[0]


def test_d19_workers_get_the_image_when_the_launcher_is_one_of_them() -> None:
    job = trainjob({"numNodes": 3, "image": "new:2", "command": ["mpirun", "x"]})
    outcome = compiled(runtime(MPI, *mpi_roles()), job)
    assert node(outcome, "node").data["image"] == "new:2"
    assert "command" not in node(outcome, "node").data
    assert node(outcome, "launcher").command == ["mpirun", "x"]


def patched(pod: Json, name: str = "node") -> list[Json]:
    template = {"spec": {"template": {"spec": pod}}}
    spec = {"replicatedJobs": [{"name": name, "template": template}]}
    return [{"manager": "acme.io/x", "trainingRuntimeSpec": {"template": {"spec": spec}}}]


@pytest.mark.parametrize(
    ("patches", "field", "text"),
    [
        (patched({}, "absent"), "name", "must not have replicated job"),
        (patched({"containers": [{"name": "absent"}]}), "containers[0].name", "not have container"),
        (
            patched({"initContainers": [{"name": "absent"}]}),
            "initContainers[0].name",
            "must not have initContainer that doesn't exist in the runtime job node",
        ),
    ],
)
def test_n1_a_patch_may_not_name_what_is_not_there(
    patches: list[Json], field: str, text: str
) -> None:
    (message,) = messages(runtime({"torch": {}}), trainjob({}, runtimePatches=patches))
    assert message.startswith("spec.runtimePatches[0].trainingRuntimeSpec.template.spec")
    assert f"{field}: Invalid value" in message
    assert text in message


@pytest.mark.parametrize(
    ("policy", "variable", "value"),
    [
        ({"torch": {}}, "PET_MASTER_ADDR", "t-node-0-0.net"),
        ({"jax": {}}, "JAX_COORDINATOR_ADDRESS", "t-node-0-0.net:29500"),
        ({"xgboost": {}}, "DMLC_TRACKER_URI", "t-node-0-0.net"),
    ],
)
def test_n2_the_first_address_follows_the_subdomain(
    policy: Json, variable: str, value: str
) -> None:
    outcome = compiled(runtime(policy, network={"subdomain": "net"}), trainjob({}))
    assert env(node(outcome))[variable] == value


def test_n3_the_first_address_follows_the_job_name() -> None:
    outcome = compiled(runtime({"torch": {}}, role("worker")), trainjob({}))
    assert env(node(outcome, "worker"))["PET_MASTER_ADDR"] == "t-worker-0-0.t"


def test_n4_resources_count_without_a_policy() -> None:
    job = trainjob({"resourcesPerNode": {"limits": {"cpu": "2"}}})
    assert node(compiled(runtime(None), job)).resources == {"limits": {"cpu": "2"}}


def test_n5_a_variable_from_a_file_keeps_its_source() -> None:
    source = {"fileKeyRef": {"key": "A", "path": "env", "volumeName": "v"}}
    job = trainjob({"env": [{"name": "A", "valueFrom": source}]})
    assert env(node(compiled(runtime({"torch": {}}), job)))["A"] == source


def test_n6_processes_are_counted_from_merged_resources() -> None:
    rt = runtime({"torch": {}}, role(resources={"limits": {"nvidia.com/gpu": 2}}))
    job = trainjob({"resourcesPerNode": {"requests": {"cpu": 4}}})
    assert env(node(compiled(rt, job)))["PET_NPROC_PER_NODE"] == "auto"


def test_n7_a_patched_variable_has_one_source() -> None:
    rt = runtime({"torch": {}})
    pod = rt["spec"]["template"]["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]
    pod["spec"]["containers"].append(
        {"name": "side", "image": "x", "env": [{"name": "A", "value": "1"}]}
    )
    source = {"fieldRef": {"fieldPath": "status.podIP"}}
    change = {"containers": [{"name": "side", "env": [{"name": "A", "valueFrom": source}]}]}
    outcome = compiled(rt, trainjob({}, runtimePatches=patched(change)))
    side = jobs(outcome)["node"].pod.container("side")
    assert side is not None
    assert side.env == [{"name": "A", "valueFrom": source}]


def test_n8_requests_of_a_gang_default_to_limits() -> None:
    rt = runtime({"torch": {}}, role(resources={"limits": {"cpu": "500m"}}), name=RUNTIME)
    rt["spec"]["podGroupPolicy"] = {"coscheduling": {}}
    group = found(compiled(rt, trainjob({"numNodes": 3})), "PodGroup")
    assert group["spec"]["minResources"] == {"cpu": "1500m"}
