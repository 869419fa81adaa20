"""What the published package has, by name.

It takes seconds to import, and every worker of pytest-xdist collects all tests. So these are told
apart by names that stand here, and only the worker that runs them, which is one, imports it. That
nothing is missing here is a test too.
"""

from typing import Any, Final

import pytest

GROUP: Final = pytest.mark.xdist_group("kubeflow")
"""Tests with the package run in one worker."""

TYPES: Final = [
    "BaseInitializer",
    "BuiltinTrainer",
    "CustomTrainer",
    "CustomTrainerContainer",
    "DataCacheInitializer",
    "Event",
    "HuggingFaceDatasetInitializer",
    "HuggingFaceModelInitializer",
    "Initializer",
    "LoraConfig",
    "Runtime",
    "RuntimeTrainer",
    "S3DatasetInitializer",
    "S3ModelInitializer",
    "Step",
    "TorchTuneConfig",
    "TorchTuneInstructDataset",
    "TrainJob",
    "TrainJobTemplate",
]
OPTIONS: Final = [
    "ActiveDeadlineSeconds",
    "Annotations",
    "ContainerPatch",
    "JobSetSpecPatch",
    "JobSetTemplatePatch",
    "JobSpecPatch",
    "JobTemplatePatch",
    "Labels",
    "Name",
    "PodSpecPatch",
    "PodTemplatePatch",
    "ReplicatedJobPatch",
    "RuntimePatch",
    "TrainerArgs",
    "TrainerCommand",
    "TrainingRuntimeSpecPatch",
]
CHOICES: Final = ["DataFormat", "DataType", "Enum", "Loss", "RuntimeKind", "TrainerType"]
METHODS: Final = [
    "delete_job",
    "get_job",
    "get_job_events",
    "get_job_logs",
    "get_runtime",
    "get_runtime_packages",
    "list_jobs",
    "list_runtimes",
    "train",
    "wait_for_job_status",
]
CONSTANTS: Final = [
    "API_VERSION",
    "CLUSTER_TRAINING_RUNTIME_PLURAL",
    "CPU_LABEL",
    "DATASET_INITIALIZER",
    "DATASET_PATH",
    "DEFAULT_FRAMEWORK_IMAGES",
    "DEFAULT_MPI_USER_HOME",
    "DEFAULT_PIP_INDEX_URLS",
    "DEFAULT_TRAINING_RUNTIME",
    "GPU_LABEL",
    "GPU_MIG_PREFIX",
    "GROUP",
    "INITIALIZER_DEFAULT_IGNORE_PATTERNS",
    "INITIALIZER_ENV_ACCESS_TOKEN",
    "JOBSET_NAME_LABEL",
    "JOBSET_RJOB_NAME_LABEL",
    "JOB_INDEX_LABEL",
    "JOB_NAME_UUID_LENGTH",
    "LAUNCHER",
    "MODEL_INITIALIZER",
    "MODEL_PATH",
    "NODE",
    "NPU_LABEL",
    "POD_LABEL_SELECTOR",
    "POD_PENDING",
    "POD_SUCCEEDED",
    "RUNTIME_FRAMEWORK_LABEL",
    "TORCH_ENV_NUM_PROC_PER_NODE",
    "TORCH_TUNE_COMMAND",
    "TORCH_TUNE_INSTRUCT_DATASET",
    "TPU_LABEL",
    "TRAINING_RUNTIME_PLURAL",
    "TRAINJOB_ANCESTOR_LABEL",
    "TRAINJOB_COMPLETE",
    "TRAINJOB_CREATED",
    "TRAINJOB_FAILED",
    "TRAINJOB_KIND",
    "TRAINJOB_PLURAL",
    "TRAINJOB_RUNNING",
    "VERSION",
    "WORKSPACE_PATH",
]
OPTIMIZER_METHODS: Final = [
    "delete_job",
    "get_best_results",
    "get_job",
    "get_job_events",
    "get_job_logs",
    "list_jobs",
    "optimize",
    "wait_for_job_status",
]


def published(module: str) -> Any:
    """A module of the published package; without that the test is skipped."""
    return pytest.importorskip(f"kubeflow.{module}", reason="kubeflow is not installed")
