"""Tasks as they are submitted: names, wishes, secrets, and the files that travel."""

import base64
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from trainway.api.task import task_object
from trainway.compiler.network import KubernetesNetwork
from trainway.compiler.task import compile_task
from trainway.errors import InvalidError, UsageError
from trainway.json_types import Json
from trainway.sdk.manifests import Resources, Wishes
from trainway.sdk.targets import manifest_objects
from trainway.sdk.tasks import priority_of, run_objects, shown_objects


def task_of(objects: list[Json]) -> Any:
    return objects[-1]["spec"]["tasks"][0]["task"]


def test_a_manifest_without_kind_is_a_task() -> None:
    objects = manifest_objects("run: x", "dir/My task.yaml", Wishes())

    assert [(obj["kind"], obj["metadata"]["name"]) for obj in objects] == [("Task", "my-task")]
    assert objects[0]["origin"]["directory"] == str(Path.cwd())


def test_wishes_are_applied() -> None:
    wishes = Wishes(
        name="other", nodes=3, image="i:1", restarts=2, env={"A": "1"}, secrets={"S": "hidden"}
    )
    objects = run_objects("name: x\nenvs: {A: null}\nresources: {cpus: 1}", "x.yaml", wishes)

    assert [obj["metadata"]["name"] for obj in objects] == ["other-secrets", "other"]
    assert objects[0]["stringData"] == {"S": "hidden"}
    assert task_of(objects) == {
        "name": "x",
        "envs": {"A": "1"},
        "num_nodes": 3,
        "resources": {
            "cpus": 1,
            "image_id": "docker:i:1",
            "job_recovery": {"max_restarts_on_errors": 2},
        },
    }
    assert "hidden" not in str(objects[1])


ALTERNATIVES = """\
name: x
run: x
resources:
  image_id: docker:old
  job_recovery: {max_restarts_on_errors: 1}
  any_of:
  - {infra: aws, accelerators: L4, image_id: docker:own}
  - {infra: aws, accelerators: T4, job_recovery: FAILOVER}
"""


@pytest.mark.parametrize("on", [None, "aws"])
def test_wishes_count_for_every_alternative(on: str | None) -> None:
    wishes = Wishes(image="new", restarts=5, on=on)
    task, errors = task_object.read(run_objects(ALTERNATIVES, "x.yaml", wishes)[-1])

    assert task is not None, errors
    found = task.file.tasks[0].resources.candidates
    assert [(one.accelerator.name, one.image) for one in found if one.accelerator] == [
        ("L4", "new"),
        ("T4", "new"),
    ]
    recoveries = [one.fields["job_recovery"] for one in found]
    assert recoveries == [
        {"max_restarts_on_errors": 5},
        {"strategy": "FAILOVER", "max_restarts_on_errors": 5},
    ]


@pytest.mark.parametrize(
    ("wishes", "message"),
    [
        (Wishes(runtime="torch"), "runtime cannot be set for a task"),
        (Wishes(resources=Resources(cpus="1")), "cpus cannot be set for a task"),
        (Wishes(nodes=4, min_nodes=2), "a task cannot be elastic"),
    ],
)
def test_wishes_that_a_task_does_not_take(wishes: Wishes, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        run_objects("run: x", "x.yaml", wishes)


def test_several_tasks_take_no_nodes() -> None:
    with pytest.raises(UsageError, match="there are 2 tasks"):
        run_objects("run: x\n---\nrun: y", "x.yaml", Wishes(nodes=2))


def test_what_is_wrong_is_told_line_by_line() -> None:
    with pytest.raises(InvalidError) as caught:
        run_objects("runn: x\nnum_nodes: 0", "x.yaml", Wishes())

    assert caught.value.lines == (
        'line 1, column 1: runn: Unknown field: did you mean "run"?',
        "line 2, column 12: num_nodes: Invalid value: 0: must be greater than 0",
    )


def test_a_task_that_is_only_looked_at_has_no_secret_and_no_origin() -> None:
    objects = shown_objects("run: x", "<stdin>", Wishes(secrets={"S": "hidden"}))

    assert objects[0]["stringData"] == {"S": "***"}
    assert objects[1]["metadata"] == {"name": "task"}
    assert "origin" not in objects[1]


def test_the_priority_of_a_task() -> None:
    assert priority_of(run_objects("resources: {priority: 7}", "x.yaml", Wishes())) == 7
    assert priority_of([{"kind": "JobSet"}]) == 0


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    files = {"train.py": "1", "data/x.bin": "2", "data/keep": "3", ".git/config": "4", "conf": "5"}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "train.py").chmod(0o755)
    (tmp_path / ".skyignore").write_text("*.bin\n")
    (tmp_path / ".gitignore").write_text("*\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_local_files_travel_to_pods_but_not_what_is_ignored(project: Path) -> None:
    text = f"workdir: .\nfile_mounts: {{/etc/conf: {project}/conf, /d: data, /s: s3://x}}"
    objects = run_objects(text.replace(", /s: s3://x", ""), "x.yaml", Wishes(on="k8s/test"))
    files, task = objects
    job, _ = task_object.read(task)
    assert job is not None
    jobset = compile_task(job, KubernetesNetwork).objects[0]
    pod = jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"]
    (volume,) = pod["volumes"]
    content = {
        item["path"]: (base64.b64decode(files["binaryData"][item["key"]]), item.get("mode"))
        for item in volume["configMap"]["items"]
    }

    assert volume["configMap"]["name"] == files["metadata"]["name"] == "x-files"
    assert content == {
        "0/workdir/.gitignore": (b"*\n", None),
        "0/workdir/.skyignore": (b"*.bin\n", None),
        "0/workdir/conf": (b"5", None),
        "0/workdir/train.py": (b"1", 0o755),
        "0/workdir/data/keep": (b"3", None),
        "0/mount-0": (b"5", None),
        "0/mount-1/keep": (b"3", None),
        "0/mount-1/x.bin": (b"2", None),
    }
    script = pod["containers"][0]["command"][2]
    assert "bring '/opt/trainway/files/0/workdir' \"$folder\"''\n" in script
    assert "bring '/opt/trainway/files/0/mount-0' '/etc/conf'\n" in script


@pytest.mark.parametrize("backend", ["ssh/lab", "cluster/dev"])
def test_to_hosts_large_files_go_ahead(project: Path, backend: str) -> None:
    with (project / "model").open("wb") as file:
        file.truncate(3_000_000_000)
    files, task = run_objects("workdir: .", "x.yaml", Wishes(on=backend))
    job, _ = task_object.read(task)
    assert job is not None
    by_path = {item.path: files["binaryData"][item.key] for item in job.files}

    assert by_path["0/workdir/model"] == {"$local": str(project / "model"), "size": 3_000_000_000}
    assert by_path["0/workdir/conf"] == {"$local": str(project / "conf"), "size": 1}
    assert [item.path for item in job.files if item.is_program] == ["0/workdir/train.py"]


@dataclass(frozen=True)
class TooMuch:
    backend: str
    size: int
    limit: str


@pytest.mark.parametrize(
    "case",
    [
        TooMuch("k8s/test", 70_000_000, "64 MB"),
        TooMuch("slurm/hpc", 70_000_000, "64 MB"),
        TooMuch("ssh/lab", 4_100_000_000, "4000 MB"),
        TooMuch("cluster/dev", 4_100_000_000, "4000 MB"),
    ],
    ids=lambda case: case.backend,
)
def test_too_much_does_not_travel(project: Path, case: TooMuch) -> None:
    sizes = {"data/keep": case.size, "data/more": 1_000_000, "conf": 500_000, "train.py": 200_000}
    for name, size in sizes.items():
        with (project / name).open("wb") as file:
            file.truncate(size)

    with pytest.raises(UsageError) as caught:
        run_objects("workdir: .", "x.yaml", Wishes(on=case.backend))

    total, data = sum(sizes.values()) / 1e6, (case.size + 1_000_000) / 1e6
    assert caught.value.message == (
        f"{total:.1f} MB of files would have to be sent to {case.backend}, and the limit is "
        f"{case.limit}; most of it is in data/ {data:.1f} MB, conf 0.5 MB, train.py 0.2 MB"
    )
    assert ".skyignore" in (caught.value.hint or "")
    (project / ".skyignore").write_text("data\n")
    run_objects("workdir: .", "x.yaml", Wishes(on=case.backend))


def test_a_mount_counts_under_its_own_name(project: Path) -> None:
    with (project / "data" / "keep").open("wb") as file:
        file.truncate(70_000_000)

    with pytest.raises(UsageError, match=r"most of it is in data/keep 70.0 MB, data/x.bin"):
        run_objects("file_mounts: {/d: ./data}", "x.yaml", Wishes(on="k8s"))
