import json
from typing import Any

import pytest

from trainway.agent.base.job_spec import MAX_INT32, JobSpec
from trainway.agent.base.plan import Plan, PlanError, read_plan

JOBSET: dict[str, Any] = {
    "metadata": {"name": "js"},
    "spec": {"replicatedJobs": [{"name": "node", "template": {}}]},
}


def test_defaults() -> None:
    plan = Plan({"version": 1, "id": "i", "name": "n", "jobset": JOBSET})
    assert (plan.namespace, plan.workdir, plan.mounts) == ("default", "/", "namespace")
    assert (plan.uid, plan.subdomain, plan.job_name) == ("i", "js", "n")
    assert (plan.host_name, plan.host_ip) == ("localhost", "127.0.0.1")
    assert (plan.roles[0].replicas, plan.roles[0].group) == (1, "default")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"{", "not JSON"),
        (b"{}", "version None"),
        (b'{"version": 2}', "version 2"),
        (b'{"version": 1}', "is incomplete"),
        (json.dumps({"version": 1, "id": "x", "jobset": []}).encode(), "is incomplete"),
    ],
)
def test_what_cannot_be_read_says_so(text: bytes, problem: str) -> None:
    with pytest.raises(PlanError, match=problem):
        read_plan(text)


def test_back_off_limit_has_two_defaults() -> None:
    assert JobSpec({}).backoff_limit == 6
    assert JobSpec({"backoffLimitPerIndex": 1}).backoff_limit == MAX_INT32
    assert JobSpec({"backoffLimit": 0}).backoff_limit == 0
