"""A short job that finds out what a node sees: `trainway doctor --deep`. Pure.

The login node writes a file, and a node looks for it; so nothing is left on a node that does not
see it.
"""

from collections.abc import Mapping
from typing import Any, Final

from trainway.agent.slurm.commands import Result
from trainway.agent.slurm.relay.slurm_failure import explain
from trainway.agent.transfer.ssh_command import shell_path
from trainway.backends.slurm.script import option
from trainway.backends.slurm.section import APPTAINER, SINGULARITY, ConfiguredCluster
from trainway.json_types import Json

NODE: Final = "node"
"""The name under which what is found stands among the facts of a cluster."""
TOOLS: Final = (APPTAINER, SINGULARITY)
"""The programs that run images."""
_WAIT_S: Final = 30
"""How long the job may wait for a node."""
_PLACES: Final = ("account", "clusters", "constraint", "partition", "qos", "reservation")
"""The options of sbatch that say where a job may run; srun has them too."""
_ON_LOGIN_NODE: Final = """\
home=$1 mark=$2 look=$3; shift 3
: > "$home/$mark" || exit
srun --quiet --job-name=trainway-doctor --nodes=1 --ntasks=1 --time=1 "$@" \
sh -c "$look" sh "$home" "$mark"
status=$?; rm -f -- "$home/$mark"; exit $status
"""
_ON_NODE: Final = """\
echo node=$(uname -n)
if [ -e "$1/$2" ]; then echo seen=yes; fi
if [ -w "$1" ]; then echo writable=yes; fi
for tool in {tools}; do
  if said=$("$tool" --version 2>/dev/null); then echo "$tool=$said"; fi
done
{python} -c 'import sys; print("python=%d.%d.%d" % sys.version_info[:3])'; true
"""


def command(cluster: ConfiguredCluster, home: str, mark: str) -> list[str]:
    """What the login node runs; `home` is where jobs are kept there."""
    look = _ON_NODE.format(python=shell_path(cluster.python), tools=" ".join(TOOLS))
    outer = ["sh", "-c", _ON_LOGIN_NODE, "sh", home, mark, look]
    return [*outer, *placing(cluster, _WAIT_S)]


def placing(cluster: ConfiguredCluster, patience: int) -> list[str]:
    """The words of srun for a job where those of the cluster run, if there is room for it soon."""
    chosen = cluster.batch_options()
    words = [option(name, chosen[name]) for name in _PLACES if name in chosen]
    return [option("immediate", str(patience)), *words]


def found(answer: Mapping[str, Any]) -> Json:
    """What the job saw, or why there was none."""
    status, said = answer.get("status"), str(answer.get("stderr") or "")
    if status != 0:
        failure = explain(Result(["srun"], status, b"", said.encode()))
        return failed(failure.message, failure.hint)
    lines = str(answer.get("stdout") or "").splitlines()
    told = dict(line.partition("=")[::2] for line in lines if "=" in line)
    version = [int(part) for part in told.get("python", "").split(".") if part.isdigit()]
    return {
        "name": told.get("node", ""),
        "sees": "seen" in told,
        "writes": "writable" in told,
        "python": version,
        "containers": {tool: version_in(told[tool]) for tool in TOOLS if tool in told},
    }


def version_in(said: str) -> str:
    """The version in what a program prints of itself, such as `apptainer version 1.4.1`."""
    words = said.split()
    return words[-1] if words else ""


def failed(problem: str, hint: str) -> Json:
    """There was no such job."""
    return {"problem": problem, "hint": hint}
