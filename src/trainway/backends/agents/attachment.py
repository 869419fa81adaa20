"""Which process of a job on this machine a person means, for exec and shell. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from trainway.errors import ConflictError
from trainway.json_types import Json

JOIN: Final = """
import os, sys
job, pid, words = sys.argv[1], sys.argv[2], sys.argv[3:]
home = "/proc/" + pid
try:
    with open(home + "/environ", "rb") as file:
        variables = file.read().split(b"\\0")
    if ("TRAINWAY_JOB_ID=" + job).encode() not in variables:
        raise OSError
    folder = os.readlink(home + "/cwd")
    apart, users = [
        os.readlink(home + "/ns/" + n) != os.readlink("/proc/self/ns/" + n) for n in ("mnt", "user")
    ]
except OSError:
    sys.exit("the process of the pod is gone")
if words[:1] == ["--beside"]:
    sys.argv = ["beside", pid, *words[2:]]
    exec(compile(words[1], "beside", "exec"), {"__name__": "__main__"})
    sys.exit()
if apart:
    options = ["--user", "--preserve-credentials"] if users else []
    words = ["nsenter", "--target", pid, *options, "--mount", "--wd=" + folder, *words]
else:
    os.chdir(folder)
environ = dict(item.split(b"=", 1) for item in variables if b"=" in item)
if os.environ.get("TERM"):
    environ[b"TERM"] = os.environ["TERM"].encode()
try:
    os.execvpe(words[0], words, environ)
except OSError as error:
    sys.exit("%s: %s" % (words[0], error.strerror))
"""
"""The lines of Python that take over the environment, folder and mounts of a process.

With `--beside PROGRAM` they run that text instead, as a process of the host that takes over
nothing; its first argument is the process.
"""


def attachment(
    handle: Mapping[str, Any],
    records: Iterable[Mapping[str, Any]],
    role: str | None = None,
    rank: int | None = None,
) -> Json:
    """The pod of that role and rank, or the first one, and its processes by container."""
    newest: dict[str, Mapping[str, Any]] = {}
    for record in records:
        if record.get("type") == "pod":
            newest[str(record["pod"])] = record
    found = []
    for key, record in newest.items():
        of_role, job, of_rank = key.rsplit("-", 2)
        processes = _processes(record)
        if processes and role in (None, of_role) and rank in (None, int(of_rank)):
            found.append(((of_role != "launcher", int(job), int(of_rank)), key, processes))
    if not found:
        raise ConflictError(
            "no such pod of the job is running",
            hint="see the state of its pods with trainway jobs show",
        )
    _, key, processes = min(found)
    return {
        "job": handle["id"],
        "pod": key,
        "container": next(iter(processes)),
        "containers": list(processes),
        "processes": processes,
        "namespace": "",
        "context": "",
        "kubeconfig": [],
    }


def newest_records(records: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The last placement, and the last word on each pod."""
    newest: dict[str, Mapping[str, Any]] = {}
    for record in records:
        if record.get("type") in ("placement", "pod"):
            newest[str(record.get("pod") or "")] = record
    return list(newest.values())


def running_pods(
    records: Iterable[Mapping[str, Any]],
) -> Iterator[tuple[Json, list[Mapping[str, Any]]]]:
    """Each pod that has a process, in the order of ranks, with the records that tell of it."""
    records = list(records)
    placements = [record for record in records if record.get("type") == "placement"]
    pods = [record for record in records if record.get("type") == "pod" and _processes(record)]
    keyed = [(str(record["pod"]).rsplit("-", 2), record) for record in pods]
    keyed.sort(key=lambda pair: (pair[0][0], int(pair[0][1]), int(pair[0][2])))
    for (role, replica, rank), record in keyed:
        identity = {"role": role, "replica": int(replica), "rank": int(rank)}
        yield identity, [*placements, record]


def _processes(record: Mapping[str, Any]) -> dict[str, int]:
    """The main containers that run, and their processes."""
    containers = record.get("containers") or ()
    return {
        str(item["name"]): int(item["pid"])
        for item in containers
        if item.get("pid") and "kind" not in item
    }
