from trainway.agent.base.plan import Plan
from trainway.agent.base.pod_identity import PodIdentity
from trainway.agent.kubelet.variables import about_pod


def test_a_pod_of_a_machine_is_told_all_of_the_table() -> None:
    role = {"name": "node", "replicas": 2, "template": {"spec": {}}}
    jobset = {"metadata": {"name": "js"}, "spec": {"replicatedJobs": [role]}}
    plan = Plan({"version": 1, "id": "job-1", "name": "mine", "jobset": jobset})
    pod = PodIdentity(plan, plan.roles[0], job_index=1, slot=3, uid="u", attempt=2)
    assert about_pod(pod, "/out") == {
        "TRAINWAY_JOB_ID": "job-1",
        "TRAINWAY_JOB_NAME": "mine",
        "TRAINWAY_ROLE": "node",
        "TRAINWAY_RANK": "3",
        "TRAINWAY_RESTART_ATTEMPT": "2",
        "TRAINWAY_OUTPUT_DIR": "/out",
    }
