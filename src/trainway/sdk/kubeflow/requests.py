"""What `train()` submits: a TrainJob from a trainer and an initializer. Pure."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, Final

from trainway.api.packages import with_packages
from trainway.data.uri import has_scheme, parse
from trainway.errors import UsageError
from trainway.jobset.labels import FINETUNE
from trainway.jobset.literal_text import literal
from trainway.json_types import Json
from trainway.sdk.functions import FunctionCall, captured
from trainway.sdk.kubeflow.preparation import prepared
from trainway.sdk.kubeflow.types.types import (
    BaseInitializer,
    BuiltinTrainer,
    CustomTrainer,
    CustomTrainerContainer,
    DataCacheInitializer,
    HuggingFaceDatasetInitializer,
    Initializer,
    LoraConfig,
    Runtime,
    TorchTuneConfig,
    TorchTuneInstructDataset,
    Trainer,
    TrainerType,
    TRLConfig,
)
from trainway.sdk.manifests import TRAINER_API, launcher
from trainway.sdk.packages import requirement_lines

DATASET_PATH: Final = "/workspace/dataset"
MODEL_PATH: Final = "/workspace/model"

_PLAIN: Final = ("cpu", "memory", "gpu", "storage", "ephemeral-storage")
_ALIASES: Final = {"gpu": "nvidia.com/gpu", "storage": "ephemeral-storage"}
_MIG: Final = "nvidia.com/mig-"
_HUB: Final = "hf://"
_TRL: Final = "trl"


def train_job(
    name: str,
    runtime: Runtime,
    manifest: Json | None,
    trainer: Trainer | None,
    initializer: Initializer | None,
    *,
    installs: bool = False,
) -> Json:
    """The TrainJob; `manifest` is the runtime as the server has it.

    Its packages are in its environment, or with `installs` its own command installs them: the
    trials of a search in a cluster are made by an operator that may not be ours.
    """
    spec: Json = {"runtimeRef": {"name": runtime.name, "kind": runtime.kind.value}}
    trainer_spec = _trainer(runtime, manifest, trainer, initializer, installs=installs)
    if trainer_spec:
        spec["trainer"] = trainer_spec
    if initializer is not None and (initializer.dataset or initializer.model):
        parts = {"dataset": initializer.dataset, "model": initializer.model}
        spec["initializer"] = {key: _source(part) for key, part in parts.items() if part}
    job: Json = {
        "apiVersion": TRAINER_API,
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": spec,
    }
    if isinstance(trainer, BuiltinTrainer) and isinstance(trainer.config, TRLConfig):
        job["metadata"]["labels"] = {FINETUNE: _task(runtime)}
    if installs or not isinstance(trainer, CustomTrainer) or not trainer.packages_to_install:
        return job
    packages, urls = trainer.packages_to_install, trainer.pip_index_urls
    return with_packages(job, requirement_lines(packages, index_urls=urls))


def _trainer(
    runtime: Runtime,
    manifest: Json | None,
    trainer: Trainer | None,
    initializer: Initializer | None,
    *,
    installs: bool,
) -> Json:
    if trainer is None:
        return {}
    if not isinstance(trainer, CustomTrainer | CustomTrainerContainer | BuiltinTrainer):
        raise ValueError(f"a {type(trainer).__name__} is not a trainer")
    kind = TrainerType.BUILTIN_TRAINER
    if not isinstance(trainer, BuiltinTrainer):
        kind = TrainerType.CUSTOM_TRAINER
    if runtime.trainer.trainer_type is not kind:
        other = runtime.trainer.trainer_type.value
        raise ValueError(f"the runtime {runtime.name} takes a {other}, not a {kind.value}")
    if isinstance(trainer, BuiltinTrainer):
        return _builtin(runtime, trainer.config, initializer)
    spec = _common(trainer.num_nodes, trainer.resources_per_node)
    if isinstance(trainer, CustomTrainer):
        call = _call(trainer, installs=installs)
        command = [*prepared(launcher(manifest), call), *call.command()]
        spec["command"] = [literal(part) for part in command]
        spec["args"] = [literal(part) for part in call.args()]
    if trainer.image:
        spec["image"] = trainer.image
    if trainer.env:
        spec["env"] = [{"name": key, "value": value} for key, value in trainer.env.items()]
    return spec


def _call(trainer: CustomTrainer, *, installs: bool) -> FunctionCall:
    if not callable(trainer.func):
        raise ValueError(f"func must be a function, not a {type(trainer.func).__name__}")
    if not installs:
        return captured(trainer.func, (), trainer.func_args)
    packages = trainer.packages_to_install or ()
    return captured(trainer.func, (), trainer.func_args, packages, trainer.pip_index_urls)


def _builtin(
    runtime: Runtime, config: TorchTuneConfig | TRLConfig, initializer: Initializer | None
) -> Json:
    if not isinstance(config, TorchTuneConfig | TRLConfig):
        raise ValueError(f"a {type(config).__name__} is not a configuration of a built-in trainer")
    is_trl = runtime.trainer.framework == _TRL
    if is_trl is not isinstance(config, TRLConfig):
        kind = type(config).__name__
        raise ValueError(f"the runtime {runtime.name} does not take a {kind}")
    if isinstance(config, TRLConfig):
        return _trl(runtime, config, initializer)
    spec = _common(config.num_nodes, config.resources_per_node)
    spec["command"] = list(runtime.trainer.command)
    spec["args"] = list(_torchtune_args(config, initializer))
    return spec


def _trl(runtime: Runtime, config: TRLConfig, initializer: Initializer | None) -> Json:
    """The program of `trainway finetune`; the name of the runtime ends with its task."""
    from trainway.sdk.finetuning import (  # noqa: PLC0415 - only here
        command_of,
        name_variables,
        place_of,
    )

    spec = _common(config.num_nodes, config.resources_per_node)
    fetched = {
        "model": (config.model, initializer and initializer.model, MODEL_PATH),
        "dataset": (config.dataset, initializer and initializer.dataset, DATASET_PATH),
    }
    settings: dict[str, Any] = {"method": config.method, **config.settings}
    uris: dict[str, str] = {}
    for name, (named, source, path) in fetched.items():
        if named is None and not source:
            raise ValueError(f"TRLConfig needs a {name}, or an initializer for it")
        if named is None and source:
            uris[name] = source.storage_uri
            settings[name] = place_of(source.storage_uri, path)
        else:
            settings[name] = named
    command, args = command_of(_task(runtime), settings)
    spec["command"] = [literal(part) for part in command]
    spec["args"] = [literal(part) for part in args]
    env = name_variables(uris)
    return {**spec, "env": env} if env else spec


def _task(runtime: Runtime) -> str:
    return "dpo" if runtime.name.endswith("dpo") else "sft"


def _common(num_nodes: int | None, resources: dict[str, Any] | None) -> Json:
    spec: Json = {}
    if num_nodes:
        spec["numNodes"] = num_nodes
    if resources:
        amounts = resources_per_node(resources)
        spec["resourcesPerNode"] = {"requests": amounts, "limits": dict(amounts)}
    return spec


def resources_per_node(resources: dict[str, Any]) -> dict[str, Any]:
    """The amounts under the names that Kubernetes has for them."""
    amounts = {_resource_name(name): amount for name, amount in resources.items()}
    migs = [name for name in amounts if name.startswith(_MIG)]
    if len(migs) > 1:
        raise ValueError(f"only one kind of MIG device can be asked for, not {', '.join(migs)}")
    if migs and "nvidia.com/gpu" in amounts:
        raise ValueError(f"either nvidia.com/gpu or {migs[0]} can be asked for, not both")
    return amounts


def _resource_name(name: str) -> str:
    lower = name.lower()
    if lower.startswith("mig-"):
        return _MIG + lower.removeprefix("mig-")
    return _ALIASES.get(lower, lower) if lower in _PLAIN else name


def _torchtune_args(config: TorchTuneConfig, initializer: Initializer | None) -> Iterator[str]:
    if config.dtype:
        yield f"dtype={config.dtype.value}"
    if config.batch_size:
        yield f"batch_size={config.batch_size}"
    if config.epochs:
        yield f"epochs={config.epochs}"
    if config.loss:
        yield f"loss={config.loss.value}"
    if initializer and isinstance(initializer.dataset, HuggingFaceDatasetInitializer):
        yield _dataset_place(initializer.dataset.storage_uri)
    if config.peft_config:
        yield from _lora_args(config.peft_config)
    if config.dataset_preprocess_config:
        yield from _dataset_args(config.dataset_preprocess_config)


def _dataset_place(storage_uri: str) -> str:
    """Where the files of the dataset lie: they keep the path that they have in its repository."""
    uri = storage_uri if has_scheme(storage_uri) else f"{_HUB}{storage_uri}"
    try:
        relative = parse(uri).key or "."
    except UsageError:  # such as a name without an owner
        relative = "."
    key = "data_files" if relative != "." and "." in relative else "data_dir"
    return f"dataset.{key}={DATASET_PATH}/{relative}"


def _lora_args(config: LoraConfig) -> Iterator[str]:
    for item in fields(config):
        value = getattr(config, item.name)
        if item.name != "lora_attn_modules" and value is not None:
            yield f"model.{item.name}={value}"
    if config.lora_attn_modules:
        yield f"model.lora_attn_modules=[{','.join(config.lora_attn_modules)}]"


def _dataset_args(config: TorchTuneInstructDataset) -> Iterator[str]:
    yield "dataset=torchtune.datasets.instruct_dataset"
    if config.source:
        yield f"dataset.source={config.source.value}"
    if config.split:
        yield f"dataset.split={config.split}"
    if config.train_on_input is not None:
        yield f"dataset.train_on_input={config.train_on_input}"
    if config.new_system_prompt:
        yield f"dataset.new_system_prompt={config.new_system_prompt}"
    if config.column_map:
        yield f"dataset.column_map={config.column_map}"


def _source(source: BaseInitializer) -> Json:
    """An initializer: its settings become variables."""
    env: Json = {}
    skipped = {"storage_uri"}
    if isinstance(source, DataCacheInitializer):
        env = {"CLUSTER_SIZE": str(source.num_data_nodes + 1), "METADATA_LOC": source.metadata_loc}
        skipped |= {"metadata_loc", "num_data_nodes"}
    for item in fields(source):
        value = getattr(source, item.name)
        if item.name not in skipped and value is not None:
            text = ",".join(map(str, value)) if isinstance(value, list) else value
            env[item.name.upper()] = text
    return {
        "storageUri": source.storage_uri,
        "env": [{"name": name, "value": value} for name, value in env.items()],
    }
