import json
from dataclasses import dataclass
from pathlib import PurePosixPath

import pytest

from trainway.backends.agents.agent_plan import (
    AgentRequest,
    launcher_part,
    plan_of,
    shown,
    workload_of,
)
from trainway.backends.base import Workload
from trainway.json_types import Json


def keys(name: str, kind: str = "kubernetes.io/ssh-auth") -> Json:
    data = {"ssh-privatekey": "hidden"}
    return {"kind": "Secret", "type": kind, "metadata": {"name": name}, "data": data}


def workload(roles: tuple[str, ...], *objects: Json) -> Workload:
    jobset = {"spec": {"replicatedJobs": [{"name": role} for role in roles]}}
    return Workload("abc", "demo", "ns", jobset, list(objects), "/work", {}, 20_000)


@dataclass(frozen=True)
class Case:
    """Which Secret a launcher brings."""

    workload: Workload
    part: Json


@pytest.mark.parametrize(
    "case",
    [
        Case(workload(("launcher", "node"), keys("a"), keys("b")), {"mpi": {"secret": "a"}}),
        Case(workload(("node",), keys("a")), {}),
        Case(workload(("launcher", "node"), keys("a", "Opaque")), {}),
        Case(workload(("launcher", "node")), {}),
    ],
)
def test_the_secret_of_a_launcher(case: Case) -> None:
    assert launcher_part(case.workload) == case.part


def test_what_is_shown_hides_secrets() -> None:
    plan = {
        **plan_of(workload(("node",), keys("a"))),
        "env": {"PATH": "/bin", "HF_TOKEN": "hidden"},
    }
    text = shown(plan, lambda name: name == "HF_TOKEN")
    assert "hidden" not in text
    assert json.loads(text)["env"] == {"PATH": "/bin", "HF_TOKEN": "***"}
    request = AgentRequest(plan, PurePosixPath("/jobs/abc"))
    assert json.loads(request.text())["env"] == {"PATH": "***", "HF_TOKEN": "***"}
    assert plan["objects"] == [keys("a")]


def test_a_workload_is_found_again_in_its_plan() -> None:
    given = Workload("abc", "demo", "ns", {"spec": {}}, [keys("a")], "/work", {}, 20_000)
    assert workload_of(json.loads(json.dumps(plan_of(given)))) == given
