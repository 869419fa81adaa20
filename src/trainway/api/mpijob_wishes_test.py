from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

import pytest
import yaml

from trainway.api.admission import validate_mpijob
from trainway.api.kinds import check, read
from trainway.api.mpijob import MPIJob
from trainway.api.mpijob_wishes import MPIJobWishes, advice, mpijob_of, problems, with_workers
from trainway.api.pod_wishes import Command, ResourceRequirements

GOLDEN = files("trainway.api") / "testdata" / "mpijobs"

SMALL = MPIJobWishes(name="train", image="team/train:v1", command="python train.py")
WISHES = {
    "small": SMALL,
    "queued": MPIJobWishes(
        name="bert",
        namespace="nlp",
        image="registry.example.com:5000/team/train:v1",
        command="python train.py --lr 0.1",
        workers=4,
        resources=ResourceRequirements(cpu=8, memory="64Gi", gpu=2),
        queue="team",
        env={"EPOCHS": "3"},
        labels={"team": "nlp"},
        timeout=3600,
    ),
    "intel": replace(
        SMALL, mpi_implementation="Intel", slots_per_worker=3, retries=0, suspend=True
    ),
}


@pytest.mark.parametrize("name", WISHES)
def test_the_manifest_is_the_one_that_is_written_down(name: str) -> None:
    assert mpijob_of(WISHES[name]) == yaml.safe_load((GOLDEN / f"{name}.yaml").read_text())


@pytest.mark.parametrize("name", WISHES)
def test_a_cluster_takes_the_manifest(name: str) -> None:
    assert problems(WISHES[name]) == []
    manifest = mpijob_of(WISHES[name])
    assert check(manifest).errors == []
    job = read(manifest)
    assert isinstance(job, MPIJob)
    assert validate_mpijob(job) == []


@dataclass(frozen=True)
class Start:
    command: Command
    words: list[str]
    mpirun: bool | None = None


@pytest.mark.parametrize(
    "case",
    [
        Start("python train.py 'a b'", ["mpirun", "python", "train.py", "a b"]),
        Start(["python", "train.py", "a b"], ["mpirun", "python", "train.py", "a b"]),
        Start("cd /app && ./run", ["mpirun", "sh", "-c", "cd /app && ./run"]),
        Start("LR=1 ./run", ["mpirun", "sh", "-c", "LR=1 ./run"]),
        Start("mpirun -n 3 ./run", ["mpirun", "-n", "3", "./run"]),
        Start("LR=1 /usr/bin/mpirun ./run", ["sh", "-c", "LR=1 /usr/bin/mpirun ./run"]),
        Start(["horovodrun", "./run"], ["horovodrun", "./run"]),
        Start("./starts-mpi", ["./starts-mpi"], mpirun=False),
        Start("mpiexec ./run", ["mpirun", "mpiexec", "./run"], mpirun=True),
        Start("echo $(HOME)", ["mpirun", "sh", "-c", "echo $$(HOME)"]),
    ],
    ids=lambda case: str(case.command),
)
def test_mpirun_stands_before_a_command_that_does_not_start_mpi(case: Start) -> None:
    manifest = mpijob_of(replace(SMALL, command=case.command, mpirun=case.mpirun))
    assert launcher(manifest)["command"] == case.words


@dataclass(frozen=True)
class Wrong:
    wishes: dict[str, Any]
    said: str


@pytest.mark.parametrize(
    "case",
    [
        Wrong({"name": ""}, "name: Required value: a job needs a name"),
        Wrong({"name": "a" * 51}, f'name: Invalid value: "{"a" * 51}": must have at most 50 char'),
        Wrong({"name": "1st"}, "must start with a letter"),
        Wrong({"image": ""}, "image: Required value: name the image"),
        Wrong({"image": "Team/Train"}, 'image: Invalid value: "Team/Train": must be an image'),
        Wrong({"image": "a" * 600}, "must be an image such as"),
        Wrong({"image": "train:v1 "}, "must be an image such as"),
        Wrong({"command": ""}, 'command: Required value: say what to run, such as "python train.p'),
        Wrong({"command": 'a "b'}, "has a quotation mark that is not closed"),
        Wrong({"command": []}, "command: Required value"),
        Wrong({"workers": 0}, "workers: Invalid value: 0: must be at least 1"),
        Wrong({"slots_per_worker": 0}, "slots_per_worker: Invalid value: 0: must be at least 1"),
        Wrong({"workers": 10**9}, "workers: Invalid value: 1000000000: must be at most 100000"),
        Wrong({"slots_per_worker": 2**31}, "slots_per_worker: Invalid value: 2147483648: must be"),
        Wrong({"retries": -1}, "retries: Invalid value: -1: must be at least 0"),
        Wrong({"timeout": 10**12}, "timeout: Invalid value: 1000000000000: must be at most"),
        Wrong({"namespace": "../kube-system"}, "must be the name of a namespace"),
        Wrong({"mpi_implementation": "OpenMP"}, 'supported values: "OpenMPI", "Intel", "MPICH"'),
        Wrong({"queue": "Team A"}, "must be the name of a LocalQueue"),
        Wrong({"env": {"A B": ""}}, "is not the name of a variable"),
        Wrong({"labels": {"a b": ""}}, "the key 'a b' is not valid"),
        Wrong({"resources": ResourceRequirements(memory=64)}, "write 64Gi for gibibytes"),
        Wrong({"resources": ResourceRequirements(memory="64GiB")}, "such as 64Gi"),
        Wrong({"resources": ResourceRequirements(cpu="many")}, "such as 8 or 500m"),
        Wrong({"resources": ResourceRequirements(cpu=-1)}, "must not be negative"),
        Wrong({"resources": ResourceRequirements(gpu=-1)}, "gpu: Invalid value: -1"),
        Wrong({"resources": ResourceRequirements(gpu=2**40)}, "gpu: Invalid value: 1099511627776"),
    ],
    ids=lambda case: case.said,
)
def test_what_is_wrong_with_a_wish_is_said_at_its_name(case: Wrong) -> None:
    (problem,) = problems(replace(SMALL, **case.wishes))
    assert case.said in str(problem)


def test_the_longest_name_is_one_that_all_pods_can_have() -> None:
    assert problems(replace(SMALL, name="a" * 50)) == []
    assert len(problems(replace(SMALL, name="a" * 50, workers=10_001))) == 1


def test_newcomers_are_told_of_one_worker_and_of_the_learning_rate() -> None:
    (warning,) = advice(replace(SMALL, workers=1))
    assert warning.startswith("warning: one worker is no distributed training; ask for two")
    gpus = ResourceRequirements(gpu=2)
    (hint,) = advice(replace(SMALL, workers=4, resources=gpus))
    assert hint.startswith("hint: 8 processes train on 8 times as many samples in each step")


def test_more_workers_are_more_slots_for_open_mpi() -> None:
    assert with_workers(mpijob_of(SMALL), 5) == {
        "spec": {"mpiReplicaSpecs": {"Worker": {"replicas": 5}}}
    }


def test_other_mpis_are_told_the_new_number_of_processes() -> None:
    change = with_workers(mpijob_of(WISHES["intel"]), 5)["spec"]["mpiReplicaSpecs"]
    assert change["Worker"] == {"replicas": 5}
    (container,) = change["Launcher"]["template"]["spec"]["containers"]
    assert container["command"] == ["mpirun", "-n", "15", "python", "train.py"]
    assert container["image"] == SMALL.image


def launcher(manifest: dict[str, Any]) -> dict[str, Any]:
    replica = manifest["spec"]["mpiReplicaSpecs"]["Launcher"]
    (container,) = replica["template"]["spec"]["containers"]
    assert isinstance(container, dict)
    return container
