"""What a node of a task executes: it completes the variables, then `setup`, then `run`.

Setup and run are one container, so that what setup installs is there for run. The scripts come as
arguments and stay as their author wrote them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trainway.api.task.storage import WORKDIR
from trainway.compiler import pod_mounts, storage_script
from trainway.compiler.storage_script import Mounted, quoted
from trainway.jobset.literal_text import literal

_TWINS: Final = (
    "NODE_RANK", "NODE_IPS", "NUM_NODES", "NUM_GPUS_PER_NODE", "TASK_ID", "TASK_IDS",
    "CLUSTER_INFO", "USER", "INTERNAL_JOB_ID", "MANAGED_JOB_ID", "JOBGROUP_NAME",
)  # fmt: skip
JOB: Final = "@"
"""Stands for the id of the job in the ids of tasks; only the node knows it."""

_VARIABLES: Final = f"""\
job=${{TRAINWAY_JOB_ID:-$SKYPILOT_INTERNAL_JOB_ID}}
export SKYPILOT_INTERNAL_JOB_ID="$job" SKYPILOT_MANAGED_JOB_ID="$job"
export SKYPILOT_TASK_ID="${{SKYPILOT_TASK_ID//{JOB}/$job}}"
export SKYPILOT_TASK_IDS="${{SKYPILOT_TASK_IDS//{JOB}/$job}}"
for name in {" ".join(_TWINS)}; do
  twin=SKYPILOT_$name
  [ -z "${{!twin+x}}" ] || export "TRAINWAY_$name=${{!twin}}"
done
"""
_CHANGE: Final = """\
folder=~/sky_workdir
[ -z "$TRAINWAY_WORK_DIR" ] || folder=$TRAINWAY_WORK_DIR
mkdir -p "$folder" && cd "$folder" || exit
"""
_COPY: Final = """\
bring() {
  if [ -d "$1" ]; then
    mkdir -p "$2" && cp -rL "$1/." "$2/" || exit
  else
    mkdir -p "$(dirname "$2")" && cp -L "$1" "$2" || exit
  fi
}
"""
_LINK: Final = """\
link() {
  if [ -e "$2" ] && [ ! -L "$2" ]; then
    echo "storage: $2 exists already" >&2
    exit 1
  fi
  mkdir -p "$(dirname "$2")" && ln -sfn "$1" "$2" || exit
}
"""
_REPOSITORY: Final = """\
folder=${TRAINWAY_WORK_DIR:-${TRAINWAY_OUTPUT_DIR:-$HOME}}/sky_workdir-$SKYPILOT_NODE_RANK
rm -rf "$folder"
[ -z "$GIT_SSH_KEY_PATH" ] || export GIT_SSH_COMMAND="ssh -i $GIT_SSH_KEY_PATH"
header=
[ -z "$GIT_TOKEN" ] || header="Authorization: Basic $(printf 'x:%s' "$GIT_TOKEN" | base64 -w0)"
git -c http.extraHeader="$header" clone --quiet "$url" "$folder" || exit
cd "$folder" || exit
[ -z "$ref" ] || git checkout --quiet "$ref" || exit
"""
_STEPS: Final = """\
if [ -n "$1" ]; then
  (
    for name in NODE_RANK NODE_IPS NUM_GPUS_PER_NODE; do
      twin=SKYPILOT_$name
      export "SKYPILOT_SETUP_$name=${!twin}" "TRAINWAY_SETUP_$name=${!twin}"
    done
    exec bash -c "$1" setup
  )
  code=$?
  if [ $code -ne 0 ]; then
    echo "setup failed with exit status $code" >&2
    exit $code
  fi
fi
[ -z "$2" ] || exec bash -c "$2" run
"""


@dataclass(frozen=True)
class Scripts:
    """What the author of a task wrote."""

    setup: str
    run: str


def command(
    scripts: Scripts,
    repository: Mapping[str, str] | None = None,
    *,
    copies: Sequence[tuple[str, str]] = (),
    links: Sequence[tuple[str, str]] = (),
    mounts: Sequence[Mounted] = (),
    flushes: bool = False,
    travels: bool = False,
) -> list[str]:
    """The command of a container. `travels`: the node has a workdir of its own.

    `copies` are files that came along, and where they are to be; `links` are where they are, and
    where they are to be seen. `mounts` are buckets; `flushes`: others have mounted some, and all
    that was written must be there at the end.
    """
    script = storage_script.beginning() + _VARIABLES if mounts else _VARIABLES
    if repository:
        url, ref = repository["url"], repository.get("ref") or ""
        script += f"url={quoted(url)}\nref={quoted(ref)}\n" + _REPOSITORY
    elif travels:
        script += _CHANGE
    if copies:
        script += _COPY
        script += "".join(f"bring {quoted(given)} {shell_path(place)}\n" for given, place in copies)
    if links:
        script += _LINK
        script += "".join(f"link {quoted(given)} {shell_path(place)}\n" for given, place in links)
    if flushes:
        script += pod_mounts.flushing() + storage_script.ending()
    else:
        script += storage_script.mounting(mounts) + storage_script.ending() if mounts else _STEPS
    words = ["bash", "-c", script, "task", scripts.setup, scripts.run]
    return [literal(word) for word in words]


def shell_path(text: str) -> str:
    """A path for the shell, with `~` as its home; the workdir may be elsewhere."""
    if text == WORKDIR or text.startswith(f"{WORKDIR}/"):
        return f'"$folder"{quoted(text.removeprefix(WORKDIR))}'
    return f"~/{quoted(text[2:])}" if text.startswith("~/") else quoted(text)
