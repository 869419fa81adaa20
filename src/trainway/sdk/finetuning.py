"""The TrainJob that tunes a language model: on the runtime `trl-sft` or `trl-dpo`.

The program travels inside the job, as a zip file of a few kilobytes, so the environment of the job
needs TRL and its like, and no Trainway. What has a scheme is fetched by initializers first; folders
are read where they are.
"""

import base64
import glob
import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from trainway.api.job_variables import merged
from trainway.data.uri import HUB, has_scheme, parse, parse_repository
from trainway.errors import UnreadableError, UsageError
from trainway.jobset.job_name import job_name
from trainway.jobset.labels import EXPORT, FINETUNE
from trainway.json_types import Json
from trainway.runtimes import builtin_runtime
from trainway.sdk import fetched_names, llm_boot
from trainway.sdk.manifests import Wishes, trainjob

TASKS: Final = ("sft", "dpo")
PROGRAM: Final = "trainway.llm.launcher"
"""It starts as many processes as the variables of the job say."""
MODEL_PATH: Final = "/workspace/model"
DATASET_PATH: Final = "/workspace/dataset"
_INCLUDED: Final = "INCLUDE_PATTERNS"
_PACKAGE: Final = Path(__file__).parents[1]
_BESIDE: Final = (
    "__init__.py", "version.py", "errors.py", "json_types.py", "sdk/__init__.py",
    "sdk/fetched_names.py", "sdk/reporting.py", "sdk/stack_handler.py", "jobset/__init__.py",
    "jobset/job_remarks.py", "jobset/labels.py",
)  # fmt: skip
"""What the program imports beside its own package."""
_SHOWN: Final = 60
"""So much of a wrong path is repeated."""
_TESTS: Final = ("_test.py", "testing.py")
_HUB_NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")


@dataclass(frozen=True)
class FineTune:
    """What is asked for."""

    model: str
    dataset: str
    task: str = "sft"
    settings: Mapping[str, Any] = field(default_factory=dict)
    output: str | None = None
    """A URI where the output goes when the job has succeeded, or a folder."""


def finetune_objects(asked: FineTune, wishes: Wishes) -> list[Json]:
    """The objects of the job."""
    wishes = replace(
        wishes,
        name=wishes.name or job_name(f"finetune-{Path(asked.model.rstrip('/')).name}"),
        runtime=wishes.runtime or f"trl-{asked.task}",
    )
    sources: Json = {}
    settings = dict(asked.settings)
    for kind, named, path in (
        ("model", asked.model, MODEL_PATH),
        ("dataset", asked.dataset, DATASET_PATH),
    ):
        uri = source_uri(named, kind, is_here=not wishes.travels)
        settings[kind] = place_of(uri, path) if uri else str(_local(named))
        if uri:
            sources[kind] = {"storageUri": uri, **_only_part(uri)}
    export = asked.output if asked.output and has_scheme(asked.output) else None
    if export:
        parse(export)
    elif asked.output:
        settings["output"] = str(_local(asked.output))
    command, args = command_of(asked.task, settings, wishes.python)
    objects = trainjob(wishes, builtin_runtime(wishes.runtime or ""), command, args)
    (job,) = (item for item in objects if item["kind"] == "TrainJob")
    job["metadata"].setdefault("labels", {})[FINETUNE] = asked.task
    if sources:
        trainer = job["spec"]["trainer"]
        names = name_variables({kind: each["storageUri"] for kind, each in sources.items()})
        trainer["env"] = merged(names, trainer.get("env") or [])
        job["spec"]["initializer"] = sources
    if export:
        job["metadata"].setdefault("annotations", {})[EXPORT] = export
    return objects


def name_variables(uris: Mapping[str, str]) -> list[Json]:
    """The variables that say where what initializers fetch comes from, as far as it is known."""
    named = {kind: _name_of(uri) for kind, uri in uris.items()}
    return [
        {"name": fetched_names.VARIABLES[kind], "value": name}
        for kind, name in named.items()
        if name
    ]


def _name_of(uri: str) -> str:
    """A repository of the hub as the hub calls it; a URI without what may be a signature."""
    try:
        place = parse(uri)
    except UsageError:
        return ""  # the initializer will say what is wrong with it
    return parse_repository(place.bucket).name if place.scheme == HUB else str(place)


def source_uri(named: str, kind: str, *, is_here: bool) -> str | None:
    """The URI that is fetched before; None: a folder or file that is read where it is."""
    if has_scheme(named):
        parse(named)
        return named
    try:
        if _local(named).exists():
            return None
    except OSError as error:
        reason = f"{kind}: {named[:_SHOWN]} cannot be read: {error.strerror}"
        raise UnreadableError(reason, field=kind) from None
    if _HUB_NAME.fullmatch(named):
        return f"hf://{named}"
    if Path(named).expanduser().is_absolute() and not is_here:
        return None  # it may be there
    raise UnreadableError(
        f"{kind}: there is no folder or file {str(named)!r}",
        field=kind,
        hint="name a folder, a URI such as s3://bucket/path, or a name on the hub: ORG/NAME",
    )


def _local(named: str) -> Path:
    """A path of this machine, whole."""
    try:
        return Path(named).expanduser().absolute()
    except RuntimeError:
        name = named.partition("/")[0]
        raise UnreadableError(f"{name} is no user of this machine") from None


def place_of(uri: str, folder: str) -> str:
    """Where in the folder of an initializer the files of a URI are.

    A part of a repository of the hub has the path that it has in the repository.
    """
    part = _part(uri)
    return f"{folder}/{part}" if part else folder


def _only_part(uri: str) -> Json:
    """What keeps an initializer from fetching the rest of a repository of the hub."""
    part = _part(uri)
    if not part or "," in part:  # which is what stands between patterns
        return {}
    name = glob.escape(part)
    return {"env": [{"name": _INCLUDED, "value": f"{name},{name}/*"}]}


def _part(uri: str) -> str:
    """The path behind the name of a repository of the hub."""
    is_hub = uri.lower().startswith(f"{HUB}://")
    return parse(uri).key if is_hub else ""


def command_of(
    task: str, settings: Mapping[str, Any], python: str = "python"
) -> tuple[list[str], list[str]]:
    """The command and the arguments of a node."""
    if task not in TASKS:
        raise UsageError(f"task: it is {task!r}", field="task", hint=f"use {' or '.join(TASKS)}")
    boot = Path(llm_boot.__file__).read_text("utf-8")
    launcher = [python, "-m", PROGRAM, task]
    return [python, "-c", boot, packed_program(), *launcher], words_of(settings)


def words_of(settings: Mapping[str, Any]) -> list[str]:
    """Settings as the words that the program reads."""
    words = []
    for name, value in settings.items():
        if isinstance(value, Mapping):
            words += [f"{name}.{key}={each}" for key, each in value.items()]
        elif isinstance(value, bool) or value is None:
            words.append(f"{name}={str(value).lower() if value is not None else 'null'}")
        elif isinstance(value, list | tuple):
            words.append(f"{name}={','.join(map(str, value))}")
        else:
            words.append(f"{name}={value}")
    return words


def packed_program() -> str:
    """The program as a zip file, always the same for the same version."""
    files = [Path(name) for name in _BESIDE]
    files += sorted(
        file.relative_to(_PACKAGE)
        for file in (_PACKAGE / "llm").glob("*.py")
        if not file.name.endswith(_TESTS)
    )
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file in files:
            entry = zipfile.ZipInfo(f"trainway/{file.as_posix()}")
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, (_PACKAGE / file).read_bytes())
    return base64.b64encode(packed.getvalue()).decode()
