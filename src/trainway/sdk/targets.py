"""What can be run, made into objects: files, scripts, commands and functions."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from trainway.errors import ManifestError, NotFoundError, UnreadableError, UsageError
from trainway.jobset.job_name import job_name
from trainway.jobset.labels import FUNCTION
from trainway.json_types import Json
from trainway.sdk.manifests import (
    JOB_KINDS,
    TORCH_RUNTIME,
    Wishes,
    launcher,
    plain_objects,
    script_command,
    trainjob,
    with_wishes,
)
from trainway.sdk.submitter import has_own_torch, has_torch

if TYPE_CHECKING:
    from trainway.sdk.functions import FunctionCall


MANIFESTS: Final = (".yaml", ".yml", ".json")
SCRIPT: Final = ".py"
_SHELL_SCRIPT: Final = ".sh"
_LETTERS: Final = "bcdfghjklmnpqrstvwxz"
"""The letters of random names: no vowels, so no words; no digits, which Open MPI 4 takes for
numbers in the names of hosts."""
_SUFFIX: Final = 5
"""How many characters are put behind the name of what runs in a cluster."""


def manifest_objects(text: str, source: str, wishes: Wishes) -> list[Json]:
    """The objects of a manifest, one job among them."""
    from trainway.api.manifest import parse_manifests  # noqa: PLC0415 - scripts need no YAML

    try:
        objects = parse_manifests(text)
    except ManifestError as error:
        raise UnreadableError(f"{source}: {error}") from None
    if not any("kind" in item or "apiVersion" in item for item in objects):
        from trainway.api.task.task_file import looks_like_tasks  # noqa: PLC0415 - as above
        from trainway.sdk.tasks import run_objects  # noqa: PLC0415 - as above

        if looks_like_tasks(objects):
            return run_objects(text, source, wishes)
    return checked_objects(objects, source, wishes)


def checked_objects(objects: Sequence[Json], source: str, wishes: Wishes) -> list[Json]:
    """The objects with what is asked for; there must be one job among them."""
    jobs = [item for item in objects if item.get("kind") in JOB_KINDS]
    if not jobs:
        raise _without_job(objects, source)
    if len(jobs) > 1:
        names = ", ".join(str((job.get("metadata") or {}).get("name")) for job in jobs)
        raise UsageError(
            f"{source}: it contains {len(jobs)} jobs: {names}", hint="submit one file for each job"
        )
    return with_wishes(objects, _named_for_secrets(jobs[0], wishes))


def _without_job(objects: Sequence[Json], source: str) -> UsageError:
    from trainway.schema.validation import closest  # noqa: PLC0415 - slow, for a mistake alone

    kinds = sorted({str(item["kind"]) for item in objects if item.get("kind")})
    meant = next(filter(None, (closest(kind, JOB_KINDS) for kind in kinds)), None)
    only = f", only {', '.join(kinds)}" if kinds else ""
    asked = f'; did you mean "{meant}"?' if meant else ""
    return UsageError(
        f"{source}: it contains no job{only}{asked}",
        hint=f"one of {', '.join(JOB_KINDS)} is needed, or a task, which has a `run`",
    )


def _named_for_secrets(job: Json, wishes: Wishes) -> Wishes:
    """With a name where the job would get one only later: its Secret is called after it."""
    metadata = job.get("metadata") if isinstance(job.get("metadata"), dict) else None
    if not wishes.secrets or wishes.name is not None or not metadata or metadata.get("name"):
        return wishes
    return replace(wishes, name=f"{metadata.get('generateName') or 'job-'}{fresh_suffix()}")


def read_manifest(path: Path) -> str:
    """The text of a manifest."""
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise UnreadableError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise UnreadableError(f"{path}: not UTF-8") from None


def script_objects(script: str, args: Sequence[str], wishes: Wishes) -> list[Json]:
    """The objects that run a Python script; away from this machine its modules come along."""
    path = Path(script)
    if not path.is_file():
        raise UnreadableError(f"{script}: {os.strerror(2)}")
    wishes = _named(wishes, path.stem)
    if wishes.travels:
        from trainway.sdk.bundle import place, script_bundle, with_bundle  # noqa: PLC0415 - loads ast

        wishes, bundle = _unbuffered(wishes), script_bundle(path)
        objects = _script(place(path.name), args, wishes, uses_torch="torch" in bundle.imports)
        return with_bundle(objects, bundle)
    return _script(script, args, wishes, uses_torch=has_torch())


def _script(script: str, args: Sequence[str], wishes: Wishes, *, uses_torch: bool) -> list[Json]:
    if wishes.runtime is None and (wishes.procs_per_node is not None or uses_torch):
        wishes = replace(wishes, runtime=TORCH_RUNTIME)
    if wishes.runtime is None:
        return plain_objects(wishes, [wishes.python, script, *args])
    runtime = _builtin(wishes)
    return trainjob(wishes, runtime, script_command(runtime, script, wishes.python), args)


def command_objects(command: Sequence[str], wishes: Wishes) -> list[Json]:
    """The objects that run a command."""
    program = Path(command[0]).name
    wishes = _named(wishes, program)
    if wishes.runtime is None and program == "torchrun":
        wishes = replace(wishes, runtime=TORCH_RUNTIME)
    if wishes.runtime is not None:
        return trainjob(wishes, _builtin(wishes), command[:1], command[1:])
    if wishes.procs_per_node is not None:
        raise UsageError(
            "--procs-per-node has no effect on a command",
            hint=f"use a runtime that starts several processes: --runtime {TORCH_RUNTIME}",
        )
    return plain_objects(wishes, command)


def program_objects(program: str, args: Sequence[str], wishes: Wishes) -> list[Json]:
    """The objects that run a program, or a file of this machine, with arguments."""
    from shutil import which  # noqa: PLC0415 - slow, and not for manifests

    path = Path(program)
    if path.is_file() and ("/" in program or which(program) is None):
        if wishes.travels:
            raise UsageError(
                f"{program} is a file on this machine and is not sent along with a command",
                hint="write a task file with this command as its `run` and a `workdir`",
            )
        return command_objects([*_started(path), *args], _named(wishes, path.stem))
    if path.is_dir():
        raise UsageError(
            f"{program} is a folder, and Trainway runs one file at a time",
            hint=f"name a file in it, or check all of them: trainway validate -f {program}",
        )
    if not wishes.travels and which(program) is None:
        raise UsageError(
            f"there is neither a file nor a program called {program!r}",
            hint=f"trainway runs manifests ({', '.join(MANIFESTS)}), scripts and commands",
        )
    return command_objects([program, *args], wishes)


def _started(path: Path) -> list[str]:
    """How a file is run: by itself, or by a shell where it is a script without the right to."""
    place = str(path) if "/" in str(path) else f"./{path}"
    if os.access(path, os.X_OK):
        return [place]
    if path.suffix != _SHELL_SCRIPT:
        raise UsageError(
            f"{path} is neither a manifest nor a script, and it is not executable",
            hint=f"trainway runs manifests ({', '.join(MANIFESTS)}), scripts and commands; make a"
            f" program of your own executable with chmod +x {path}",
        )
    return ["bash", place]


def function_objects(call: "FunctionCall", wishes: Wishes) -> list[Json]:
    """The objects that call a function."""
    wishes = _named(wishes, call.function)
    if wishes.travels:
        from trainway.sdk.bundle import collected, with_bundle  # noqa: PLC0415 - it loads ast

        wishes = _unbuffered(wishes)
        files = call.files(returns_by_log=wishes.is_in_pods)
        bundle = collected(call.folder, files, [call.source])
        words = call.command_of_files(wishes.python)
        objects = _function(words, (), wishes, uses_torch="torch" in bundle.imports)
        if wishes.is_in_pods:
            (job,) = (item for item in objects if item["kind"] in JOB_KINDS)
            job["metadata"].setdefault("annotations", {})[FUNCTION] = call.function
        return with_bundle(objects, bundle)
    return _function(call.command(), call.args(), wishes, uses_torch=has_own_torch())


def _function(
    command: Sequence[str], args: Sequence[str], wishes: Wishes, *, uses_torch: bool
) -> list[Json]:
    if wishes.runtime is None and ((wishes.procs_per_node or 1) > 1 or uses_torch):
        wishes = replace(wishes, runtime=TORCH_RUNTIME)
    if wishes.runtime is None:
        return plain_objects(wishes, [*command, *args])
    runtime = _builtin(wishes)
    return trainjob(wishes, runtime, [*launcher(runtime, wishes.python), *command], args)


def fresh_suffix() -> str:
    """What makes a name one that nobody has."""
    return "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(_SUFFIX))


def _named(wishes: Wishes, text: str) -> Wishes:
    """With a name; in a cluster, where two jobs cannot share one, with a new one."""
    if wishes.name is not None:
        return wishes
    name = job_name(text)
    if wishes.is_in_pods:
        name = f"{job_name(text, shorter_by=_SUFFIX + 1)}-{fresh_suffix()}"
    return replace(wishes, name=name)


def _unbuffered(wishes: Wishes) -> Wishes:
    """Let logs come at once in pods too; jobs of this machine are started so anyway."""
    return replace(wishes, env={"PYTHONUNBUFFERED": "1", **wishes.env})


def _builtin(wishes: Wishes) -> Json | None:
    """The runtime that is asked for; None where it can only be one of the cluster's own."""
    from trainway.runtimes import builtin_runtime, names  # noqa: PLC0415 - it brings YAML along

    name = wishes.runtime or ""
    found = builtin_runtime(name)
    if found is None and not wishes.is_in_pods:
        similar = [known for known in names() if known.startswith(name)]
        hint = f"did you mean {similar[0]}? " if name and similar else ""
        raise NotFoundError(
            f"there is no runtime {name!r}",
            hint=f"{hint}The built-in runtimes are: {', '.join(names())}",
        )
    return found
