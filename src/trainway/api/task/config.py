"""`config`: the part of the configuration that a single task may override, and hooks."""

from collections.abc import Iterator
from typing import Final

from trainway.api import health_check
from trainway.json_types import Json
from trainway.schema.field import FieldError, Path, invalid
from trainway.schema.shape import (
    FLAG,
    POSITIVE,
    TEXT,
    Anything,
    Either,
    Items,
    Number,
    Record,
    Shape,
    Table,
    Word,
    check,
)

_ANY: Final = Anything()
_OBJECT: Final = Table(_ANY, nullable=True, says="an object")
_TEXTS: Final = Either((TEXT, Items(TEXT)))
_HOOK_BYTES: Final = 16 * 1024
_MOST_HOOKS: Final = 32

_METADATA: Final = Record({"labels": Table(TEXT), "annotations": Table(TEXT)})
_POD: Final[dict[str, Shape]] = {
    "custom_metadata": _METADATA,
    "pod_config": _OBJECT,
    "provision_timeout": Number(whole=True, least=-1),
}
_HOOK: Final = Record(
    {
        "run": TEXT,
        "events": Items(Word(("stop", "preemption", "down")), least=1),
        "timeout": POSITIVE,
    },
    needs=("run",),
)
_SECTIONS: Final[dict[str, Shape]] = {
    "docker": Record({"run_options": _TEXTS}),
    "nvidia_gpus": Record({"disable_ecc": FLAG}),
    "ssh": Record(_POD),
    "kubernetes": Record(
        {
            **_POD,
            "dws": Record({"enabled": FLAG, "max_run_duration": Either((TEXT, POSITIVE))}),
            "kueue": Record(
                {"local_queue_name": TEXT, "admission_timeout": Number(whole=True, least=-1)}
            ),
            "quota": Record({"queue": TEXT}),
            "remote_identity": _ANY,
            "enable_docker": Either((FLAG, TEXT, _OBJECT)),
            "set_pod_resource_limits": Either((FLAG, Number(least=1))),
        }
    ),
    "azure": Record({"remote_identity": _ANY, "vpc_name": TEXT}),
    "gcp": Record(
        {
            "vpc_name": TEXT,
            "subnet_names": _TEXTS,
            "managed_instance_group": Record(
                {"run_duration": POSITIVE, "provision_timeout": POSITIVE}, needs=("run_duration",)
            ),
            "enable_gvnic": FLAG,
            "enable_gpu_direct": FLAG,
            "placement_policy": TEXT,
        }
    ),
    "vast": Record({"datacenter_only": FLAG, "create_instance_kwargs": _OBJECT}),
    "slurm": Record({"sbatch_options": _OBJECT, "cpu_partition": TEXT}),
    "active_workspace": TEXT,
    "health_check": health_check.SHAPE,
    "hooks": Items(_HOOK, most=_MOST_HOOKS),
}
_GLOBAL: Final = (
    "workspace", "db", "jobs", "serve", "allowed_clouds", "admin_policy", "api_server",
    "workspaces", "workspace_config", "provision", "rbac", "logs", "daemons", "data", "dashboard",
    "metrics", "plugins", "aws", "oci", "nebius",
)  # fmt: skip
SHAPE: Final = Record(
    _SECTIONS,
    removed=dict.fromkeys(_GLOBAL, "a task cannot override this section of the configuration"),
)


def errors(data: Json, path: Path) -> Iterator[FieldError]:
    """Everything that is wrong with the config of a task."""
    found = list(check(SHAPE, data, path))
    yield from found
    if found:
        return
    for index, hook in enumerate(data.get("hooks") or ()):
        size = len(hook["run"].encode())
        if size > _HOOK_BYTES:
            detail = f"a hook may have at most {_HOOK_BYTES} bytes"
            yield invalid((*path, "hooks", index, "run"), f"{size} bytes", detail)
