from trainway.engine.phases import Phase
from trainway.engine.record import JobRecord, stored
from trainway.engine.view import job_view


def test_a_job_that_was_refused_has_no_place_in_a_queue() -> None:
    waits = {"waiting": {"reason": "DoesNotFit", "message": "it needs 40 CPUs", "position": 3}}
    record = JobRecord(
        id="i", name="n", namespace="d", kind="JobSet", backend="ssh/lab", phase=Phase.QUEUED,
        observed=stored({"observed": waits})["observed"],
    )  # fmt: skip
    assert job_view(record, [])["status"]["queuePosition"] == 3
    failed = record.with_columns({"phase": Phase.FAILED, "reason": "DoesNotFit"})
    assert "queuePosition" not in job_view(failed, [])["status"]
