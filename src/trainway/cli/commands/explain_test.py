import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.json_types import Json

JOBSET: Json = {
    "apiVersion": "jobset.x-k8s.io/v1alpha2",
    "kind": "JobSet",
    "metadata": {"name": "a"},
    "spec": {
        "replicatedJobs": [
            {
                "name": "x",
                "template": {
                    "spec": {"template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}
                },
            }
        ]
    },
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAINWAY_HOME", str(tmp_path / "home"))
    Path("train.py").write_text("import helper")
    Path("helper.py").write_text("")
    Path("a.yaml").write_text(json.dumps(JOBSET))
    Path("task.yaml").write_text("run: env")


def invoke(*words: str) -> Result:
    return CliRunner().invoke(app, ["explain", *words], prog_name="trainway")


def explained(*words: str) -> dict[str, Json]:
    result = invoke(*words)
    assert (result.exit_code, result.stderr) == (0, "")
    return {obj["kind"]: obj for obj in yaml.safe_load_all(result.stdout)}


def container(jobset: Json) -> Json:
    (role,) = jobset["spec"]["replicatedJobs"]
    (found,) = role["template"]["spec"]["template"]["spec"]["containers"]
    assert isinstance(found, dict)
    return found


def test_a_script_is_explained_as_the_job_that_it_is_in_a_cluster() -> None:
    objects = explained("train.py", "--nodes", "2", "--lr", "0.1", "--", "--nodes", "3")
    assert sorted(objects) == ["ConfigMap", "JobSet"]
    assert sorted(objects["ConfigMap"]["data"]) == ["helper.py", "train.py"]
    job = objects["JobSet"]
    assert job["metadata"]["name"] == "train"
    assert job["spec"]["replicatedJobs"][0]["template"]["spec"]["completions"] == 2
    words = ["python", "/opt/trainway/files/train.py", "--lr", "0.1", "--nodes", "3"]
    assert container(job)["command"] == words


def test_a_script_of_torch_is_explained_with_its_runtime() -> None:
    Path("train.py").write_text("import torch")
    objects = explained("train.py", "-n", "mine", "--gpus", "1")
    assert objects["JobSet"]["metadata"]["name"] == "mine"
    assert container(objects["JobSet"])["command"][0] == "torchrun"


def test_a_command_is_explained() -> None:
    assert container(explained("--", "echo", "-n", "hi")["JobSet"])["command"] == [
        "echo", "-n", "hi",
    ]  # fmt: skip


@pytest.mark.parametrize("target", ["train.py", "a.yaml", "task.yaml"])
@pytest.mark.parametrize("form", ["yaml", "json"])
def test_secrets_of_any_job_are_hidden(target: str, form: str) -> None:
    result = invoke(target, "--secret", "TOKEN=a-value-that-nobody-sees", "-o", form)
    assert (result.exit_code, result.stderr) == (0, "")
    assert "nobody-sees" not in result.stdout
    objects = {obj["kind"]: obj for obj in _objects(result.stdout, form)}
    assert objects["Secret"]["stringData"] == {"TOKEN": "***"}
    name = objects["Secret"]["metadata"]["name"]
    assert {
        "name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": name, "key": "TOKEN"}},
    } in container(objects["JobSet"])["env"]  # fmt: skip


def _objects(text: str, form: str) -> list[Json]:
    found = list(yaml.safe_load_all(text)) if form == "yaml" else json.loads(text)["items"]
    return [obj for obj in found if isinstance(obj, dict)]


def test_what_is_no_script_takes_no_other_options() -> None:
    result = invoke("a.yaml", "--lr", "0.1")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: trainway explain has no option --lr\n")
    assert "a.py: No such file or directory" in invoke("a.py").stderr


def test_a_sweep_is_explained_as_its_run_and_its_first_job() -> None:
    words = ("train.py", "data", "--grid", "lr=0.10,1e-3", "--grid", "wd=0,1", "--parallel", "2")
    objects = explained(*words)
    assert list(objects) == ["Run", "ConfigMap", "JobSet"]
    run, job = objects["Run"], objects["JobSet"]
    assert run["metadata"] == {"name": "train"}
    assert run["spec"] == {"jobs": 4, "parallel": 2}
    assert run["jobs"][3] == {
        "metadata": {"name": "train-3"}, "spec": {"parameters": {"lr": "1e-3", "wd": "1"}},
    }  # fmt: skip
    assert job["metadata"]["name"] == "train-0"
    assert container(job)["command"][2:] == ["data", "--lr", "0.10", "--wd", "0"]
    env = {item["name"]: item["value"] for item in container(job)["env"]}
    assert (env["TRAINWAY_PARAM_LR"], env["TRAINWAY_NUM_JOBS"]) == ("0.10", "4")
    volumes = str(job["spec"]["replicatedJobs"])
    assert f"'name': '{objects['ConfigMap']['metadata']['name']}'" in volumes
    listed = json.loads(invoke(*words, "-o", "json").stdout)["items"]
    assert listed[0] == run


def test_files_of_sweeps_and_of_jobs_are_explained_alike() -> None:
    Path("sweep.yaml").write_text("grid: {env: [A, B]}")
    Path("task.yaml").write_text("run: echo {env}")
    objects = explained("task.yaml", "--sweep", "sweep.yaml")
    assert [job["spec"]["parameters"]["env"] for job in objects["Run"]["jobs"]] == ["A", "B"]
    assert "echo A" in str(container(objects["JobSet"]))
    objects = explained("a.yaml", "--num-jobs", "3")
    assert objects["Run"]["spec"] == {"jobs": 3, "parallel": None}
    assert objects["Run"]["jobs"] == [{"metadata": {"name": f"a-{rank}"}} for rank in range(3)]
    assert objects["JobSet"]["metadata"]["name"] == "a-0"
    assert {"name": "TRAINWAY_JOB_RANK", "value": "0"} in container(objects["JobSet"])["env"]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("a.yaml", "--parallel", "2"), "--parallel is for several jobs"),
        (("a.yaml", "--num-jobs", "1001"), "1001 jobs are too many for one run"),
        (("a.yaml", "--num-jobs", "2", "--grid", "a=1"), "--num-jobs cannot be combined"),
        (("a.yaml", "-f", "task.yaml", "--grid", "a=1,2"), "and there are 2 jobs in what was"),
        (("runtime.yaml", "--grid", "a=1,2"), "and there is no job in what was given"),
    ],
)
def test_what_cannot_be_a_run_is_refused(words: tuple[str, ...], problem: str) -> None:
    Path("runtime.yaml").write_text("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}")
    result = invoke(*words)
    assert result.exit_code == 2
    assert problem in result.stderr
