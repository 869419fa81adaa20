import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from trainway.cli.app import app
from trainway.cli.commands.conftest import TRAIN
from trainway.jobset.labels import USER
from trainway.json_types import Json
from trainway.sdk.testing import FakeServer


@pytest.fixture
def fake(training_folder: Path) -> Iterator[FakeServer]:
    with FakeServer(training_folder / "home") as server:
        yield server


def invoke(*args: str, stdin: str = "") -> Result:
    return CliRunner().invoke(app, ["run", *args], input=stdin, prog_name="trainway")


def sent(fake: FakeServer) -> tuple[list[Json], Json]:
    ((_, _, body),) = fake.requests
    return body["objects"], body["options"]


def test_a_file_is_submitted_and_its_name_and_id_are_printed(fake: FakeServer) -> None:
    result = invoke("-d", "--on", "local", "a.yaml")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "a id0000\n", "")
    objects, options = sent(fake)
    assert objects == [TRAIN]
    assert set(options.pop("labels")) == {USER}
    assert {**options, "environ": {}} == {
        "backend": "local", "priority": 0, "oversubscribe": False, "workdir": str(Path.cwd()),
        "environ": {},
    }  # fmt: skip


def test_a_job_that_is_refused_is_not_told_what_travels(fake: FakeServer) -> None:
    Path("train.py").write_text("")
    fake.refusal = (404, {"error": {"code": "not_found", "message": "there is no pool 'lab'"}})
    result = invoke("--on", "ssh/lab", "train.py")
    assert (result.exit_code, result.stderr) == (3, "error: there is no pool 'lab'\n")


def test_the_type_of_gpus_goes_to_a_cloud_as_an_annotation(fake: FakeServer) -> None:
    result = invoke("-d", "--on", "aws/us-east-1", "--gpus", "A100:8", "--", "true")
    assert (result.exit_code, result.stderr) == (0, "")
    (job,), options = sent(fake)
    assert options["backend"] == "aws/us-east-1"
    assert job["metadata"]["annotations"]["trainway.dev/accelerators"] == "A100"
    assert "'nvidia.com/gpu': '8'" in str(job)


def test_several_jobs_have_a_limit_together_and_one_for_each(fake: FakeServer) -> None:
    limits = ("--max-cost", "50", "--max-cost-each", "30")
    result = invoke("-d", *limits, "--num-jobs", "2", "--", "true")
    assert (result.exit_code, result.stderr) == (0, "")
    _, options = sent(fake)
    assert (options["max_cost"], options["max_cost_each"]) == (50.0, 30.0)


def test_a_script_goes_to_pods_with_its_modules(fake: FakeServer) -> None:
    Path("train.py").write_text("import helper")
    Path("helper.py").write_text("")
    result = invoke(
        "-d", "--on", "k8s/test", "--image", "i", "--nodes", "2", "--env", "A=1",
        "--procs-per-node", "4", "--restarts", "3", "--gpus", "1", "train.py", "--", "--x=a.yaml",
    )  # fmt: skip
    assert (result.exit_code, result.stdout) == (0, "train-12345 id0000\n")
    assert result.stderr == (
        "note: train.py and 1 module beside it travel to the pods; nothing else of this folder"
        " does\n"
        "note: a.yaml is here and does not travel to the pods: the image must provide them\n"
    )
    objects, options = sent(fake)
    assert options["backend"] == "k8s/test"
    config, job = objects
    assert (config["kind"], config["metadata"]["name"]) == ("ConfigMap", "train-12345-files")
    assert job["metadata"]["annotations"] == {"trainway.dev/max-restarts": "3"}
    assert job["spec"]["runtimeRef"] == {"name": "torch-distributed"}
    assert job["spec"]["trainer"] == {
        "image": "i",
        "command": ["torchrun", "/opt/trainway/files/train.py"],
        "args": ["--x=a.yaml"],
        "numNodes": 2,
        "numProcPerNode": 4,
        "resourcesPerNode": {
            "requests": {"nvidia.com/gpu": "1"},
            "limits": {"nvidia.com/gpu": "1"},
        },
        "env": [{"name": "PYTHONUNBUFFERED", "value": "1"}, {"name": "A", "value": "1"}],
    }


def test_stdin_is_a_file_too(fake: FakeServer) -> None:
    assert invoke("-d", "-", stdin=json.dumps(TRAIN)).stdout == "a id0000\n"


def test_options_change_a_trainjob(fake: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAKEN", "from here")
    result = invoke(
        "a.yaml", "-d", "--name", "b", "--nodes", "2", "--procs-per-node", "4", "--cpus", "0.5",
        "--memory", "4Gi", "--gpus", "1", "--runtime", "r", "--env", "A=1=2", "--env", "TAKEN",
        "--priority", "7", "--oversubscribe",
    )  # fmt: skip
    assert result.stdout == "b id0000\n"
    objects, options = sent(fake)
    assert (options["priority"], options["oversubscribe"]) == (7, True)
    assert objects[0]["spec"] == {
        "runtimeRef": {"name": "r"},
        "trainer": {
            "numNodes": 2,
            "numProcPerNode": 4,
            "resourcesPerNode": {
                "requests": {"cpu": "0.5", "memory": "4Gi", "nvidia.com/gpu": "1"},
                "limits": {"memory": "4Gi", "nvidia.com/gpu": "1"},
            },
            "env": [{"name": "A", "value": "1=2"}, {"name": "TAKEN", "value": "from here"}],
        },
    }


def objects_of(*args: str) -> list[Json]:
    """What a dry run prints."""
    result = invoke("--dry-run", *args)
    assert (result.exit_code, result.stderr) == (0, "")
    return list(yaml.safe_load_all(result.stdout))


def command_of(jobset: Json) -> Any:
    (role,) = jobset["spec"]["replicatedJobs"]
    (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
    return container["command"]


def test_a_script_is_run_by_python_or_by_torchrun(fake: FakeServer) -> None:
    (plain,) = objects_of("train.py", "--", "--lr", "0.1", "--", "-d")
    assert command_of(plain) == ["python", "train.py", "--lr", "0.1", "--", "-d"]
    (nodes,) = objects_of("--nodes", "2", "train.py")
    assert command_of(nodes) == ["python", "train.py"]
    assert len(objects_of("--nodes", "2", "--procs-per-node", "1", "train.py")) == 2
    runtime, torch = objects_of("--nodes", "2", "--procs-per-node", "4", "train.py", "--", "x")
    assert torch["spec"]["trainer"] == {
        "command": ["torchrun", "train.py"], "args": ["x"], "numNodes": 2, "numProcPerNode": 4
    }  # fmt: skip
    assert "image" not in str(runtime)
    assert fake.requests == []


@dataclass(frozen=True)
class Words:
    args: list[str]
    command: list[str]


@pytest.mark.parametrize(
    "case",
    [
        Words(["train.py", "--lr", "0.1"], ["python", "train.py", "--lr", "0.1"]),
        Words(["train.py", "x", "--nodes", "3", "-y"], ["python", "train.py", "x", "-y"]),
        Words(["train.py", "--lr=1", "--", "--nodes"], ["python", "train.py", "--lr=1", "--nodes"]),
        Words(["train.py", "-1", "-lr", "5"], ["python", "train.py", "-1", "-lr", "5"]),
        Words(["python", "train.py", "--lr", "1"], ["python", "train.py", "--lr", "1"]),
        Words(["sh", "-c", "echo hi"], ["sh", "-c", "echo hi"]),
        Words(["a.sh", "x"], ["bash", "./a.sh", "x"]),
        Words(["./b", "x"], ["b", "x"]),
    ],
    ids=lambda case: " ".join(case.args),
)
def test_words_that_are_not_ours_go_to_the_program(fake: FakeServer, case: Words) -> None:
    Path("a.sh").write_text("")
    Path("b").write_text("")
    Path("b").chmod(0o755)
    (jobset,) = objects_of(*case.args)
    command = [word.removeprefix("./") if word == "./b" else word for word in command_of(jobset)]
    assert command == case.command


def test_run_and_launch_know_the_options_of_each_other(fake: FakeServer) -> None:
    given = ("-n", "x", "--num-nodes", "2", "--infra", "local", "true")
    result = invoke("--dryrun", *given)
    (job,) = yaml.safe_load_all(result.stdout)
    assert job["metadata"]["name"] == "x"


def test_a_runtime_decides_how_a_script_is_run(fake: FakeServer) -> None:
    _, job = objects_of("--runtime", "deepspeed-distributed", "train.py")
    assert job["spec"]["trainer"]["command"] == ["mpirun", "python", "train.py"]
    *_, unknown = objects_of("--on", "k8s", "--runtime", "mine", "train.py")
    assert unknown["spec"]["trainer"]["command"][-1].endswith("train.py")
    result = invoke("--runtime", "torch", "train.py")
    assert result.exit_code == 3
    assert result.stderr.startswith(
        "error: there is no runtime 'torch'\n"
        "hint: did you mean torch-distributed? The built-in runtimes are: "
    )


def test_a_command_is_run_as_it_is(fake: FakeServer) -> None:
    (jobset,) = objects_of("--nodes", "3", "--", "echo", "--nodes", "x")
    assert command_of(jobset) == ["echo", "--nodes", "x"]
    assert jobset["metadata"] == {"name": "echo", "annotations": {"trainway.dev/pack": "false"}}
    (packed,) = objects_of("--nodes", "3", "--pack", "--", "echo")
    assert packed["metadata"]["annotations"] == {"trainway.dev/pack": "true"}
    _, torch = objects_of("--", "/opt/bin/torchrun", "train.py")
    assert torch["spec"]["runtimeRef"] == {"name": "torch-distributed"}
    assert torch["spec"]["trainer"] == {"command": ["/opt/bin/torchrun"], "args": ["train.py"]}


@pytest.mark.parametrize(
    ("args", "isolation"),
    [
        (["--image", "i", "--", "true"], "container"),
        (["--containers", "a.yaml"], "container"),
        (["--on", "kubernetes", "--image", "i", "--", "true"], None),
        (["--", "true"], None),
    ],
)
def test_containers_are_asked_for(fake: FakeServer, args: list[str], isolation: str | None) -> None:
    assert invoke("-d", *args).exit_code == 0
    assert sent(fake)[1].get("isolation") == isolation


def test_images_count_where_there_are_containers(fake: FakeServer) -> None:
    (jobset,) = objects_of("--image", "i", "--", "true")
    assert "'image': 'i'" in str(jobset)
    _, job = objects_of("--on", "kubernetes", "--image", "i", "--procs-per-node", "2", "train.py")
    assert job["spec"]["trainer"]["image"] == "i"


def test_a_refusal_names_the_file_and_every_reason(fake: FakeServer) -> None:
    error = {"code": "invalid", "message": "no", "hint": "mend it"}
    fake.refusal = (422, {"error": error, "errors": ["TrainJob/a: spec.x: no", "TrainJob/a: y"]})
    result = invoke("a.yaml")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == (
        "a.yaml: TrainJob/a: spec.x: no\na.yaml: TrainJob/a: y\nhint: mend it\n"
    )


def test_a_job_that_never_fits_is_an_error(fake: FakeServer) -> None:
    error = {"code": "inadmissible", "message": "too large", "hint": "--oversubscribe"}
    fake.refusal = (422, {"error": error})
    result = invoke("a.yaml")
    assert (result.exit_code, result.stderr) == (1, "error: too large\nhint: --oversubscribe\n")


def test_warnings_go_to_stderr(fake: FakeServer) -> None:
    fake.warnings = ["the image is not used"]
    result = invoke("-d", "a.yaml")
    assert (result.exit_code, result.stdout) == (0, "a id0000\n")
    assert result.stderr == "a.yaml: warning: the image is not used\n"


@pytest.mark.parametrize(
    ("phase", "status", "last"),
    [
        ("Succeeded", 0, "a: Succeeded\n"),
        ("Failed", 4, "a: Failed: Why: because\n"),
        ("Cancelled", 4, "a: Cancelled: Why: because\n"),
    ],
)
def test_a_job_is_shown_and_its_end_is_ours(
    fake: FakeServer, phase: str, status: int, last: str
) -> None:
    def on_submit(job: Json) -> None:
        fake.log(job, "one")
        fake.log(job, "two", rank=1)
        fake.update(job, phase, reason="Why", message="because")

    fake.on_submit = on_submit
    result = invoke("a.yaml")
    assert result.exit_code == status
    assert result.stdout == "node-0 | one\nnode-1 | two\n"
    assert result.stderr.endswith(last)


@pytest.mark.parametrize(
    ("streams", "said"),
    [
        (("stdout", "stderr"), "  node-1 | second\n"),
        (("stdout", "stdout"), "  node-1 | first\n  node-1 | second\n"),  # as in pods
    ],
)
def test_what_the_culprit_wrote_last_is_said_once_more(
    fake: FakeServer, streams: tuple[str, str], said: str
) -> None:
    failure = {"summary": "node-1 exited with 7", "node": "node-1", "role": "node"}

    def on_submit(job: Json) -> None:
        for stream, text in zip(streams, ("first", "second"), strict=True):
            fake.log(job, text, rank=1, stream=stream)
        fake.log(job, "third", rank=0, stream="stderr")
        fake.update(job, "Failed", failure=failure | {"job": 0, "rank": 1})

    fake.on_submit = on_submit
    result = invoke("a.yaml")
    assert result.stderr.endswith(f"a: Failed: node-1 exited with 7\n{said}")


def test_several_jobs_are_submitted_and_printed_at_once(fake: FakeServer) -> None:
    result = invoke("-d", "--num-jobs", "3", "a.yaml")
    assert (result.exit_code, result.stdout) == (0, "a-0 id0000\na-1 id0001\na-2 id0002\n")
    objects, options = sent(fake)
    assert objects == [TRAIN]
    assert options["num_jobs"] == 3


@pytest.mark.parametrize(("last", "code"), [("Succeeded", 0), ("Failed", 4)])
def test_several_jobs_are_waited_for(fake: FakeServer, last: str, code: int) -> None:
    def end(job: Json) -> None:
        is_last = job["metadata"]["name"] == "a-2"
        fake.update(job, last if is_last else "Succeeded")

    fake.on_submit = end
    result = invoke("--num-jobs", "3", "a.yaml")
    assert result.exit_code == code
    assert result.stdout == ""
    said = result.stderr.splitlines()
    assert sorted(said) == ["a-0: Succeeded", "a-1: Succeeded", f"a-2: {last}"]


@pytest.mark.parametrize("number", ["0", "-1", "x"])
def test_a_wrong_number_of_jobs_is_one_error(fake: FakeServer, number: str) -> None:
    result = invoke("--num-jobs", number, "a.yaml")
    assert result.exit_code == 2
    assert "--num-jobs" in result.stderr
    assert fake.requests == []


def test_a_sweep_gives_a_script_options_and_a_manifest_its_placeholders(fake: FakeServer) -> None:
    result = invoke("-d", "train.py", "--grid", "lr=0.10,1e-3", "--parallel", "1", "--wd={lr}x")
    assert (result.exit_code, result.stdout) == (0, "train-0 id0000\ntrain-1 id0001\n")
    (job,), options = sent(fake)
    assert options["parameters"] == [{"lr": "0.10"}, {"lr": "1e-3"}]
    assert options["parallel"] == 1
    (role,) = job["spec"]["replicatedJobs"]
    (container,) = role["template"]["spec"]["template"]["spec"]["containers"]
    assert container["command"][1:] == ["train.py", "--wd={lr}x"]
    fake.requests.clear()
    Path("sweep.yaml").write_text("grid: {lr: [1, 2]}\nzip: {n: [a, b]}\n")
    result = invoke("--dry-run", "--sweep", "sweep.yaml", "--grid", "wd=0", "--", "echo", "{n}")
    assert result.stderr.splitlines()[0] == "trial: lr=1 wd=0 n=a"
    assert yaml.safe_load(result.stdout)["spec"]["replicatedJobs"][0]["template"]["spec"][
        "template"
    ]["spec"]["containers"][0]["command"] == ["echo", "{n}", "--lr", "{lr}", "--wd", "{wd}"]
    assert fake.requests == []
    assert invoke("-d", "--sweep", "sweep.yaml", "a.yaml").exit_code == 0
    assert sent(fake)[0] == [TRAIN]


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--grid", "lr"), "--grid lr: it must be a name and its values"),
        (("--grid", "lr=1,1"), "lr has the value 1 twice"),
        (("--grid", "lr=@none"), "none: No such file"),
        (("--sweep", "none.yaml"), "none.yaml: No such file"),
        (("--grid", "lr=1", "--num-jobs", "2"), "--num-jobs cannot be combined"),
        (("--parallel", "2"), "--parallel is for several jobs"),
    ],
)
def test_a_sweep_that_is_wrong_is_one_error(
    fake: FakeServer, words: tuple[str, ...], problem: str
) -> None:
    result = invoke(*words, "a.yaml")
    assert result.exit_code == 2
    assert problem in result.stderr
    assert fake.requests == []
