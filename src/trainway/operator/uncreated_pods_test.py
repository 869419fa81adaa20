"""Which TrainJob a Job's event is about, and what is told of it."""

from typing import Any

from trainway.operator.uncreated_pods import complaints, job_key, kept_event

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


def test_the_longest_name_that_is_known_is_meant() -> None:
    found = event("a-b-node-0", "")
    assert job_key(found, {"ns/a", "ns/a-b"}) == "ns/a-b"
    assert job_key(found, {"ns/a", "other/a-b"}) == "ns/a"
    assert job_key(found, {"ns/a-b-node"}) == ""


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
