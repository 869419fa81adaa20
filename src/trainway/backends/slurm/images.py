"""How the pods of a job get into their image: by Pyxis, or by Apptainer. Pure.

The task of a pod as a whole runs in the image, so a pod has one image, and that has a Python. What
the pod uses of its node, the job's own directory first of all, is bound to the same path there.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from trainway.agent.transfer.ssh_command import shell_path
from trainway.backends.slurm.layout import shape_of
from trainway.backends.slurm.script import Within
from trainway.backends.slurm.section import APPTAINER, PYXIS, SINGULARITY
from trainway.jobset.model import PodTemplate, replicated_jobs

_JOB_DIR: Final = "$TRAINWAY_JOB_DIR"
_FILES: Final = ("/", "~/")
"""What an image begins with that is a file or folder of the cluster."""
_NOWHERE: Final = ("./", "../")
_SEPARATORS: Final = frozenset(":,")
"""What no path can have that is bound."""


def errors(jobset: Mapping[str, Any]) -> Iterator[str]:
    """Which pods have other than one image, or one that nobody can find."""
    for job in replicated_jobs(jobset["spec"]):
        found = _images(job.pod)
        for image in found:
            if image.startswith(_NOWHERE):
                yield (
                    f"role {job.name}: image {image}: a file on the cluster must be given by "
                    "its whole path, which begins with / or ~/"
                )
        if len(found) > 1:
            yield (
                f"role {job.name}: its containers have the images {', '.join(found)}: a pod on "
                "Slurm runs in one"
            )
        for path in _host_paths(job.pod):
            if _SEPARATORS & set(path):
                yield (
                    f"role {job.name}: hostPath {path}: a path with : or , cannot be mounted into "
                    "an image"
                )


def within(jobset: Mapping[str, Any], tool: str) -> dict[str, Within]:
    """For each role the way into its image."""
    ways: dict[str, Within] = {}
    for job in replicated_jobs(jobset["spec"]):
        image = next(iter(_images(job.pod)), "")
        if image and tool == PYXIS:
            ways[job.name] = _by_pyxis(image, _host_paths(job.pod))
        elif image and tool in (APPTAINER, SINGULARITY):
            devices = ("--nv",) if shape_of(job).gpus > 0 else ()
            ways[job.name] = _by_apptainer((tool, "exec", *devices), image, _host_paths(job.pod))
    return ways


def _by_pyxis(image: str, paths: Sequence[str]) -> Within:
    more = "".join(f",{shlex.quote(f'{path}:{path}')}" for path in paths)
    mounts = f'--container-mounts="{_JOB_DIR}:{_JOB_DIR}"{more}'
    return Within(options=(f"--container-image={shell_path(_enroot(image))}", mounts))


def _by_apptainer(program: Sequence[str], image: str, paths: Sequence[str]) -> Within:
    name = image if _is_file(image) or "://" in image else f"docker://{image}"
    bound = [f'"{_JOB_DIR}"', *map(shlex.quote, paths)]
    options = [word for path in bound for word in ("--bind", path)]
    return Within(words=(*program, *options, shell_path(name)))


def _enroot(image: str) -> str:
    """The image as Enroot writes it: `#` stands between the registry and the rest."""
    registry, slash, rest = image.removeprefix("docker://").partition("/")
    is_registry = "." in registry or ":" in registry or registry == "localhost"
    if _is_file(image) or not slash or not is_registry:
        return image.removeprefix("docker://")
    return f"{registry}#{rest}"


def _is_file(image: str) -> bool:
    return image.startswith(_FILES)


def _host_paths(pod: PodTemplate) -> list[str]:
    """What its volumes have of the node."""
    sources = ((volume.get("hostPath") or {}) for volume in pod.spec.get("volumes") or ())
    return list(dict.fromkeys(str(source["path"]) for source in sources if source.get("path")))


def _images(pod: PodTemplate) -> list[str]:
    containers = (*pod.init_containers, *pod.containers)
    named = (str(container.data.get("image") or "") for container in containers)
    return list(dict.fromkeys(name for name in named if name))
