"""Pods in images on Slurm, by a real Apptainer."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from cluster.apptainer import MODULE, apptainer
from cluster.unavailable import UnavailableError
from environments import ARRAYS, REPOSITORY, environment, require_mpirun, unavailable
from image_root import EMPTY, make_image_root
from installation import processes_of
from slurm_site import ON, SlurmSite, site_of, until

from slurm_cluster import SlurmCluster

pytestmark = pytest.mark.xdist_group("slurm")

MARK: Final = "another root"
JAX: Final = "jax-distributed"
"""A runtime that starts a script with nothing but Python."""
UNCOMPRESSED: Final = ("--mksquashfs-args", "-noD -noF -noI -noX")
TRAIN: Final = """
import os, pathlib
import lesson
rank, output = os.environ["JOB_COMPLETION_INDEX"], pathlib.Path(os.environ["TRAINWAY_OUTPUT_DIR"])
with open("/image") as mark:
    print(mark.read().strip(), lesson.WORD, os.environ["WORD"], os.getuid())
print("programs of the node:", os.path.exists("/usr/bin/env"))
print("works in", os.getcwd())
(output / f"result-{rank}").write_text("whole")
"""
FAIL: Final = """
if [ -e "$TRAINWAY_OUTPUT_DIR/checkpoint" ]; then exit 7; fi
echo half > "$TRAINWAY_OUTPUT_DIR/checkpoint"; exit 9
"""


@dataclass(frozen=True)
class Images:
    """The same image in two forms."""

    folder: Path
    file: Path


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder with Apptainer."""
    try:
        return apptainer()
    except UnavailableError as error:
        unavailable(str(error))


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    """A folder that an image does not have by itself, as it has /tmp and the user's home."""
    with TemporaryDirectory(prefix="trainway-", dir="/srv") as path:
        yield Path(path)


@pytest.fixture(scope="module")
def images(programs: Path, place: Path) -> Images:
    if shutil.which("mksquashfs") is None:
        unavailable("mksquashfs: not found; apt-get install squashfs-tools")
    folder, file = make_image_root(place / "image", MARK), place / "image.sif"
    command = [str(programs / "apptainer"), "build", *UNCOMPRESSED, str(file), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return Images(folder, file)


@pytest.fixture(scope="module")
def site(slurm_cluster: SlurmCluster, programs: Path, place: Path) -> Iterator[SlurmSite]:
    variables = {"PATH": f"{programs}:{os.environ['PATH']}"}
    with site_of(slurm_cluster, place / "site", variables) as made:
        yield made


@pytest.mark.parametrize("form", ["folder", "file"])
def test_a_training_in_an_image(site: SlurmSite, images: Images, tmp_path: Path, form: str) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "lesson.py").write_text("WORD = 'taught'\n")
    image = str(getattr(images, form))
    words = ("--nodes", "2", "--runtime", JAX, "--env", "WORD=hello")
    where = ("--on", ON, "--image", image, "--name", form)

    printed = site.run("run", str(tmp_path / "train.py"), *where, *words)

    said = [
        f"{MARK} taught hello {os.getuid()}",
        "programs of the node: False",
    ]
    expected = [f"node-{rank} | {text}" for rank in range(2) for text in said]
    *lines, first, second = sorted(printed.splitlines(), key=lambda line: "works in" in line)
    assert sorted(lines) == sorted(expected)
    job = site.job(form)
    own = site.folder(job["metadata"]["id"]) / "work"
    # Where the image has that of the submitter, below the user's home say, it is that one.
    assert {first, second} in [
        {f"node-{rank} | works in {path}" for rank in range(2)} for path in (own, REPOSITORY)
    ]
    assert "NotHonoured" not in site.run("jobs", "events", form)
    assert len({node["host"] for node in job["status"]["nodes"]}) == 2
    output = Path(job["status"]["outputDir"])
    results = {path.name: path.read_text() for path in output.glob("result-*")}
    assert results == {"result-0": "whole", "result-1": "whole"}


def test_a_job_in_an_image_goes_on_from_its_checkpoint_and_has_its_exit_status(
    site: SlurmSite, images: Images
) -> None:
    words = ("--image", str(images.file), "--restarts", "1", "--name", "fails")
    site.run("run", "--on", ON, *words, "--", "sh", "-c", FAIL, code=4)
    status = site.job("fails")["status"]
    assert (status["phase"], status["exitCode"]) == ("Failed", 7)
    assert Path(status["outputDir"], "checkpoint").read_text() == "half\n"


def test_an_image_that_is_not_there_is_named(site: SlurmSite, place: Path) -> None:
    missing = place / "missing.sif"
    site.run("run", "--on", ON, "--image", str(missing), "--name", "lost", "--", "true", code=4)
    shown = site.run("jobs", "show", "lost")
    assert f"could not open image {missing}" in shown, shown


def test_gpus_get_into_an_image(site: SlurmSite, images: Images) -> None:
    script = 'echo "gpu $CUDA_VISIBLE_DEVICES"'
    words = ("--image", str(images.folder), "--gpus", "1", "--name", "gpus", "--", "sh", "-c")
    assert re.search(r"gpu \d\n", site.run("run", "--on", ON, *words, script))
    written = site.folder(site.job("gpus")["metadata"]["id"]) / "script.sbatch"
    assert "(apptainer exec --nv " in written.read_text()


def test_a_command_gets_into_the_image_and_nothing_is_left(site: SlurmSite, images: Images) -> None:
    wait = "import time; time.sleep(1000)"
    words = ("--image", str(images.file), "--name", "held", "--", "python3", "-c", wait)
    job = site.submit("--on", ON, *words)
    site.wait_for_phase(job, "Running")
    assert site.run("jobs", "exec", job, "--", "cat", "/image") == f"{MARK}\n"
    assert processes_of(job)
    site.run("jobs", "cancel", job)
    site.wait_for_phase(job, "Cancelled")
    until(lambda: not processes_of(job), "its processes are still there")


def test_each_job_of_an_array_has_its_image(site: SlurmSite, images: Images) -> None:
    script = 'cat /image; echo "rank $TRAINWAY_JOB_RANK" > "$TRAINWAY_OUTPUT_DIR/rank"'
    words = ("--num-jobs", "2", "--image", str(images.folder), "--name", "many")
    site.run("run", "--on", ON, *words, "--", "sh", "-c", script)
    for rank in range(2):
        output = Path(site.job(f"many-{rank}")["status"]["outputDir"])
        assert (output / "rank").read_text() == f"rank {rank}\n"
        assert MARK in site.run("jobs", "logs", f"many-{rank}")


PEERS: Final = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: peers, annotations: {trainway.dev/isolation: container}}
spec:
  replicatedJobs:
  - name: node
    template: {spec: {parallelism: 2, completions: 2, completionMode: Indexed, template: {spec: {
      restartPolicy: Never,
      volumes: [{name: data, hostPath: {path: FOLDER}}],
      containers: [{name: main, image: IMAGE, volumeMounts: [{name: data, mountPath: /lessons}],
        command: [python3, -c, 'import socket; print(open("/lessons/first").read(),
          socket.gethostbyname("peers-node-0-0.peers"))']}]}}}}
"""


def test_pods_in_images_know_each_other_and_their_volumes(
    site: SlurmSite, images: Images, place: Path, tmp_path: Path
) -> None:
    data = place / "data"
    data.mkdir()
    (data / "first").write_text("of the node")
    file = tmp_path / "peers.yaml"
    file.write_text(PEERS.replace("FOLDER", str(data)).replace("IMAGE", str(images.file)))
    printed = site.run("run", str(file), "--on", ON)
    said = {line.partition(" | ")[2] for line in printed.splitlines()}
    (text,) = said
    assert re.fullmatch(r"of the node \d+\.\d+\.\d+\.\d+", text), printed
    assert "127.0.0.1" not in text


MPI: Final = """
apiVersion: kubeflow.org/v2beta1
kind: MPIJob
metadata: {name: ranks}
spec:
  slotsPerWorker: 2
  runPolicy: {cleanPodPolicy: Running}
  mpiReplicaSpecs:
    Launcher: {template: {spec: {containers: [{name: launcher, image: IMAGE,
      command: [mpirun, --allow-run-as-root, PYTHON, SCRIPT]}]}}}
    Worker: {replicas: 2, template: {spec: {containers: [{name: worker, image: IMAGE}]}}}
"""
SUM: Final = """
import os
from mpi4py import MPI
ranks = MPI.COMM_WORLD
with open("/image") as mark:
    told = f"{mark.read().strip()} {ranks.allreduce(ranks.rank)} {os.environ['SLURMD_NODENAME']}"
found = ranks.gather(told)
if ranks.rank == 0:
    print(*found, sep="\\n")
"""
FROM_NODE: Final = ("/usr", "/etc/alternatives", "/etc/openmpi")
"""What the site binds into all images: Slurm's programs and its MPI."""


@pytest.fixture
def mpi_image(place: Path) -> Path:
    """An image that has nothing of its own but a Python, where the node has none."""
    root = place / "mpi"
    for name in (*(path.strip("/") for path in FROM_NODE), *EMPTY, "opt/bin", "run"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "lib64", "sbin"):
        (root / name).symlink_to(f"usr/{name}")
    for name in ("passwd", "group", "hosts"):
        shutil.copy(f"/etc/{name}", root / "etc")
    (root / "opt/bin/python3").symlink_to("/usr/bin/python3")
    (root / "image").write_text(f"{MARK}\n")
    return root


def test_mpirun_in_an_image_starts_ranks_in_images_of_other_nodes(
    slurm_cluster: SlurmCluster, programs: Path, place: Path, mpi_image: Path, tmp_path: Path
) -> None:
    require_mpirun()
    frameworks = environment(*ARRAYS).path
    python = frameworks / "bin" / "python"
    bound = [*FROM_NODE, str(frameworks), str(python.resolve().parents[1])]
    section = {
        "env": {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "APPTAINER_BIND": ",".join(bound),
            "APPTAINERENV_PREPEND_PATH": "/opt/bin",
        }
    }
    (tmp_path / "sum.py").write_text(SUM)
    values = {"IMAGE": mpi_image, "PYTHON": python, "SCRIPT": tmp_path / "sum.py"}
    file = tmp_path / "ranks.yaml"
    file.write_text(re.sub("IMAGE|PYTHON|SCRIPT", lambda found: str(values[found[0]]), MPI))
    with site_of(slurm_cluster, place / "mpi-site", section["env"], section) as site:
        printed = site.run("run", str(file), "--containers", "--on", ON)
    found = re.findall(rf"{MARK} 6 (\S+)$", printed, re.MULTILINE)
    assert len(found) == 4, printed
    assert len(set(found)) == 2, printed


def test_doctor_tells_the_version(site: SlurmSite) -> None:
    version = MODULE.version().removeprefix("v")
    report = site.json("doctor", "--deep", "--any")
    (backend,) = [item for item in report["backends"] if item["name"] == ON]
    (check,) = [item for item in backend["checks"] if item["name"] == "containers"]
    there = f"apptainer {version}"
    assert check["detail"] == f"{there} on the login node, {there} on a node"
