import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from trainway.backends.base import BackendSettings, Workload
from trainway.backends.cluster.backend import ClusterBackend, cluster_demand, unfitting
from trainway.backends.pool.kept import Kept, KeptClusters
from trainway.backends.registry import Registry
from trainway.backends.sharing_host import shares_host
from trainway.compiler.network import JobIdentity
from trainway.errors import ConflictError, NotFoundError
from trainway.json_types import Json

GIB = 2**30
LOCAL_POOL = "local-clusters"


def kept(infra: str = "local", nodes: int = 1, state: str = "UP", **amounts: float) -> Kept:
    pool = LOCAL_POOL if infra == "local" else "lab"
    each = {"cpus": 2.0, "memory": 0, "gpus": 0, **amounts}
    return Kept("dev", infra, pool, nodes, each, state)


def write(home: Path, found: Kept) -> None:
    KeptClusters(home).write({**vars(found), "id": "x"})


def backend(home: Path, found: Kept) -> ClusterBackend:
    write(home, found)
    made = Registry(BackendSettings(home)).get("cluster/dev")
    assert isinstance(made, ClusterBackend)
    return made


def jobset(pods: int = 1, **requests: str) -> Json:
    container = {"name": "main", "command": ["true"], "resources": {"requests": requests}}
    job = {
        "parallelism": pods,
        "completions": pods,
        "template": {"spec": {"containers": [container]}},
    }
    role = {"name": "node", "replicas": 1, "template": {"spec": job}}
    return {"metadata": {"name": "job"}, "spec": {"replicatedJobs": [role]}}


def workload(job: Json, kind: str = "Task") -> Workload:
    identity = ("id", "job", "default")
    return Workload(*identity, job, [], "/", {"A": "b"}, 20_000, source={"kind": kind})


@dataclass(frozen=True)
class Case:
    """Whether a job with these demands could run on a cluster."""

    found: Kept
    demand: tuple[tuple[float, float, float], ...]
    why: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case(kept(), ((2, 0, 0),)),
        Case(kept(), ((2, 64 * GIB, 0),)),
        Case(kept(), ((3, 0, 0),), "it needs 3 CPUs, and there are 2; cluster dev has 1 node of"),
        Case(kept(memory=GIB), ((1, 2 * GIB, 0),), "2 GiB of memory"),
        Case(kept(nodes=2), ((2, 0, 0), (2, 0, 0))),
        Case(kept(nodes=2), ((3, 0, 0),), "does not fit on these hosts; cluster dev has 2 nodes"),
        Case(kept(gpus=0.5), ((0, 0, 0.5),)),
        Case(kept(gpus=0.5), ((0, 0, 1),), "1 GPU"),
        Case(kept(gpus=2), ((0, 0, 0.5), (0, 0, 1))),
    ],
)
def test_what_could_never_run_there(case: Case) -> None:
    demand = [
        {"pod": f"node-0-{index}", "cpus": cpus, "memory": memory, "gpus": gpus}
        for index, (cpus, memory, gpus) in enumerate(case.demand)
    ]
    found = unfitting(case.found, demand)
    assert case.why in found
    assert bool(found) == bool(case.why)


@pytest.mark.parametrize(
    ("kind", "cluster", "cpus", "taken"),
    [("Task", 2.0, 0, 0.5), ("Task", 0.25, 0, 0.25), ("Task", 2.0, 1, 1), ("JobSet", 2.0, 0, 0)],
)
def test_a_task_that_asks_for_nothing_takes_half_a_cpu(
    kind: str, cluster: float, cpus: float, taken: float
) -> None:
    demand = [{"pod": "node-0-0", "cpus": cpus, "memory": 0, "gpus": 0}]
    (found,) = cluster_demand(demand, {"kind": kind}, kept(cpus=cluster))
    assert found["cpus"] == taken


@pytest.mark.parametrize(("infra", "taken"), [("aws/us-east-1", 0.9), ("ssh/lab", 1.0)])
@pytest.mark.parametrize("kind", ["Task", "TrainJob"])
def test_a_job_that_asks_for_all_memory_fits_on_a_rented_machine(
    infra: str, taken: float, kind: str
) -> None:
    demand = [{"pod": "node-0-0", "cpus": 1, "memory": 8 * GIB, "gpus": 0}]
    (found,) = cluster_demand(demand, {"kind": kind}, kept(infra, cpus=2))
    assert found["memory"] == int(8 * GIB * taken)


def test_a_local_job_is_what_it_is_without_a_cluster(tmp_path: Path) -> None:
    found = backend(tmp_path, kept())
    network = found.network(JobIdentity("job", "default", "job"))
    assert network.host("node", 0) == "127.0.0.1"
    request = found.plan(workload(jobset()))
    assert request.plan["env"] == {"A": "b"}
    assert (request.plan["pool"], request.plan["queue"]) == (LOCAL_POOL, "dev")
    assert request.plan["demand"] == [{"pod": "node-0-0", "cpus": 0.5, "memory": 0, "gpus": 0}]
    assert request.handle["queue"] == "dev"


@pytest.mark.parametrize(("infra", "is_here"), [("local", True), ("ssh/lab", False)])
def test_some_clusters_see_the_files_of_this_machine(
    infra: str, is_here: bool, tmp_path: Path
) -> None:
    assert shares_host(backend(tmp_path, kept(infra))) is is_here


def test_a_job_of_a_cluster_that_is_gone_can_still_be_planned(tmp_path: Path) -> None:
    found = backend(tmp_path, kept())
    handle = found.plan(workload(jobset())).handle
    KeptClusters(tmp_path).remove("dev")
    again = found.plan(Workload(**{**vars(workload(jobset())), "handle": handle}))
    assert again.handle == handle


def test_jobs_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    found = backend(tmp_path, kept())
    errors, warnings = found.problems(jobset(cpu="3"), {"kind": "Task"})
    assert errors == ["it needs 3 CPUs, and there are 2; cluster dev has 1 node of 2 CPUs"]
    assert warnings == []
    errors, _ = found.problems(jobset(pods=2), {"kind": "Task"})
    assert errors == ["num_nodes: it needs 2 nodes, but cluster dev has 1 node"]
    assert found.problems(jobset(pods=2), {"kind": "JobSet"}) == ([], [])


def folder_job(folder: str) -> Json:
    made = jobset()
    role = made["spec"]["replicatedJobs"][0]
    role["template"]["spec"]["template"]["spec"]["containers"][0]["workingDir"] = folder
    return made


def test_tasks_of_a_local_cluster_run_where_the_last_folder_was(tmp_path: Path) -> None:
    found = backend(tmp_path, kept())
    clusters = KeptClusters(tmp_path)
    first = found.plan(workload(jobset())).plan
    assert (first["workdir"], first["lasting"]) == ("/", "/")
    clusters.keep_working_directory("dev", str(tmp_path))
    assert found.plan(workload(jobset())).plan["workdir"] == str(tmp_path)
    assert found.plan(workload(folder_job("etc"))).plan["lasting"] == "/etc"
    assert found.plan(workload(folder_job("etc"))).plan["workdir"] == "/"
    assert found.plan(workload(jobset(), kind="TrainJob")).plan["workdir"] == "/"
    clusters.keep_working_directory("dev", str(tmp_path / "gone"))
    assert found.plan(workload(jobset())).plan["workdir"] == "/"


def test_hosts_have_a_folder_for_each_cluster(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("pools: {lab: {hosts: [a1]}}")
    plan = backend(tmp_path, kept("ssh/lab")).plan(workload(jobset())).plan
    assert plan["cluster"] == "x"
    assert "lasting" not in plan


def test_a_stopped_cluster_takes_no_job(tmp_path: Path) -> None:
    found = backend(tmp_path, kept(state="STOPPED"))
    with pytest.raises(ConflictError, match="is stopped"):
        asyncio.run(found.look())
    KeptClusters(tmp_path).remove("dev")
    write(tmp_path, Kept("deva", "local", LOCAL_POOL, 1, {}, "UP"))
    with pytest.raises(NotFoundError, match='did you mean "deva"'):
        asyncio.run(found.look())


def test_every_cluster_is_a_place(tmp_path: Path) -> None:
    registry = Registry(BackendSettings(tmp_path))
    assert not [name for name in registry.infras() if name.startswith("cluster")]
    write(tmp_path, kept())
    assert "cluster/dev" in registry.infras()
