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
