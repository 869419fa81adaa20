from pathlib import Path

import pytest

from trainway.errors import UsageError
from trainway.json_types import Json
from trainway.sdk.manifests import Wishes
from trainway.sdk.moving import move, objects_for
from trainway.sdk.rest import Rest
from trainway.sdk.targets import command_objects, script_objects
from trainway.sdk.transport_testing import AskedTransport


def job(objects: list[Json], folder: Path, backend: str = "local") -> Json:
    spec = {"backend": backend, "objects": objects, "workdir": str(folder)}
    return {"metadata": {"name": "train"}, "spec": spec}


@pytest.fixture
def script(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text("import helper")
    (tmp_path / "helper.py").write_text("x = 1")
    return tmp_path / "train.py"


def plain(script: Path) -> list[Json]:
    return command_objects(["python", str(script), "--lr", "0.1"], Wishes(name="train"))


@pytest.mark.parametrize("place", ["any", "ssh/lab,local"])
def test_a_job_moves_to_one_place(place: str) -> None:
    transport = AskedTransport()
    with pytest.raises(UsageError, match=f"to one place, and '{place}' stands for several"):
        move(Rest(transport), "train", place)
    assert transport.asked == []


def test_a_script_of_this_machine_travels_with_its_modules(script: Path) -> None:
    files, changed = objects_for(job(plain(script), script.parent), "ssh/lab", is_here=True)

    assert sorted(files["data"]) == ["helper.py", "train.py"]
    (role,) = changed["spec"]["replicatedJobs"]
    (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
    assert container["command"] == ["python3", "/opt/trainway/files/train.py", "--lr", "0.1"]
    assert {"name": "PYTHONUNBUFFERED", "value": "1"} in container["env"]
    assert container["volumeMounts"][0]["mountPath"] == "/opt/trainway/files"


def test_a_script_under_a_runtime_travels_too(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(script.parent)
    objects = script_objects("train.py", ["5"], Wishes(name="train", runtime="torch-distributed"))
    found = objects_for(job(objects, script.parent), "ssh/lab", is_here=True)

    kinds = sorted(obj["kind"] for obj in found)
    assert kinds == ["ConfigMap", "TrainJob", "TrainingRuntime"]
    (train,) = (obj for obj in found if obj["kind"] == "TrainJob")
    trainer = train["spec"]["trainer"]
    assert trainer["command"] == ["torchrun", "/opt/trainway/files/train.py"]
    assert trainer["args"] == ["5"]


def test_what_has_travelled_already_stays_as_it_is(script: Path) -> None:
    objects = plain(script)
    assert objects_for(job(objects, script.parent, "ssh/lab"), "ssh/other", is_here=True) == []
    assert objects_for(job(objects, script.parent, "ssh/lab"), "local", is_here=True) == []
    gone = job(command_objects(["python", "gone.py"], Wishes(name="x")), script.parent)
    assert objects_for(gone, "ssh/lab", is_here=True) == []


def test_secrets_are_never_sent_back(script: Path) -> None:
    secret = {"kind": "Secret", "metadata": {"name": "train"}, "stringData": {"A": "***"}}
    found = objects_for(job([secret, *plain(script)], script.parent), "ssh/lab", is_here=True)
    assert "Secret" not in [obj["kind"] for obj in found]


def test_a_task_of_this_machine_has_its_files_there(tmp_path: Path) -> None:
    task = {"apiVersion": "trainway.dev/v1", "kind": "Task", "metadata": {"name": "t"}}
    with pytest.raises(UsageError, match="train is a task, whose files are on the machine"):
        objects_for(job([task], tmp_path), "ssh/lab", is_here=True)


def test_a_job_that_runs_several_scripts_is_refused(script: Path) -> None:
    helper = str(script.parent / "helper.py")
    objects = command_objects(["python", str(script), helper], Wishes(name="train"))
    with pytest.raises(UsageError, match=r"several scripts: train\.py, helper\.py"):
        objects_for(job(objects, script.parent), "ssh/lab", is_here=True)


def test_pods_are_given_an_image_as_if_the_job_had_been_submitted_there(script: Path) -> None:
    for backend in ("local", "ssh/lab"):
        found = objects_for(job(plain(script), script.parent, backend), "k8s/a", is_here=True)
        (role,) = found[-1]["spec"]["replicatedJobs"]
        (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
        assert container["image"].startswith("python:3.")
    container["image"] = "own"
    assert objects_for(job([found[-1]], script.parent, "ssh/lab"), "k8s/a", is_here=True) == []
