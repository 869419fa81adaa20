"""The buckets of tasks on the submitter's side: who may reach them, and what is put into them.

What hosts need to reach a bucket travels in a Secret beside the job. Local sources are put into
their buckets before the job is submitted, and only then; a bucket that is not there is made, with
the credentials of the submitter.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from trainway.api.task import task_object
from trainway.api.task.storage_mount import StorageMount, storage_mounts
from trainway.api.task.task import Task
from trainway.api.task.task_file import TaskFile
from trainway.api.task.task_object import StorageKeys, storage_secret_name
from trainway.errors import InvalidError, TrainwayError
from trainway.json_types import Json

Progress = Callable[[int, int], None]
"""A function that is told how many bytes are copied, and of how many."""


def with_storage(objects: list[Json], file: TaskFile, name: str) -> list[Json]:
    """The objects of a file of tasks, with what its buckets need."""
    schemes = [{mount.scheme for mount in _mounts(task)} for task in file.tasks]
    if not any(schemes):
        return objects
    values = {each: own_variables(each) for each in sorted(set().union(*schemes))}
    secret = storage_secret_name(name)
    for obj in objects:
        if obj.get("kind") == task_object.KIND:
            if any(mount.is_named for task in file.tasks for mount in _mounts(task)):
                obj["buckets"] = True
            for item, wanted in zip(obj["spec"]["tasks"], schemes, strict=True):
                names = tuple(key for each in sorted(wanted) for key in values[each])
                if names:
                    item["storage"] = StorageKeys(secret, names).to_dict()
    merged = {key: text for each in values.values() for key, text in each.items()}
    return [task_object.secret(name, merged, secret), *objects] if merged else objects


def refuse_missing_sources(file: TaskFile) -> None:
    """Raise for local sources of buckets that are not there, or cannot be put into one."""
    problems = list(_missing_sources(file))
    if problems:
        raise InvalidError(problems)


def _missing_sources(file: TaskFile) -> Iterator[str]:
    for task in file.tasks:
        for mount in _mounts(task):
            for source in mount.sources:
                path = Path.cwd() / Path(source).expanduser()
                where = f"file_mounts[{mount.path}]: source"
                if not path.exists():
                    yield f"{where}: there is no file or folder {source} ({path})"
                elif path.is_file() and not mount.has_list:
                    yield f"{where}: {source} is a file; write a list to put it into the bucket"


def fill(objects: Sequence[Json], progress: Progress, ask: Callable[[], object]) -> None:
    """Make the buckets that tasks name, and put the local sources into them.

    `ask` raises where the job would not be accepted; then nothing is made.
    """
    ask()
    for obj in objects:
        made = [mount.bucket for mount in _named_buckets(obj) if _is_filled(mount, progress)]
        if obj.get("buckets"):
            obj["buckets"] = {"made": made}


def _is_filled(mount: StorageMount, progress: Progress) -> bool:
    """Fill a bucket; whether it had to be made."""
    try:
        return _fill(mount, progress)
    except TrainwayError as error:
        raise InvalidError([f"file_mounts[{mount.path}]: {error}"], hint=error.hint) from None


def _fill(mount: StorageMount, progress: Progress) -> bool:
    from trainway.data import buckets  # noqa: PLC0415 - only for buckets
    from trainway.data.copying import copy  # noqa: PLC0415 - as above
    from trainway.data.transfer import Options  # noqa: PLC0415 - as above
    from trainway.data.uri import parse  # noqa: PLC0415 - as above

    is_made = buckets.create(parse(mount.uri))
    for source in mount.sources:
        target = f"{mount.uri}/{Path(source).name}" if mount.has_list else f"{mount.uri}/"
        copy(source, target, options=Options(progress=progress))
    return is_made


def _named_buckets(obj: Json) -> Iterator[StorageMount]:
    if obj.get("buckets"):
        job, _ = task_object.read(obj)
        for task in job.file.tasks if job else ():
            yield from (each for each in _mounts(task) if each.is_named)


def _mounts(task: Task) -> list[StorageMount]:
    return storage_mounts(task.file_mounts)


def own_variables(scheme: str) -> dict[str, str]:
    """What programs elsewhere need to reach the stores of a scheme as we do."""
    from trainway.sdk.storage_credentials import variables  # noqa: PLC0415 - only for buckets

    return variables(scheme, os.environ, str(Path.home()), _text)


def _text(path: str) -> str | None:
    try:
        return Path(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
