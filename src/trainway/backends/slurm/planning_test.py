import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import pytest

from trainway.backends.base import ArrayPlace, Workload
from trainway.backends.slurm.planning import (
    SlurmRequest,
    deadline_of,
    grace_of,
    plan,
    remains,
    why_stays,
    workload_of,
)
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.backends.slurm.testing import JOB_ID, example, jobset, role, workload
from trainway.jobset.labels import TIMEOUT_SECONDS
from trainway.json_types import Json

TESTDATA = Path(__file__).parent / "testdata"
CLUSTER = ConfiguredCluster(
    "test", partition="main", options={"account": "lab"}, env={"PATH": "/opt/my tools:/usr/bin"}
)


def planned(job: Workload, cluster: ConfiguredCluster = CLUSTER, tool: str = "") -> SlurmRequest:
    return plan(job, cluster, PurePosixPath("/home/jobs"), tool)


def two_roles() -> Workload:
    learner = role("learner", pods=2, cpu=4, memory="2Gi", **{"nvidia.com/gpu": 1})
    return workload(jobset(role("actor", pods=3, cpu=1, memory="512Mi"), learner))


def contained() -> Workload:
    made = jobset(role("node", cpu=2, **{"nvidia.com/gpu": 1}))
    made["metadata"]["annotations"] = {"trainway.dev/isolation": "container"}
    pod = made["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    pod["containers"][0]["image"] = "nvcr.io/nvidia/pytorch:24.01"
    return workload(made)


def element(rank: int, job: Workload | None = None) -> Workload:
    """One of three jobs that were submitted as one."""
    job = job or example("task.yaml")
    place = ArrayPlace(JOB_ID, rank, 3)
    return replace(job, id=f"{job.id}{rank}", name=f"{job.name}-{rank}", place=place)


@dataclass(frozen=True)
class Case:
    name: str
    job: Callable[[], Workload]
    tool: str = ""
    cluster: ConfiguredCluster = CLUSTER


@pytest.mark.parametrize(
    "case",
    [
        Case("torch-ddp", lambda: example("torch-ddp.yaml")),
        Case("mpi", lambda: example("mpi.yaml")),
        Case("task", lambda: example("task.yaml")),
        Case("two-roles", two_roles),
        Case("pyxis", contained, "pyxis"),
        Case("apptainer", contained, "apptainer"),
        Case("array", lambda: element(2)),
        Case("scattered", lambda: example("mpi.yaml"), cluster=replace(CLUSTER, shared=False)),
    ],
    ids=lambda case: case.name,
)
def test_the_script_is_the_golden_one(case: Case) -> None:
    wanted = (TESTDATA / f"{case.name}.sbatch").read_text()
    assert planned(case.job(), case.cluster, case.tool).text() == wanted


def test_the_jobs_of_an_array_share_a_script_and_nothing_else() -> None:
    first, last = planned(element(0)), planned(element(2))
    assert first.script == last.script
    assert last.plan["slurm"]["array"] == {"id": JOB_ID, "rank": 2, "count": 3}
    assert (last.plan["id"], last.directory.name) == (f"{JOB_ID}2", f"{JOB_ID}2")
    text = remains(last.handle)
    assert f"trainway:{JOB_ID} and _2" in text
    assert f"/jobs/{JOB_ID}2" in text
    found = workload_of(last.plan)
    assert found is not None
    assert found.place == element(2).place


def test_heterogeneous_jobs_are_no_array() -> None:
    request = planned(element(1, two_roles()))
    assert "array" not in request.plan["slurm"]
    assert "--array" not in request.script
    assert f"trainway:{JOB_ID}1" in request.script


def test_the_driver_gets_what_the_script_does_not_say() -> None:
    made = planned(two_roles()).plan
    assert made["slurm"] == {
        "cluster": "test",
        "site": "test/main",
        "login": CLUSTER.to_dict(),
        "containers": "",
        "grace": 30,
        "requeue": True,
        "hold": False,
        "roles": {
            "actor": {"group": 0, "nodes": None, "overlap": False},
            "learner": {"group": 1, "nodes": None, "overlap": False},
        },
    }
    assert made["network"] == {"port": 20_000}
    assert [item["pod"] for item in made["demand"]] == [
        "actor-0-0", "actor-0-1", "actor-0-2", "learner-0-0", "learner-0-1",
    ]  # fmt: skip
    assert "mpi" not in made


def test_a_job_whose_files_are_sent_says_where_to() -> None:
    made = planned(two_roles(), replace(CLUSTER, shared=False))
    assert (made.plan["slurm"]["shared"], made.plan["slurm"]["scratch"]) == (False, "/tmp")
    assert "jobs/01k9x" not in made.script


def test_a_launcher_brings_its_key() -> None:
    made = planned(example("mpi.yaml")).plan
    assert made["mpi"] == {"secret": "allreduce-ssh"}
    assert made["slurm"]["roles"]["launcher"] == {"group": None, "nodes": None, "overlap": True}


def test_a_launcher_that_is_one_of_the_nodes_has_one() -> None:
    request = planned(example("mpi-trainjob.yaml"))
    assert "#SBATCH --nodes=2\n" in request.text()
    assert request.plan["slurm"]["roles"]["launcher"] == {
        "group": None, "nodes": 1, "overlap": False,
    }  # fmt: skip


def test_what_is_shown_has_no_secret_in_it() -> None:
    job = example("mpi.yaml")
    values = [
        value for obj in job.objects if obj["kind"] == "Secret" for value in obj["data"].values()
    ]
    assert values
    assert not [value for value in values if value in planned(job).text()]


def test_slurm_holds_a_job_that_is_suspended_and_the_driver_does_not() -> None:
    made = jobset(role("node"))
    made["spec"]["suspend"] = True
    request = planned(workload(made))
    assert "#SBATCH --hold\n" in request.script
    assert request.plan["slurm"]["hold"]
    assert "suspend" not in request.plan["jobset"]["spec"]
    found = workload_of(request.plan)
    assert found is not None
    assert found.jobset == made


def test_what_may_be_secret_is_not_in_the_script() -> None:
    cluster = replace(CLUSTER, env={"HF_TOKEN": "hidden", "LANG": "C"})
    request = planned(two_roles(), cluster)
    assert "hidden" not in request.text()
    assert "export LANG=C" in request.text()
    assert request.plan["env"] == {"HF_TOKEN": "hidden"}


@pytest.mark.parametrize(
    ("priority", "line"),
    [(0, None), (5, None), (-5, "#SBATCH --nice=5")],
)
def test_a_user_can_only_step_back(priority: int, line: str | None) -> None:
    text = planned(replace(workload(jobset(role("node"))), priority=priority)).script
    found = [each for each in text.splitlines() if "--nice" in each]
    assert found == ([line] if line else [])


def test_a_job_is_found_again_without_its_configuration() -> None:
    request = planned(two_roles())
    found = workload_of(json.loads(json.dumps(request.plan)))
    assert found is not None
    handle = request.handle
    assert found.handle == {
        name: handle[name] for name in ("site", "cluster", "outputs", "containers")
    }
    assert ConfiguredCluster.from_dict(handle["cluster"], "main").to_dict() == CLUSTER.to_dict()
    assert replace(found, handle={}, source=found.jobset, demand=two_roles().demand) == two_roles()


def test_plans_of_other_backends_are_left_to_them() -> None:
    assert workload_of({"version": 1, "pool": "lab"}) is None


def test_what_is_left_can_be_found_by_hand() -> None:
    text = remains(planned(two_roles()).handle)
    assert "trainway:01k9x" in text
    assert "~/.trainway/slurm/jobs/01k9x" in text


def test_the_longest_grace_counts() -> None:
    made = jobset(role("a"), role("b"))
    assert grace_of(made) == 30
    pods = [job["template"]["spec"]["template"]["spec"] for job in made["spec"]["replicatedJobs"]]
    pods[0]["terminationGracePeriodSeconds"] = 5
    assert grace_of(made) == 30
    pods[1]["terminationGracePeriodSeconds"] = 90
    assert grace_of(made) == 90


def timed(*seconds: int | None, restarts: int = 0) -> Json:
    made = jobset(*(role(f"r{index}") for index in range(len(seconds))))
    for job, limit in zip(made["spec"]["replicatedJobs"], seconds, strict=True):
        if limit is not None:
            job["template"]["spec"]["activeDeadlineSeconds"] = limit
    made["spec"]["failurePolicy"] = {"maxRestarts": restarts}
    return made


@pytest.mark.parametrize(
    ("made", "source", "wanted"),
    [
        (timed(None), None, None),
        (timed(60), None, 60),
        (timed(60, None), None, None),
        (timed(60, 30, restarts=2), None, 270),
        (timed(60), {"kind": "TrainJob", "spec": {"activeDeadlineSeconds": 90}}, 90),
        (timed(60), {"kind": "TrainJob", "spec": {}}, None),
        (timed(60), {"kind": "Task", "metadata": {"annotations": {TIMEOUT_SECONDS: "90"}}}, 90),
        (timed(60), {"kind": "MPIJob", "spec": {"runPolicy": {"activeDeadlineSeconds": 7}}}, 7),
    ],
)
def test_the_deadline_is_when_it_is_over_at_the_latest(
    made: Json, source: Json | None, wanted: int | None
) -> None:
    assert deadline_of(made, source or made) == wanted


def test_planning_changes_nothing() -> None:
    job = two_roles()
    before = json.dumps(job.jobset)
    assert planned(job) == planned(job)
    assert json.dumps(job.jobset) == before


def test_what_keeps_a_job_on_the_cluster_is_known_from_its_handle() -> None:
    assert why_stays(planned(two_roles()).handle) == ""
    keeping = replace(CLUSTER, outputs="keep")
    assert "outputs: keep" in why_stays(planned(two_roles(), keeping).handle)
    fixed = replace(CLUSTER, options={"no-requeue": True})
    assert "no-requeue" in why_stays(planned(two_roles(), fixed).handle)
    known = planned(two_roles()).handle
    assert why_stays({name: known[name] for name in known if name != "requeue"}) == ""
