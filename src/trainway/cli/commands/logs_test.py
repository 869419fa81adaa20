from collections.abc import Iterator

import pytest
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.json_types import Json
from trainway.sdk.rest import Rest
from trainway.sdk.testing import FakeServer
from trainway.sdk.transport import StreamControl


def invoke(*args: str) -> Result:
    return CliRunner().invoke(app, args, prog_name="trainway")


def written(fake: FakeServer, name: str, text: str, backend: str = "local") -> Json:
    job = fake.add_job(name, "Succeeded", startTime="2026-11-15T05:10:01Z")
    job["spec"]["backend"] = backend
    fake.clusters.number(job)
    fake.log(job, text)
    return job


@pytest.mark.parametrize("ref", ["train", "id0000"])
def test_a_job_goes_by_its_name_or_id(fake: FakeServer, ref: str) -> None:
    written(fake, "train", "hello")
    result = invoke("logs", ref)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "node-0 | hello\n", "")
    assert invoke("logs", ref, "--status").stdout == f"Job {ref}: SUCCEEDED\n"


def test_of_several_jobs_of_a_name_it_is_the_newest_and_the_others_are_named(
    fake: FakeServer,
) -> None:
    written(fake, "train", "old")
    written(fake, "train", "new")
    result = invoke("logs", "train")
    assert result.stdout == "node-0 | new\n"
    assert result.stderr == (
        "note: 2 jobs are called train; this is the newest, id0001. The one before it: "
        "trainway jobs logs id0000. All of them: trainway jobs list --name train\n"
    )


@pytest.mark.parametrize("verb", ["logs", "cancel"])
def test_a_name_of_a_cluster_and_of_a_job_is_asked_about(fake: FakeServer, verb: str) -> None:
    fake.clusters.add("dev")
    written(fake, "x", "of the cluster", "cluster/dev")
    written(fake, "dev", "of the job")
    result = invoke(verb, "dev")
    assert result.exit_code == 2
    assert result.stderr == (
        "error: 'dev' is the name of a cluster and of a job\n"
        f"hint: for the cluster: trainway {verb} dev JOB, where trainway queue dev shows which jobs"
        f" there are; for the job: trainway jobs {verb} dev\n"
    )
    assert invoke("logs", "dev", "1").stdout == "node-0 | of the cluster\n"
    assert invoke("jobs", "logs", "dev").stdout == "node-0 | of the job\n"


def test_a_job_that_is_called_as_its_cluster_is_no_other_meaning(fake: FakeServer) -> None:
    fake.clusters.add("dev")
    written(fake, "dev", "hello", "cluster/dev")
    assert invoke("logs", "dev").stdout == "node-0 | hello\n"


def test_a_name_of_nothing_may_be_a_slip(fake: FakeServer) -> None:
    written(fake, "train", "hello")
    result = invoke("logs", "trian")
    assert (result.exit_code, result.stderr) == (
        3,
        (
            "error: there is no job or cluster 'trian'; did you mean \"train\"?\n"
            "hint: trainway jobs list shows the jobs, and trainway status the clusters\n"
        ),
    )


def test_only_one_role_and_rank(fake: FakeServer) -> None:
    job = written(fake, "train", "first")
    fake.log(job, "second", rank=1)
    assert invoke("logs", "train", "--rank", "1").stdout == "node-1 | second\n"


def test_a_job_of_no_cluster_is_cancelled_by_its_name(fake: FakeServer) -> None:
    job = fake.add_job("train", "Running")
    assert invoke("cancel", "train", "-y").stdout == "train: Cancelled\n"
    assert job["status"]["phase"] == "Cancelled"
    assert invoke("cancel", "train", "-y").stderr == "train has already ended: Cancelled\n"


@pytest.mark.parametrize("words", [("jobs", "logs", "-f", "train"), ("logs", "train")])
def test_whoever_follows_a_job_that_waits_is_told_why(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    job = fake.add_job("train", "Queued", message="needs 4 CPUs, 1 free")

    def watch(_self: Rest, ref: str, _control: StreamControl) -> Iterator[Json]:
        assert ref == "id0000"
        yield job
        yield job
        fake.update(job, message="needs 4 CPUs, 2 free")
        yield job
        fake.update(job, "Starting", message="")
        yield job
        fake.log(job, "hello")
        fake.update(job, "Succeeded", startTime="2026-11-15T05:10:01Z")
        yield job

    monkeypatch.setattr(Rest, "watch", watch)
    result = invoke(*words)
    assert (result.exit_code, result.stdout) == (0, "node-0 | hello\n")
    assert result.stderr == (
        "train: Queued: needs 4 CPUs, 1 free\ntrain: Queued: needs 4 CPUs, 2 free\n"
    )


def test_whoever_does_not_follow_is_not_kept_waiting(fake: FakeServer) -> None:
    fake.add_job("train", "Queued", message="needs 4 CPUs, 1 free")
    assert invoke("logs", "--no-follow", "train").exit_code == 101
    assert invoke("jobs", "logs", "train").stderr == ""
