"""Which TrainJob a Job's event is about, and what is told of it."""

from typing import Any

from trainway.operator.caches import kept_jobset
from trainway.operator.uncreated_pods import about, candidates, complaints, job_names, kept_event

QUOTA = 'Error creating: pods "a-b-node-0-0-{}" is forbidden: exceeded quota: team, used: pods=1'


def event(job: str, message: str) -> dict[str, Any]:
    return kept_event(
        {
            "metadata": {"name": f"{job}.1", "namespace": "ns", "uid": "u", "managedFields": []},
            "involvedObject": {"kind": "Job", "name": job},
            "reason": "FailedCreate",
            "message": message,
            "source": {"component": "job-controller"},
        }
    )


def jobset(name: str, **roles: int) -> dict[str, Any]:
    replicated = [{"name": role, "replicas": count} for role, count in roles.items()]
    return {"metadata": {"name": name}, "spec": {"replicatedJobs": replicated}}


def test_all_jobs_are_looked_at_that_may_be_meant() -> None:
    assert candidates(event("a-b-node-0", "")) == ["ns/a-b", "ns/a"]


def test_an_event_is_about_the_job_whose_jobset_has_that_job() -> None:
    events = [event(name, "") for name in ("a-node-0", "a-node-1", "a-b-node-0", "a-b-launcher-0")]
    short, long = jobset("a", node=1), jobset("a-b", launcher=1, node=2)

    def told(owner: dict[str, Any]) -> list[str]:
        return [each["involvedObject"]["name"] for each in about(events, job_names(owner))]

    assert told(short) == ["a-node-0"]
    assert told(long) == ["a-b-node-0", "a-b-launcher-0"]
    assert told(jobset("a", **{"b-node": 1})) == ["a-b-node-0"]


def test_the_jobs_of_a_jobset_are_known_from_what_is_kept_of_it() -> None:
    role = {"name": "node", "template": {"spec": {}}}
    whole = {"metadata": {"name": "a"}, "spec": {"replicatedJobs": [role]}}
    assert job_names(kept_jobset(whole)) == {"a-node-0"}
    assert job_names(kept_jobset({"metadata": {"name": "a"}})) == set()


def test_what_is_said_is_said_once() -> None:
    events = [event("a-b-node-0", QUOTA.format(suffix)) for suffix in ("x1", "x2")]
    assert complaints(events) == [
        "Job a-b-node-0 cannot create its pods: forbidden: exceeded quota: team, used: pods=1"
    ]


def test_a_webhook_that_does_not_answer_is_named() -> None:
    text = (
        'Error creating: Internal error occurred: failed calling webhook "mpod.kb.io": failed to'
        ' call webhook: Post "https://jobset-webhook-service.jobset-system.svc:443/m": refused'
    )
    (told,) = complaints([event("a-node-0", text)])
    assert told == (
        "Job a-node-0 cannot create its pods: JobSet's controller does not answer (webhook"
        " mpod.kb.io): the Service jobset-webhook-service in namespace jobset-system has no ready"
        " endpoints"
    )
