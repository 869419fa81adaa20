"""The pool that a job on a cloud gets: its nodes, what sets them up, and how many workers."""

import pytest

from trainway.engine.submission import Submission
from trainway.engine.testing import jobset
from trainway.engine.worker_pool.job_pool import pool_for, pool_name
from trainway.errors import UsageError
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


def test_a_task_says_what_its_machines_are_and_how_they_are_set_up() -> None:
    resources = {"accelerators": "A100:8", "use_spot": True}
    job = task(run="train", setup="install", num_nodes=4, resources=resources, workdir="/code")
    made = pool_for(Submission([job, SECRET], backend="aws/us-east-1", key="k"), "for-x", 1)

    assert (made.infra, made.nodes, made.resources) == ("aws/us-east-1", 4, resources)
    assert made.workers["max_workers"] == 1
    assert made.size().goes_with_jobs
    setup, secret = made.submission.objects
    assert setup["spec"]["tasks"][0]["task"] == {"workdir": "/code", "setup": "install"}
    assert setup["origin"] == {"by": "me"}
    assert secret == SECRET
    assert made.submission.key == "", "it is no second submission of the job"


def test_of_other_jobs_every_pod_gets_a_machine_on_which_the_largest_fits() -> None:
    job = jobset("demo")
    pods = job["spec"]["replicatedJobs"][0]["template"]["spec"]
    pods |= {"parallelism": 2, "completions": 2}
    pods["template"]["spec"]["containers"][0]["resources"] = {
        "requests": {"cpu": "1500m", "memory": "4Gi"}
    }
    made = pool_for(Submission([job], backend="cloud"), "for-x", 1)

    assert (made.nodes, made.resources) == (2, {"cpus": "1.5+", "memory": "4+"})
    assert made.submission.objects[0]["spec"]["tasks"][0]["task"] == {"setup": "true"}


def test_jobs_of_a_run_share_as_many_workers_as_may_run_at_a_time() -> None:
    submission = Submission([task(run="x")], backend="aws", num_jobs=10, parallel=3)
    assert pool_for(submission, "for-x", 10).workers["max_workers"] == 3
    assert pool_for(submission, "for-x", 2).workers["max_workers"] == 2


@pytest.mark.parametrize(
    ("version", "kind"),
    [("trainer.kubeflow.org/v1alpha1", "TrainJob"), ("kubeflow.org/v2beta1", "MPIJob")],
)
def test_what_must_be_compiled_first_is_refused_with_a_way_out(version: str, kind: str) -> None:
    job = {"apiVersion": version, "kind": kind, "metadata": {}, "spec": {}}
    with pytest.raises(UsageError, match=f"a {kind}") as caught:
        pool_for(Submission([job], backend="aws"), "for-x", 1)
    assert "trainway launch" in (caught.value.hint or "")


def test_a_repeated_request_has_the_same_pool() -> None:
    assert pool_name("k") == pool_name("k") != pool_name("l")
