from dataclasses import dataclass, field

import pytest

from trainway.backends.base import Check
from trainway.backends.slurm.checks import checks_of
from trainway.backends.slurm.section import ConfiguredCluster
from trainway.json_types import Json

FACTS: Json = {
    "version": "22.05.8",
    "cluster": "test",
    "python": [3, 11, 2],
    "home": "/home/me/.trainway/slurm",
    "writable": True,
    "partitions": [
        {"name": "main", "default": True, "state": "up", "nodes": 4, "cpus": 32},
        {"name": "gpu", "state": "drain", "nodes": 1, "cpus": 8, "time_limit": "1-00:00:00"},
    ],
    "mpi": ["none", "pmix"],
    "containers": ["apptainer"],
    "accounting": "slurmdbd",
}
FACTS["partitions"][1]["gpus"] = {"a100": 2}
NODE: Json = {"name": "n1", "sees": True, "writes": True, "python": [3, 9, 18]}
RUNS_IMAGES: Json = {**NODE, "containers": {"apptainer": "1.4.1"}}

TEST = ConfiguredCluster("test")


@dataclass(frozen=True)
class Case:
    name: str
    check: str
    facts: Json = field(default_factory=dict)
    """What is other than usual."""
    cluster: ConfiguredCluster = TEST
    ok: bool = True
    detail: str = ""
    fix: str = ""


@pytest.mark.parametrize(
    "case",
    [
        Case("version", "slurm", detail="version 22.05.8, cluster test"),
        Case(
            "no slurm",
            "slurm",
            {"version": ""},
            ok=False,
            detail="Slurm's commands are not on PATH",
            fix="load its module on the login node, or set `env: {PATH: ...}` there",
        ),
        Case(
            "old",
            "slurm",
            {"version": "20.02.7"},
            ok=False,
            detail="version 20.02.7",
            fix="steps need --overlap and --exact, which Slurm has since version 20.11",
        ),
        Case("python", "python", detail="3.11.2 on the login node; the nodes need it too"),
        Case(
            "old python",
            "python",
            {"python": [3, 6, 8]},
            ok=False,
            detail="python3 is 3.6.8",
            fix="set `python` to Python 3.8 or later",
        ),
        Case(
            "files",
            "files",
            detail="jobs are kept in /home/me/.trainway/slurm; every node must see it",
        ),
        Case(
            "files that a node sees",
            "files",
            {"node": NODE},
            detail="jobs are kept in /home/me/.trainway/slurm; node n1 sees it",
        ),
        Case(
            "files that a node does not see",
            "files",
            {"node": {**NODE, "sees": False}},
            ok=False,
            detail="node n1 does not see /home/me/.trainway/slurm",
            fix=(
                "set `home` to a directory on a file system that all nodes see, or "
                "`shared: false`: then files travel with each job"
            ),
        ),
        Case(
            "files that a node only reads",
            "files",
            {"node": {**NODE, "writes": False}},
            ok=False,
            detail="node n1 cannot write /home/me/.trainway/slurm",
            fix="set `home` to a directory that all nodes can write",
        ),
        Case(
            "files that travel",
            "files",
            {"node": {**NODE, "sees": False}},
            ConfiguredCluster("test", shared=False),
            detail="jobs are kept in /home/me/.trainway/slurm, and their files travel with them",
        ),
        Case(
            "files that travel in vain",
            "files",
            {"node": NODE},
            ConfiguredCluster("test", shared=False),
            detail="jobs are kept in /home/me/.trainway/slurm, and their files travel with them",
            fix="a node sees this directory: `shared: false` is not needed",
        ),
        Case(
            "python of a node",
            "python",
            {"node": NODE},
            detail="3.11.2 on the login node, 3.9.18 on a node",
        ),
        Case(
            "no python on a node",
            "python",
            {"node": {**NODE, "python": []}},
            ok=False,
            detail="python3 is not there on node n1",
            fix="set `python` to Python 3.8 or later",
        ),
        Case("a job", "job", {"node": NODE}, detail="one ran on node n1"),
        Case(
            "no job",
            "job",
            {"node": {"problem": "Requested nodes are busy", "hint": "wait"}},
            ok=False,
            detail="Requested nodes are busy",
            fix="wait",
        ),
        Case(
            "partitions",
            "partitions",
            detail="main* (4 nodes, 32 CPUs), gpu (1 node, 8 CPUs, at most 1-00:00:00, drain)",
        ),
        Case(
            "no such partition",
            "partitions",
            cluster=ConfiguredCluster("test", partition="big"),
            ok=False,
            detail="there is no partition big",
            fix="name one of main, gpu",
        ),
        Case("gpus", "gpus", detail="2 a100"),
        Case("mpi", "mpi", detail="pmix"),
        Case(
            "containers",
            "containers",
            {"versions": {"apptainer": "1.4.1"}},
            detail="apptainer 1.4.1",
        ),
        Case("containers of an unknown version", "containers", detail="apptainer"),
        Case(
            "containers on a node",
            "containers",
            {"node": RUNS_IMAGES, "versions": {"apptainer": "1.3.6"}},
            detail="apptainer 1.3.6 on the login node, apptainer 1.4.1 on a node",
        ),
        Case(
            "containers on nodes alone",
            "containers",
            {"node": RUNS_IMAGES, "containers": []},
            ConfiguredCluster("test", containers="apptainer"),
            detail="none on the login node, apptainer 1.4.1 on a node",
        ),
        Case(
            "containers on nodes alone, and nobody said so",
            "containers",
            {"node": RUNS_IMAGES, "containers": []},
            detail="apptainer 1.4.1 on a node, and nothing on the login node",
            fix="set `containers: apptainer` if all nodes have it",
        ),
        Case(
            "no containers on a node",
            "containers",
            {"node": {**NODE, "containers": {}}},
            ok=False,
            detail="node n1 has no apptainer",
            fix="it must be on the PATH of every node; check `env` and `containers`",
        ),
        Case(
            "Pyxis, which nodes need not have",
            "containers",
            {"node": {**NODE, "containers": {}}, "containers": ["pyxis"]},
            detail="pyxis",
        ),
        Case(
            "no containers anywhere",
            "containers",
            {"node": {**NODE, "containers": {}}, "containers": []},
            detail="neither Pyxis nor Apptainer",
            fix="jobs with --image or --containers need Pyxis or Apptainer",
        ),
        Case(
            "no containers",
            "containers",
            {"containers": []},
            detail="neither Pyxis nor Apptainer",
            fix="jobs with --image or --containers need Pyxis or Apptainer",
        ),
        Case(
            "no Pyxis",
            "containers",
            cluster=ConfiguredCluster("test", containers="pyxis"),
            ok=False,
            detail="srun has no --container-image",
            fix="correct `containers`; found: apptainer",
        ),
        Case(
            "a tool that only nodes have",
            "containers",
            {"containers": []},
            ConfiguredCluster("test", containers="apptainer"),
            detail="apptainer, which the login node does not have",
            fix="every node must have it",
        ),
        Case(
            "no accounting",
            "accounting",
            {"accounting": "none"},
            detail="none",
            fix="without sacct only the job's own files say how it ended",
        ),
        Case(
            "slurmrestd",
            "slurmrestd",
            {"rest": "401 Unauthorized"},
            ConfiguredCluster("test", rest={"url": "http://x"}),
            ok=False,
            detail="401 Unauthorized",
            fix="check `rest.url` and `rest.token_file`; Slurm's commands are used instead",
        ),
    ],
    ids=lambda case: case.name,
)
def test_each_thing_has_a_line(case: Case) -> None:
    found = {item.name: item for item in checks_of(case.cluster, {**FACTS, **case.facts})}
    assert found[case.check] == Check(case.check, ok=case.ok, detail=case.detail, fix=case.fix)
