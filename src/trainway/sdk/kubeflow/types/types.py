"""The types of the kubeflow SDK, with its names and fields, as data classes of our own.

The contract is that of kubeflow 0.5; a test compares the two where that package is installed.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final

UNKNOWN: Final = "Unknown"
CACHE_SCHEME: Final = "cache://"
S3_SCHEME: Final = "s3://"

Resources = dict[str, Any]


def _index_urls() -> list[str]:
    configured = os.environ.get("DEFAULT_PIP_INDEX_URLS", "")
    return [url.strip() for url in configured.split(",") if url.strip()]


@dataclass
class CustomTrainer:
    """A function that trains; it runs on every process."""

    func: Callable[..., Any]
    func_args: dict[str, Any] | None = None
    """The arguments of the function, by name."""
    image: str | None = None
    packages_to_install: list[str] | None = None
    pip_index_urls: list[str] = field(default_factory=_index_urls)
    """Where packages come from: the first is the index, the others are searched as well."""
    num_nodes: int | None = None
    resources_per_node: Resources | None = None
    env: dict[str, str] | None = None


@dataclass
class CustomTrainerContainer:
    """An image that trains by its own entry point."""

    image: str
    num_nodes: int | None = None
    resources_per_node: Resources | None = None
    env: dict[str, str] | None = None


class Loss(Enum):
    """Losses that torchtune offers."""

    CEWithChunkedOutputLoss = "torchtune.modules.loss.CEWithChunkedOutputLoss"


class DataType(Enum):
    """How torchtune holds weights."""

    BF16 = "bf16"
    FP32 = "fp32"


class DataFormat(Enum):
    """Formats of a dataset's files."""

    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    TEXT = "text"
    XML = "xml"


@dataclass
class TorchTuneInstructDataset:
    """How torchtune reads a dataset of instructions."""

    source: DataFormat | None = None
    split: str | None = None
    train_on_input: bool | None = None
    new_system_prompt: str | None = None
    column_map: dict[str, str] | None = None


@dataclass
class LoraConfig:
    """Low-rank adapters instead of all weights."""

    apply_lora_to_mlp: bool | None = None
    apply_lora_to_output: bool | None = None
    lora_attn_modules: list[str] = field(
        default_factory=lambda: ["q_proj", "v_proj", "output_proj"]
    )
    lora_rank: int | None = None
    lora_alpha: int | None = None
    lora_dropout: float | None = None
    quantize_base: bool | None = None
    use_dora: bool | None = None


@dataclass
class TorchTuneConfig:
    """What to change of torchtune's recipe."""

    dtype: DataType | None = None
    batch_size: int | None = None
    epochs: int | None = None
    loss: Loss | None = None
    num_nodes: int | None = None
    peft_config: LoraConfig | None = None
    dataset_preprocess_config: TorchTuneInstructDataset | None = None
    resources_per_node: Resources | None = None


@dataclass
class TRLConfig:
    """How TRL tunes a language model, on the runtimes `trl-sft` and `trl-dpo`.

    Not part of the kubeflow SDK. `settings` has what docs/finetuning.md lists.
    """

    model: str | None = None
    """A folder, or None for what the initializer fetches."""
    dataset: str | None = None
    method: str = "lora"
    num_nodes: int | None = None
    resources_per_node: Resources | None = None
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass
class BuiltinTrainer:
    """A trainer that the runtime brings along."""

    config: TorchTuneConfig | TRLConfig


Trainer = CustomTrainer | CustomTrainerContainer | BuiltinTrainer


class TrainerType(Enum):
    """Who brings the training code."""

    CUSTOM_TRAINER = "CustomTrainer"
    BUILTIN_TRAINER = "BuiltinTrainer"


class RuntimeKind(Enum):
    """Kinds of runtimes."""

    CLUSTER_TRAINING_RUNTIME = "ClusterTrainingRuntime"
    TRAINING_RUNTIME = "TrainingRuntime"


@dataclass
class RuntimeTrainer:
    """What a runtime trains with."""

    trainer_type: TrainerType
    framework: str
    image: str
    num_nodes: int = 1
    device: str = UNKNOWN
    device_count: str = UNKNOWN
    _command: tuple[str, ...] = field(default=("python",), init=False, repr=False)

    @property
    def command(self) -> tuple[str, ...]:
        """What starts the training code on a node."""
        return self._command

    def set_command(self, command: tuple[str, ...]) -> None:
        """Start it with something else."""
        self._command = command


@dataclass
class Runtime:
    """A training runtime."""

    name: str
    trainer: RuntimeTrainer
    kind: RuntimeKind
    pretrained_model: str | None = None


@dataclass
class Step:
    """A part of a job with a pod of its own: `node-0`, `dataset-initializer`, ..."""

    name: str
    status: str | None
    pod_name: str
    device: str = UNKNOWN
    device_count: str = UNKNOWN


@dataclass
class TrainJob:
    """A job and how it stands."""

    name: str
    runtime: Runtime
    steps: list[Step]
    num_nodes: int
    creation_timestamp: datetime
    status: str = UNKNOWN


@dataclass
class Event:
    """Something that happened to a job or to a part of it."""

    involved_object_kind: str
    involved_object_name: str
    message: str
    reason: str
    event_time: datetime


@dataclass
class BaseInitializer:
    """Something to fetch before training starts."""

    storage_uri: str


@dataclass
class HuggingFaceDatasetInitializer(BaseInitializer):
    """A dataset of the Hugging Face Hub."""

    ignore_patterns: list[str] | None = None
    access_token: str | None = None


@dataclass
class S3DatasetInitializer(BaseInitializer):
    """A dataset in S3 or what speaks like it."""

    ignore_patterns: list[str] | None = None
    endpoint: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = None
    region: str | None = None
    role_arn: str | None = None

    def __post_init__(self) -> None:
        _check_scheme(self.storage_uri, S3_SCHEME)


@dataclass
class DataCacheInitializer(BaseInitializer):
    """A distributed cache of a table, filled before training."""

    metadata_loc: str
    num_data_nodes: int
    head_cpu: str | None = None
    head_mem: str | None = None
    worker_cpu: str | None = None
    worker_mem: str | None = None
    iam_role: str | None = None

    def __post_init__(self) -> None:
        if self.num_data_nodes <= 1:
            raise ValueError(f"num_data_nodes must be at least 2, not {self.num_data_nodes}")
        _check_scheme(self.storage_uri, CACHE_SCHEME)
        if self.storage_uri.removeprefix(CACHE_SCHEME).count("/") != 1:
            raise ValueError(f"storage_uri must be cache://SCHEMA/TABLE, not {self.storage_uri}")


def _weights_in_other_formats() -> list[str]:
    return ["*.msgpack", "*.h5", "*.bin", "*.pt", "*.pth"]


@dataclass
class HuggingFaceModelInitializer(BaseInitializer):
    """A model of the Hugging Face Hub."""

    ignore_patterns: list[str] | None = field(default_factory=_weights_in_other_formats)
    access_token: str | None = None


@dataclass
class S3ModelInitializer(BaseInitializer):
    """A model in S3 or what speaks like it."""

    ignore_patterns: list[str] | None = field(default_factory=_weights_in_other_formats)
    endpoint: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = None
    region: str | None = None
    role_arn: str | None = None

    def __post_init__(self) -> None:
        _check_scheme(self.storage_uri, S3_SCHEME)


@dataclass
class Initializer:
    """The dataset and the model to start from."""

    dataset: HuggingFaceDatasetInitializer | S3DatasetInitializer | DataCacheInitializer | None = (
        None
    )
    model: HuggingFaceModelInitializer | S3ModelInitializer | None = None


@dataclass
class TrainJobTemplate:
    """The arguments of `train()`, to be used several times: `train(**template)`."""

    trainer: CustomTrainer
    runtime: str | Runtime | None = None
    initializer: Initializer | None = None

    def keys(self) -> list[str]:
        """The names of the arguments."""
        return ["trainer", "runtime", "initializer"]

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


@dataclass(frozen=True)
class KubernetesBackendConfig:
    """Taken for its namespace; the job runs where Trainway runs it."""

    namespace: str | None = None
    config_file: str | None = None
    context: str | None = None
    client_configuration: object = None


@dataclass(frozen=True)
class LocalProcessBackendConfig:
    """Taken and left alone: jobs run as local processes anyway, in the environment there is."""

    cleanup_venv: bool = True


@dataclass(frozen=True)
class TrainingRuntimeSource:
    """Where a container backend would look for runtimes."""

    sources: list[str] = field(default_factory=lambda: ["github://kubeflow/trainer"])


@dataclass(frozen=True)
class ContainerBackendConfig:
    """Taken and left alone, so that a notebook that names it still runs."""

    pull_policy: str = "IfNotPresent"
    auto_remove: bool = True
    container_host: str | None = None
    container_runtime: str | None = None
    runtime_source: TrainingRuntimeSource = field(default_factory=TrainingRuntimeSource)
    dataset_initializer_image: str = "ghcr.io/kubeflow/trainer/dataset-initializer:latest"
    model_initializer_image: str = "ghcr.io/kubeflow/trainer/model-initializer:latest"
    initializer_timeout: int = 600


BackendConfig = KubernetesBackendConfig | LocalProcessBackendConfig | ContainerBackendConfig


def _check_scheme(uri: str, scheme: str) -> None:
    if not uri.startswith(scheme):
        raise ValueError(f"storage_uri must start with {scheme}, which {uri} does not")
