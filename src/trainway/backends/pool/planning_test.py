import json
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from trainway.backends.base import Workload
from trainway.backends.pool.planning import PoolRequest, plan, site_of, workload_of
from trainway.backends.pool.site import Site
from trainway.json_types import Json

TESTDATA = Path(__file__).parent / "testdata"
SITE = Site("lab", "lab", outputs="keep")


def role(name: str, nodes: int, **requests: Any) -> Json:
    container = {"name": "main", "command": ["true"], "resources": {"requests": requests}}
    job = {
        "parallelism": nodes,
        "completions": nodes,
        "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
    }
    return {"name": name, "replicas": 1, "template": {"spec": job}}


KEYS = {
    "apiVersion": "v1",
    "kind": "Secret",
    "type": "kubernetes.io/ssh-auth",
    "metadata": {"name": "demo-mpi-ssh-auth"},
    "data": {"ssh-privatekey": "aGlkZGVu"},
}
WORKLOAD = Workload(
    id="abc",
    name="demo",
    namespace="ns",
    jobset={
        "kind": "JobSet",
        "metadata": {"name": "demo"},
        "spec": {"replicatedJobs": [role("launcher", 1), role("node", 2, cpu=1, memory="1Gi")]},
    },
    objects=[KEYS],
    workdir="/work",
    environ={"PATH": "/bin", "HF_TOKEN": "hidden"},
    port=20_000,
    priority=3,
    oversubscribe=True,
)


def planned(workload: Workload = WORKLOAD, site: Site = SITE) -> PoolRequest:
    return plan(workload, site, PurePosixPath("/home/jobs"), {})


def test_the_plan_is_what_the_pool_agent_expects() -> None:
    wanted = json.loads((TESTDATA / "plan.json").read_text())
    assert json.loads(planned().text()) == wanted


def test_only_what_is_shown_hides_secrets() -> None:
    request = plan(WORKLOAD, SITE, PurePosixPath("/home/jobs"), {"HF_TOKEN": "mine"})
    assert request.plan["objects"] == [KEYS]
    assert request.plan["env"] == {"HF_TOKEN": "mine"}
    assert "aGlkZGVu" not in request.text()
    assert "mine" not in request.text()


def test_a_job_is_found_again_without_its_configuration() -> None:
    handle = planned(site=Site("mine", "local-clusters", "mine")).handle
    assert handle == {
        "id": "abc",
        "port": 20_000,
        "directory": "/home/jobs/abc",
        "site": "mine",
        "pool": "local-clusters",
        "queue": "mine",
        "outputs": "copy",
    }
    assert site_of(handle) == Site("mine", "local-clusters", "mine")


def test_a_workload_is_found_again_in_its_plan() -> None:
    found = workload_of(planned().plan)
    assert found is not None
    again = planned(replace(found, handle={}), site_of(found.handle))
    assert again == planned()


def test_jobs_of_clusters_and_of_this_machine_are_left_to_others() -> None:
    assert workload_of(planned(site=Site("mine", "lab", "mine")).plan) is None
    assert workload_of({"version": 1}) is None


def test_only_a_launcher_gets_to_other_pods() -> None:
    spec = {"replicatedJobs": [role("node", 2)]}
    alone = replace(WORKLOAD, jobset={**WORKLOAD.jobset, "spec": spec})
    assert "mpi" not in planned(alone).plan
    assert planned().plan["mpi"] == {"secret": "demo-mpi-ssh-auth"}


def test_planning_changes_nothing() -> None:
    assert planned() == planned()
