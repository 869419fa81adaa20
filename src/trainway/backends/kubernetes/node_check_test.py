"""The health check of nodes as a container of pods, and the nodes that pods are kept off."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from trainway.api.health_check import with_health_check
from trainway.backends.base import Workload
from trainway.backends.kubernetes import node_check
from trainway.backends.kubernetes.form import Form
from trainway.backends.kubernetes.planning import chosen_form, plan
from trainway.backends.kubernetes.planning_test import INFRA, OFFER, TRAINJOB, jobset
from trainway.backends.kubernetes.planning_test import workload as workload_of
from trainway.backends.kubernetes.pod_reasons import CHECK, why_sick
from trainway.json_types import Json

GPU = {"limits": {"nvidia.com/gpu": "2", "memory": "1Gi"}}


def pod_of(top: Json) -> Json:
    found: Json = top["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    return found


def workload(made: Json) -> Workload:
    return workload_of(made, jobset=made)


def test_a_pod_begins_with_a_look_at_its_node() -> None:
    made = with_health_check(jobset())
    pod_of(made)["containers"][0]["resources"] = GPU
    request = plan(workload(made), INFRA, OFFER)
    (check,) = pod_of(request.top)["initContainers"]
    assert check["name"] == CHECK
    assert (check["image"], check["resources"]) == ("busybox", GPU)
    assert check["volumeMounts"] == [
        {"name": "trainway-output", "mountPath": "/opt/trainway/output"}
    ]
    assert check["command"][:3] == ["python3", "-I", "-c"]
    assert check["command"][3].endswith(".run('/opt/trainway/output', 2))\n")
    assert len(check["command"][3]) < 20_000
    assert "initContainers" not in pod_of(plan(workload(jobset()), INFRA, OFFER).top)


def test_no_operator_gets_a_job_whose_nodes_are_to_be_checked() -> None:
    assert chosen_form(workload_of(TRAINJOB), OFFER) is Form.SOURCE
    asking = workload_of(with_health_check(TRAINJOB))
    assert chosen_form(asking, OFFER) is Form.JOBSET


def test_a_python_that_has_nothing_of_ours_runs_the_check(tmp_path: Path) -> None:
    text = node_check.program(1).replace("/opt/trainway/output", str(tmp_path))
    text = text.replace("/dev/termination-log", str(tmp_path / "message"))
    (tmp_path / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "nvidia-smi").chmod(0o755)
    env = {"PATH": str(tmp_path)}
    argv = [sys.executable, "-I", "-S", "-c", text]
    ran = subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (71, "")
    assert (tmp_path / "message").read_text() == "nvidia-smi exited with 9: it said nothing"


def test_pods_are_kept_off_nodes_whatever_else_they_ask_for() -> None:
    zone = {"key": "zone", "operator": "In", "values": ["a"]}
    made = jobset()
    pod_of(made)["affinity"] = {
        "podAntiAffinity": {"x": 1},
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [zone]}, {"matchFields": []}]
            }
        },
    }
    sent = pod_of(plan(workload(made), INFRA, OFFER, avoided=["n2", "n1"]).top)["affinity"]
    fields = [
        {"key": "metadata.name", "operator": "NotIn", "values": [node]} for node in ("n1", "n2")
    ]
    assert sent["podAntiAffinity"] == {"x": 1}
    required = sent["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert required["nodeSelectorTerms"] == [
        {"matchExpressions": [zone], "matchFields": fields},
        {"matchFields": fields},
    ]


def test_a_job_that_avoids_nodes_as_it_is_sent() -> None:
    request = plan(workload(jobset()), INFRA, OFFER, avoided=["n1"])
    golden = Path(__file__).parent / "testdata" / "jobset-off-a-node.json"
    assert json.loads(request.text()) == json.loads(golden.read_text())


@pytest.mark.parametrize(
    ("status", "wanted"),
    [
        ({"state": {"terminated": {"exitCode": 71, "message": " full \n"}}}, "full"),
        ({"state": {"terminated": {"exitCode": 71}}}, "it gave no reason"),
        ({"state": {"terminated": {"exitCode": 1, "message": "no python3"}}}, ""),
        ({"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 71}}}, "it gave no"),
        ({"state": {"running": {}}, "lastState": {"terminated": {"exitCode": 71}}}, ""),
        ({"state": {"terminated": {"exitCode": 71}}, "name": "theirs"}, ""),
    ],
    ids=["sick", "in no words", "of another kind", "tried again", "on second look", "another's"],
)
def test_what_the_check_says_of_a_node(status: Json, wanted: str) -> None:
    said = why_sick({"initContainerStatuses": [{"name": CHECK, **status}]})
    assert said.startswith(wanted)
    assert bool(said) is bool(wanted)
