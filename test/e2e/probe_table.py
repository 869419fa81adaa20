"""What a job finds on each backend: one probe, and a column of a table in the documentation.

Its columns are in `example_table_test.py` and `test/kubernetes/node/examples_in_pods_test.py`, as
those of the examples. What must be the same everywhere is asserted here; what differs is told.
"""

import json
import re
from pathlib import Path
from typing import Final

from documented_table import DocumentedTable
from environments import REPOSITORY
from example_table import Place
from installation import TIMEOUT_S

from trainway.agent.kubelet.variables import DEFAULTS, VARIABLES
from trainway.json_types import Json

TABLE: Final = DocumentedTable("docs/running.md", "what-a-job-finds")
NAME: Final = "probe"
NODES: Final = 2
LIMIT: Final = 2 << 30
SHELL: Final = "PROBE_OF_THE_SHELL"


def assert_a_job_finds_what_is_documented(place: Place, column: str, *, is_limited: bool) -> None:
    """Run the probe on two nodes. `is_limited`: memory limits hold on this backend and machine."""
    words = ["run", "--on", place.on, "--name", NAME, "--nodes", str(NODES)]
    words += place.memory("2Gi")
    place.installation.run(*words, "test/e2e/probe/probe.py", timeout_s=TIMEOUT_S)
    job = place.installation.job(NAME)
    lines = place.installation.run("jobs", "logs", NAME, "--raw")
    found = [json.loads(text) for text in re.findall(r"^probe: (.*)$", lines, re.MULTILINE)]
    assert len(found) == NODES, lines
    environments = [each["environment"] for each in found]
    for environment in environments:
        _assert_it_is_told(environment, job)
    assert sorted(env["TRAINWAY_RANK"] for env in environments) == ["0", "1"]
    assert {each["module"] for each in found} == {"imported"}
    if is_limited:
        assert [LIMIT in each["limits"] for each in found] == [True] * NODES, found
    # Hosts and nodes have this folder too, and so has the image of the pods, which starts there.
    assert {each["directory"] for each in found} == {str(REPOSITORY)}
    TABLE.check(column, {**_differences(found[0], column), **_output(job)})


def _assert_it_is_told(environment: dict[str, str], job: Json) -> None:
    """What the table in the code promises, whatever the backend."""
    told = {variable.name: environment.get(variable.name) for variable in VARIABLES}
    rank, output = told.pop("TRAINWAY_RANK"), told.pop("TRAINWAY_OUTPUT_DIR")
    assert told == {
        "TRAINWAY_JOB_ID": job["metadata"]["id"],
        "TRAINWAY_JOB_NAME": NAME,
        "TRAINWAY_ROLE": "node",
        "TRAINWAY_RESTART_ATTEMPT": "0",
    }
    assert environment["HOSTNAME"] == f"{NAME}-node-0-{rank}"
    assert environment["JOB_COMPLETION_INDEX"] == rank
    assert output
    assert {name: environment.get(name) for name in DEFAULTS} == DEFAULTS


def _differences(found: Json, column: str) -> dict[str, str]:
    environment = found["environment"]
    shared = {variable.name for variable in VARIABLES}
    more = [name for name in environment if name.startswith("TRAINWAY_") and name not in shared]
    told = [f"`{name}`" for name in sorted(more) if name in _DOCUMENTED]
    return {
        "Variables": _SHELLS[column] if SHELL in environment else "none of yours",
        "More variables": ", ".join(told) or "none",
        "Working directory": _DIRECTORIES[column],
        "Files beside the script": "all" if found["data"] else "modules that it imports",
    }


_DOCUMENTED: Final = ("TRAINWAY_FENCING_TOKEN", "TRAINWAY_WORK_DIR")
"""Others are marks of the processes, or of the installation."""


_SHELLS: Final = {
    "local": "those of your shell",
    "Slurm": "those with which the server was started, on the login node",
}
"""Where the probe finds a variable of the shell."""
_OR_ELSE: Final = "the same, if it is there too; else a folder of the job"
_DIRECTORIES: Final = {
    "local": "where you called `trainway run`",
    "SSH hosts": _OR_ELSE,
    "Slurm": _OR_ELSE,
    "Kubernetes": "that of the image",
}


def _output(job: Json) -> dict[str, str]:
    folder = Path(job["status"].get("outputDir") or "/nowhere")
    kept = [(folder / f"rank-{rank}").exists() for rank in range(NODES)]
    assert kept in ([True] * NODES, [False] * NODES), kept
    says = "is kept; `jobs show` says where" if all(kept) else "is deleted with the pod"
    return {"What is in `TRAINWAY_OUTPUT_DIR`": says}
