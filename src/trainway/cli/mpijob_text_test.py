from datetime import UTC, datetime

from trainway.cli.mpijob_text import description, waiting
from trainway.jobset.labels import SUSPENDED
from trainway.training.facts import Facts
from trainway.training.members import members_of
from trainway.training.testing import TIME, job, pod

NOW = datetime(2026, 11, 17, 9, 5, tzinfo=UTC)


def test_a_description_has_everything() -> None:
    failed = job("Failed")
    ended = {"terminated": {"exitCode": 3, "finishedAt": TIME, "reason": "Error"}}
    members = members_of([pod("launcher", 0, ended, phase="Failed"), pod("worker", 0)])
    event = {
        "type": "Warning",
        "reason": "BackOff",
        "message": "it\nfailed",
        "lastTimestamp": TIME,
        "involvedObject": {"kind": "MPIJob", "name": "train"},
    }
    facts = Facts(failed, members, [event], culprit=members[0], spoke=members[0], lines=["a\x1bb"])
    assert description(facts, NOW) == (
        "Name:         train\n"
        "Namespace:    team\n"
        "State:        Failed (MPIJobFailed: so.)\n"
        "Created:      2026-11-17T09:00:00Z (5m ago)\n"
        "Ended:        2026-11-17T09:00:00Z\n"
        "Workers:      0 of 2 run, with 1 slot each\n"
        "MPI:          OpenMPI\n"
        "Image:        team/train:v1\n"
        "Command:      mpirun python train.py\n"
        "Resources:    <none>\n"
        "Run policy:   cleanPodPolicy Running, backoffLimit 1\n"
        "Queue:        <none>\n"
        "Conditions:\n"
        "  TYPE    STATUS  SINCE  REASON        MESSAGE\n"
        "  Failed  True    5m     MPIJobFailed  so.\n"
        "Replicas:\n"
        "  REPLICA   POD                       PHASE    RESTARTS  NODE    PROBLEM\n"
        "  launcher  train-launcher-0-0-abcde  Failed   0         node-1  exited with status 3\n"
        "  worker 0  train-worker-0-0-abcde    Running  0         node-1\n"
        "Events:\n"
        "  AGE  TYPE     REASON   OBJECT        MESSAGE\n"
        "  5m   Warning  BackOff  MPIJob/train  it failed\n"
        "Last lines of the launcher, train-launcher-0-0-abcde:\n"
        "  a\\x1bb\n"
        "Culprit:      the launcher: exited with status 3\n"
    )


def test_a_queue_says_the_place_and_the_reason() -> None:
    queued = job("Suspended", suspend=True)
    queued["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "blue"}
    message = "insufficient quota for cpu"
    waits = {"type": "QuotaReserved", "status": "False", "message": message}
    workload = {"spec": {"active": True}, "status": {"conditions": [waits]}}
    assert waiting(Facts(queued, workload=workload, position=3)) == (
        "position 3 in blue: insufficient quota for cpu"
    )
    assert waiting(Facts(queued)).startswith("waits in blue, but Kueue has not taken it")
    held = {**workload, "spec": {"active": False}}
    assert waiting(Facts(queued, workload=held)).startswith("suspended in blue")
    queued["metadata"]["annotations"] = {SUSPENDED: "true"}
    assert waiting(Facts(queued, workload=held)).startswith("suspended in blue")
    assert waiting(Facts(job("Running"))) == ""
