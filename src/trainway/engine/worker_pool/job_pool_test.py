"""The pool that a job on a cloud gets: its nodes, what sets them up, and how many workers."""

from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.engine.worker_pool.job_pool import machines_of_task, pool_for, pool_name, task_of
from trainway.engine.worker_pool.machines import Machines
from trainway.engine.worker_pool.request import NewPool
from trainway.json_types import Json

SECRET: Json = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}


def task(**fields: object) -> Json:
    return {
        "apiVersion": "trainway.dev/v1alpha1",
        "kind": "Task",
        "metadata": {"name": "demo"},
        "spec": {"tasks": [{"name": "demo", "task": fields}]},
        "origin": {"by": "me"},
    }


def made(submission: Submission, jobs: int = 1, machines: Machines | None = None) -> NewPool:
    found = task_of(submission.objects[0])
    return pool_for(submission, "for-x", jobs, machines or machines_of_task(found or {}))


def test_a_task_says_what_its_machines_are_and_how_they_are_set_up() -> None:
    resources = {"accelerators": "A100:8", "use_spot": True}
    job = task(run="train", setup="install", num_nodes=4, resources=resources, workdir="/code")
    submission = Submission([job, SECRET], backend="aws/us-east-1", key="k", max_wait=5.0)
    pool = made(submission)

    assert (pool.infra, pool.nodes, pool.resources) == ("aws/us-east-1", 4, resources)
    assert pool.workers["max_workers"] == 1
    assert pool.size().goes_with_jobs
    setup, secret = pool.submission.objects
    assert setup["spec"]["tasks"][0]["task"] == {"workdir": "/code", "setup": "install"}
    assert setup["origin"] == {"by": "me"}
    assert secret == SECRET
    assert pool.submission.key == "", "it is no second submission of the job"
    assert pool.submission.max_wait is None, "it goes nowhere else"


def test_workers_of_other_jobs_need_no_setup() -> None:
    machines = Machines(2, {"cpus": "2+"})
    pool = made(Submission([jobset("demo"), SECRET], backend="cloud"), machines=machines)

    assert (pool.nodes, pool.resources) == (2, {"cpus": "2+"})
    (setup,) = pool.submission.objects
    assert setup["spec"]["tasks"][0]["task"] == {"setup": "true"}


def test_jobs_of_a_run_share_as_many_workers_as_may_run_at_a_time() -> None:
    submission = Submission([task(run="x")], backend="aws", num_jobs=10, parallel=3)
    assert made(submission, 10).workers["max_workers"] == 3
    assert made(submission, 2).workers["max_workers"] == 2


def test_a_repeated_request_has_the_same_pool() -> None:
    assert pool_name("k") == pool_name("k") != pool_name("l")
