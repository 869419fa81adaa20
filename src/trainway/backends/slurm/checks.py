"""What `trainway doctor` says of a cluster, from what its login node reports. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainway.backends.base import Check
from trainway.backends.slurm.probing import NODE
from trainway.backends.slurm.section import NONE, PYXIS, ConfiguredCluster
from trainway.counting import counted

OLDEST: Final = (20, 11)
"""The first Slurm whose steps can be told apart from the allocation (`--overlap`, `--exact`)."""
OLDEST_PYTHON: Final = (3, 8)
VERSIONS: Final = "versions"
"""Which versions of the programs that run images the login node has, among the facts."""
_NO_IMAGES: Final = "jobs with --image or --containers need Pyxis or Apptainer"


def checks_of(cluster: ConfiguredCluster, facts: Mapping[str, Any]) -> list[Check]:
    """One line for each thing that jobs depend on."""
    return [
        _version(facts),
        _python(cluster, facts),
        _home(cluster, facts),
        _partitions(cluster, facts),
        _gpus(facts),
        _mpi(facts),
        _containers(cluster, facts),
        _accounting(facts),
        *_rest(cluster, facts),
        *_node(facts),
    ]


def failed(message: str, hint: str) -> list[Check]:
    """What is said of a cluster that does not answer."""
    return [Check("login", ok=False, detail=message, fix=hint)]


def version_of(text: str) -> tuple[int, ...]:
    """The numbers of a version: `22.05.8` or `slurm-wlm 22.05.8`."""
    found = re.search(r"\d+(\.\d+)+", text)
    return tuple(int(part) for part in found[0].split(".")) if found else ()


def _version(facts: Mapping[str, Any]) -> Check:
    text = str(facts.get("version") or "")
    version = version_of(text)
    if not version:
        fix = "load its module on the login node, or set `env: {PATH: ...}` there"
        return Check("slurm", ok=False, detail="Slurm's commands are not on PATH", fix=fix)
    if version < OLDEST:
        least = ".".join(f"{part:02}" for part in OLDEST)
        fix = f"steps need --overlap and --exact, which Slurm has since version {least}"
        return Check("slurm", ok=False, detail=f"version {text}", fix=fix)
    name = str(facts.get("cluster") or "")
    return Check("slurm", ok=True, detail=f"version {text}" + (f", cluster {name}" if name else ""))


def _python(cluster: ConfiguredCluster, facts: Mapping[str, Any]) -> Check:
    version: Sequence[int] = facts.get("python") or ()
    text = ".".join(map(str, version))
    least = ".".join(map(str, OLDEST_PYTHON))
    if tuple(version[:2]) < OLDEST_PYTHON:
        detail = f"{cluster.python} is {text or 'not there'}"
        return Check(
            "python", ok=False, detail=detail, fix=f"set `python` to Python {least} or later"
        )
    node = facts.get(NODE) or {}
    if "python" not in node:
        return Check("python", ok=True, detail=f"{text} on the login node; the nodes need it too")
    there = ".".join(map(str, node["python"]))
    if tuple(node["python"][:2]) < OLDEST_PYTHON:
        detail = f"{cluster.python} is {there or 'not there'} on node {node['name']}"
        return Check(
            "python", ok=False, detail=detail, fix=f"set `python` to Python {least} or later"
        )
    return Check("python", ok=True, detail=f"{text} on the login node, {there} on a node")


def _home(cluster: ConfiguredCluster, facts: Mapping[str, Any]) -> Check:
    place, node = str(facts.get("home") or cluster.home), facts.get(NODE) or {}
    if not facts.get("writable", True):
        fix = "set `home` to a directory that all nodes see and that you may write"
        return Check("files", ok=False, detail=f"{place} cannot be written", fix=fix)
    if not cluster.shared:
        fix = (
            "a node sees this directory: `shared: false` is not needed" if node.get("sees") else ""
        )
        detail = f"jobs are kept in {place}, and their files travel with them"
        return Check("files", ok=True, detail=detail, fix=fix)
    if "sees" not in node:
        return Check("files", ok=True, detail=f"jobs are kept in {place}; every node must see it")
    return _seen(place, node)


def _seen(place: str, node: Mapping[str, Any]) -> Check:
    """What a node sees of the directory that all of them should see."""
    name = node["name"]
    if not node["sees"]:
        fix = (
            "set `home` to a directory on a file system that all nodes see, or `shared: false`: "
            "then files travel with each job"
        )
        return Check("files", ok=False, detail=f"node {name} does not see {place}", fix=fix)
    if not node["writes"]:
        fix = "set `home` to a directory that all nodes can write"
        return Check("files", ok=False, detail=f"node {name} cannot write {place}", fix=fix)
    return Check("files", ok=True, detail=f"jobs are kept in {place}; node {name} sees it")


def _partitions(cluster: ConfiguredCluster, facts: Mapping[str, Any]) -> Check:
    told = list(facts.get("partitions") or ())
    names = [str(item["name"]) for item in told]
    if cluster.partition and cluster.partition not in names:
        fix = f"name one of {', '.join(names) or 'none'}"
        detail = f"there is no partition {cluster.partition}"
        return Check("partitions", ok=False, detail=detail, fix=fix)
    up = [item for item in told if item.get("state") == "up"]
    shown = ", ".join(_described(item) for item in told) or "none"
    if not up:
        fix = "ask the administrator of the cluster: jobs wait until a partition is up"
        return Check("partitions", ok=False, detail=shown, fix=fix)
    has_default = cluster.partition or any(item.get("default") for item in told)
    fix = "" if has_default else "name one: --on slurm/CLUSTER/PARTITION, or `partition`"
    return Check("partitions", ok=True, detail=shown, fix=fix)


def _described(told: Mapping[str, Any]) -> str:
    nodes = int(told.get("nodes") or 0)
    notes = [counted(nodes, "node"), counted(told.get("cpus", 0), "CPU")]
    if told.get("time_limit") not in (None, "", "infinite", "unlimited"):
        notes.append(f"at most {told['time_limit']}")
    if told.get("state") != "up":
        notes.append(str(told.get("state")))
    mark = "*" if told.get("default") else ""
    return f"{told['name']}{mark} ({', '.join(notes)})"


def _gpus(facts: Mapping[str, Any]) -> Check:
    counts: dict[str, int] = {}
    for told in facts.get("partitions") or ():
        for kind, count in (told.get("gpus") or {}).items():
            counts[kind] = max(counts.get(kind, 0), int(count))
    shown = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return Check("gpus", ok=True, detail=shown or "no gres is named gpu")


def _mpi(facts: Mapping[str, Any]) -> Check:
    plugins = [str(name) for name in facts.get("mpi") or () if name != NONE]
    detail = ", ".join(plugins) or "no plugins of srun; mpirun is started by steps anyway"
    return Check("mpi", ok=True, detail=detail)


def _containers(cluster: ConfiguredCluster, facts: Mapping[str, Any]) -> Check:
    found = [str(name) for name in facts.get("containers") or ()]
    wanted = cluster.containers
    if wanted == PYXIS and wanted not in found:
        fix = f"correct `containers`; found: {', '.join(found) or 'none'}"
        return Check("containers", ok=False, detail="srun has no --container-image", fix=fix)
    shown = _with_versions(found, facts.get(VERSIONS) or {})
    node = facts.get(NODE) or {}
    if "containers" in node and wanted != NONE:
        return _containers_of_node(wanted or next(iter(found), ""), shown, node)
    if wanted not in ("", NONE, *found):
        detail = f"{wanted}, which the login node does not have"
        return Check("containers", ok=True, detail=detail, fix="every node must have it")
    if not found:
        return Check("containers", ok=True, detail="neither Pyxis nor Apptainer", fix=_NO_IMAGES)
    return Check("containers", ok=True, detail=shown)


def _containers_of_node(tool: str, shown: str, node: Mapping[str, Any]) -> Check:
    """What a node has of that which runs images; Pyxis is part of srun, which ran there."""
    there: Mapping[str, str] = node["containers"]
    described = _with_versions(list(there), there)
    if tool in (PYXIS, *there):
        where = f"{shown or 'none'} on the login node, {described or 'none'} on a node"
        return Check("containers", ok=True, detail=shown if tool == PYXIS else where)
    if tool:
        fix = "it must be on the PATH of every node; check `env` and `containers`"
        return Check("containers", ok=False, detail=f"node {node['name']} has no {tool}", fix=fix)
    if there:
        detail = f"{described} on a node, and nothing on the login node"
        fix = f"set `containers: {next(iter(there))}` if all nodes have it"
        return Check("containers", ok=True, detail=detail, fix=fix)
    return Check("containers", ok=True, detail="neither Pyxis nor Apptainer", fix=_NO_IMAGES)


def _with_versions(names: Sequence[str], versions: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {versions.get(name, '')}".rstrip() for name in names)


def _accounting(facts: Mapping[str, Any]) -> Check:
    kind = str(facts.get("accounting") or NONE)
    if kind == NONE:
        fix = "without sacct only the job's own files say how it ended"
        return Check("accounting", ok=True, detail="none", fix=fix)
    return Check("accounting", ok=True, detail=kind)


def _rest(cluster: ConfiguredCluster, facts: Mapping[str, Any]) -> Iterator[Check]:
    if cluster.rest:
        said = str(facts.get("rest") or "it was not queried")
        ok = said.endswith("ok")
        fix = (
            ""
            if ok
            else "check `rest.url` and `rest.token_file`; Slurm's commands are used instead"
        )
        yield Check("slurmrestd", ok=ok, detail=said, fix=fix)


def _node(facts: Mapping[str, Any]) -> Iterator[Check]:
    """What became of the short job, where there was one."""
    node = facts.get(NODE)
    if node is None:
        return
    if "problem" in node:
        yield Check("job", ok=False, detail=node["problem"], fix=node["hint"])
    else:
        yield Check("job", ok=True, detail=f"one ran on node {node['name']}")
