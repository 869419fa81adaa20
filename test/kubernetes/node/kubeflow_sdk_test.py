"""The kubeflow SDK 0.5.0 from PyPI, unchanged, with our operator and real pods.

What a user does with it is in `test/cluster/kubeflow_sdk_program.py`; each of its checks is a test
here.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import sdk_environment
from cluster.access import Access
from cluster.fixtures import fresh_namespace
from host_programs import HostPrograms, with_host_programs
from installation import Installation as TrainwayInstallation
from installation import installed
from node_operator import NodeOperator
from sdk_environment import run_program, user_kubeconfig

from trainway.json_types import Json
from trainway.operator import manifests
from trainway.operator.manifests import Installation
from trainway.runtimes import builtin_runtime

SCRIPT = "import torch\nprint('trained by Trainway', flush=True)\n"
PROGRAM = Path(sdk_environment.__file__).with_name("kubeflow_sdk_program.py")
CHECKS = (
    "version",
    "runtimes",
    "function",
    "container_and_options",
    "failure",
    "deadline",
    "mpi",
    "packages",
    "initializers",
    "suspension",
    "trainway_run",
)


@dataclass(frozen=True)
class Session:
    """What the program did."""

    outcomes: dict[str, str | None]
    said: str
    namespace: str
    plain: str


def runtimes() -> list[Json]:
    """In the user's namespace.

    One hides a built-in one, one the SDK cannot use, and one gives up at the first failure.
    """
    hiding, unlabelled, brittle = (
        runtime("jax-distributed"),
        runtime("torch-distributed"),
        runtime("xgboost-distributed"),
    )
    job_of(hiding)["template"]["spec"]["containers"][0]["image"] = "example.com/team/any:1"
    unlabelled["metadata"] = {"name": "unlabelled"}
    brittle["metadata"]["name"] = "brittle"
    job_of(brittle)["backoffLimit"] = 0
    job_of(brittle)["template"]["spec"]["restartPolicy"] = "Never"
    return [hiding, unlabelled, brittle]


def runtime(name: str) -> Json:
    found = builtin_runtime(name)
    assert found is not None
    return {**found, "kind": "TrainingRuntime"}


def job_of(runtime: Json) -> Any:
    """The spec of its one Job."""
    (job,) = runtime["spec"]["template"]["spec"]["replicatedJobs"]
    return job["template"]["spec"]


@pytest.fixture(scope="module")
def session(
    node_operator: NodeOperator,
    host_programs: HostPrograms,
    builtin_runtimes: None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Session]:
    cluster, folder = node_operator.cluster, tmp_path_factory.mktemp("sdk")
    cluster.apply(*manifests.access(Installation()))
    with fresh_namespace(cluster) as namespace, fresh_namespace(cluster) as plain:
        with_host_programs(cluster, namespace)
        cluster.apply(*runtimes(), namespace=namespace)
        kubeconfig = user_kubeconfig(cluster, folder, [namespace, plain])
        results = folder / "results.json"
        variables = {"KUBECONFIG": str(cluster.kubeconfig)}
        with installed(folder / "home", variables) as installation:
            run_script(installation, cluster, namespace, folder)
            done = run_program(PROGRAM, kubeconfig, [str(results), plain], {})
        said = done.stdout + done.stderr
        assert done.returncode == 0, said
        outcomes = json.loads(results.read_text())
        yield Session(outcomes, said, namespace, plain)


def run_script(
    installation: TrainwayInstallation, cluster: Access, namespace: str, folder: Path
) -> None:
    """`trainway run` of a script, whose job the user then finds with the SDK."""
    script = folder / "script.py"
    script.write_text(SCRIPT)
    context = json.loads(cluster.kubectl("config", "view", "-o", "json").stdout)["current-context"]
    on = f"k8s/{context}/{namespace}"
    installation.submit("--on", on, "--name", "of-trainway", "--nodes", "2", str(script))


def test_a_job_of_trainway_run_fails_at_once_and_needs_no_runtime_of_its_own(
    session: Session, node_operator: NodeOperator
) -> None:
    cluster = node_operator.cluster
    jobset = cluster.get("jobset", "of-trainway", "-n", session.namespace)
    (role,) = jobset["spec"]["replicatedJobs"]
    assert role["template"]["spec"]["backoffLimit"] == 0
    assert role["template"]["spec"]["template"]["spec"]["restartPolicy"] == "Never"
    (owner,) = jobset["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"]) == ("TrainJob", "of-trainway")
    own = cluster.get("trainingruntimes", "-n", session.namespace)["items"]
    assert {each["metadata"]["name"] for each in own} == {
        each["metadata"]["name"] for each in runtimes()
    }


def test_every_check_ran(session: Session) -> None:
    assert set(session.outcomes) == set(CHECKS)


@pytest.mark.parametrize("check", CHECKS)
def test_it_works(session: Session, node_operator: NodeOperator, check: str) -> None:
    problem = session.outcomes[check]
    assert problem is None, f"{problem}\n{session.said[-2000:]}\n{report(node_operator, session)}"


def report(operator: NodeOperator, session: Session) -> str:
    return operator.report(session.namespace) + operator.report(session.plain)


def test_packages_of_a_runtime_are_printed(session: Session) -> None:
    assert "Python: 3." in session.said


def test_initializers_get_what_the_sdk_was_told(
    session: Session, node_operator: NodeOperator
) -> None:
    jobset = node_operator.cluster.get("jobset", "tune", "-n", session.plain)
    containers = {
        job["name"]: job["template"]["spec"]["template"]["spec"]["containers"][0]
        for job in jobset["spec"]["replicatedJobs"]
    }
    variables = {
        name: {each["name"]: each.get("value") for each in container.get("env", ())}
        for name, container in containers.items()
    }
    assert variables["dataset-initializer"]["STORAGE_URI"] == "hf://tatsu-lab/alpaca/data"
    assert variables["model-initializer"]["STORAGE_URI"] == "hf://team/model"
    assert variables["model-initializer"]["ACCESS_TOKEN"] == "secret"  # noqa: S105
    command = [*containers["node"]["command"], *containers["node"].get("args", ())]
    assert "model.lora_rank=8" in command, command
